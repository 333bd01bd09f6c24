/** What each person of an audience is to get, or why not. Pure. */
import { type Planned, skipReasonFor } from '../../messages/index.ts'
import type { CampaignRow } from '../schema.ts'
import { isInShare, variantIndexOf } from './buckets.ts'
import type { Contact, Member } from './members.ts'

type Split = Pick<CampaignRow, 'id' | 'channel' | 'holdout_percent' | 'variants' | 'winner'>

/**
 * Why somebody gets nothing, or null. Held out are some of those who could get it, so that they can be compared with those who do.
 */
export function skipReason({ id, channel, holdout_percent }: Split, { user, isExcluded, consent, suppression }: Member): Planned['reason'] {
  if (isExcluded) return 'excluded'
  return skipReasonFor(channel, { user, consent, suppression }) ?? (isInShare('holdout', holdout_percent, id, user.id) ? 'holdout' : null)
}

/** The variant that falls to a person; null when there are none, or when the person waits for the one that does best. */
export function variantFor({ id, variants, winner }: Split, user: Pick<Contact, 'id'>): number | null {
  if (variants.length === 0 || (winner && !isInShare('test', winner.test_percent, id, user.id))) return null
  return variantIndexOf(
    variants.map(({ weight }) => weight),
    id,
    user.id,
  )
}

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
/** By then the winner has been chosen. */
const CHOICE_MS = 5000

/** When those who wait for the best variant get it, at the earliest. */
const afterTheTest = ({ winner, started_at }: Pick<CampaignRow, 'winner' | 'started_at'>): number =>
  winner && started_at ? started_at.getTime() + winner.after_minutes * MINUTE_MS + CHOICE_MS : 0

/** The message of one person. `timeIn` says when `send_at` is in a time zone; what is past goes at once. */
export function planFor(
  campaign: Split & Pick<CampaignRow, 'started_at' | 'expires_after_hours'>,
  member: Member,
  timeIn: (zone: string | null) => Date,
  now: Date,
): Planned {
  const reason = skipReason(campaign, member)
  const { user } = member
  if (reason) return { user_id: user.id, state: 'skipped', reason, due_at: now, variant: null, expires_at: null }
  const variant = variantFor(campaign, user)
  const waits = campaign.variants.length > 0 && variant === null
  const due = Math.max(now.getTime(), timeIn(user.timezone).getTime(), waits ? afterTheTest(campaign) : 0)
  return {
    user_id: user.id,
    state: 'queued',
    reason: null,
    due_at: new Date(due),
    variant,
    expires_at: new Date(due + campaign.expires_after_hours * HOUR_MS),
  }
}
