/** What an attempt says of its site. Pure. */
import type { RecipientOutcome } from '../../../infra/outgoing/mx/outcome.ts'
import { ruleFor } from './reply-rules.ts'
import { type SiteEvent, TOO_BUSY } from './site-state.ts'

/** Each thing that the outcomes of one attempt say counts once, however many recipients the email has: they had one connection. */
export function siteEventsOf(siteKey: string, outcomes: Iterable<RecipientOutcome>): SiteEvent[] {
  const events = new Map<string, SiteEvent>()
  for (const outcome of outcomes) {
    const event = siteEventOf(outcome)
    if (event) events.set(kindOf(siteKey, event), event)
  }
  return [...events.values()]
}

/** A reply without a host is ours. A connection that several attempts waited for counts in the one that it was opened for. */
function siteEventOf(outcome: RecipientOutcome): SiteEvent | null {
  if ('isShared' in outcome && outcome.isShared) return null
  if (outcome.is === 'delivered') return { is: 'delivered' }
  if ('reply' in outcome && outcome.reply && outcome.host !== undefined) return { is: 'replied', ...outcome.reply }
  return 'fault' in outcome && outcome.fault ? { is: 'unreachable', isRefused: outcome.fault === 'refused' } : null
}

/** Replies that mean the same for the site are of one kind. */
const kindOf = (siteKey: string, event: SiteEvent): string =>
  event.is === 'replied' ? `${event.is} ${event.code === TOO_BUSY} ${ruleFor(siteKey, event)?.name ?? ''}` : event.is
