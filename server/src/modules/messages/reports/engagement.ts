/** Records that users opened messages or clicked links in them. */
import type { InTx } from '../../../infra/runtime/ctx.ts'
import type { MessageId } from '../../../lib/ids.ts'
import { appendUserChanges, findLiveUsers, findMergedInto } from '../../users/index.ts'
import { emit } from '../../webhook-events/index.ts'
import { messageEvent } from '../system-events.ts'
import { type FirstEngagement, lockMessages, type ReportedMessage, saveEngagement } from './queries.ts'
import { mayBeReceived } from './transition.ts'
import { type MatchedReport, webhookEventsOfReport } from './webhook-events.ts'

/** An open or a click by a user. Those by bots are counted in `tracking`. */
export type Engagement = { messageId: MessageId; what: 'opened' | 'clicked'; at: Date; url?: string }

/**
 * Records when messages were first opened and clicked, and appends events to their users: the first open and every click. A message in
 * the state `unknown`, or one that waits to be repeated, becomes `delivered`, because it was read: with the events of a delivery, since a report
 * that follows changes nothing.
 */
export async function recordEngagement(ctx: InTx, engagements: Engagement[]): Promise<void> {
  if (engagements.length === 0) return
  const messages = new Map(
    (await lockMessages(ctx, [...new Set(engagements.map(({ messageId }) => messageId))])).map((row) => [row.id, row]),
  )
  const known = engagements.filter(({ messageId }) => messages.get(messageId)?.is_erased === false)
  if (known.length === 0) return
  const read = [...Map.groupBy(known, ({ messageId }) => messageId)].flatMap(([id, of]): FirstEngagement[] => {
    const message = messages.get(id)
    return message ? [{ ...firstOf(id, of), is_confirmed: mayBeReceived(message) }] : []
  })
  await saveEngagement(ctx, read)
  const ids = [...new Set(known.flatMap(({ messageId }) => messages.get(messageId)?.user_id ?? []))]
  const mergedInto = new Map((await findMergedInto(ctx, ctx.projectId, ids)).map(({ id, merged_into }) => [id, merged_into]))
  const opened = new Set<MessageId>()
  const events = known.flatMap(({ messageId, what, at, url }) => {
    const message = messages.get(messageId)
    const user_id = message && mergedInto.get(message.user_id)
    if (!message || user_id === undefined) return []
    if (what === 'opened' && (message.opened_at !== null || opened.has(messageId))) return []
    if (what === 'opened') opened.add(messageId)
    const event = messageEvent(message, what, at, url === undefined ? {} : { url })
    return [{ user_id, what: [], event }]
  })
  const arrived = [...new Map(known.toReversed().map((one) => [one.messageId, one])).values()]
  await appendUserChanges(ctx, [...(await confirmUnknown(ctx, arrived, messages)), ...events])
}

/** Emits that messages that may have arrived were delivered, as a report does. Returns the events of their users. */
async function confirmUnknown(ctx: InTx, arrived: Engagement[], messages: ReadonlyMap<MessageId, ReportedMessage>) {
  const unknown = arrived.flatMap(({ messageId, at }) => {
    const message = messages.get(messageId)
    return message && mayBeReceived(message) ? [{ message, at }] : []
  })
  if (unknown.length === 0) return []
  const users = await findLiveUsers(
    ctx,
    unknown.map(({ message }) => message.user_id),
  )
  const matched = unknown.map(({ message, at }): MatchedReport => {
    const became = { id: message.id, state: 'delivered' as const, reason: null, detail: null }
    const user = users.get(message.user_id)
    return { report: { what: 'delivered', at }, message, was: message.state, became, user, suppressed: false, unsubscribed: false }
  })
  await emit(ctx, () => matched.flatMap((one) => webhookEventsOfReport(one, ctx.clock.now())))
  return matched.flatMap(({ message, report, user }) =>
    user ? [{ user_id: user.id, what: [], event: messageEvent(message, 'delivered', report.at) }] : [],
  )
}

function firstOf(id: MessageId, engagements: Engagement[]): Omit<FirstEngagement, 'is_confirmed'> {
  const first = (what: Engagement['what']) => {
    const times = engagements.filter((one) => one.what === what).map(({ at }) => at.getTime())
    return times.length === 0 ? null : new Date(Math.min(...times))
  }
  return { id, opened_at: first('opened'), clicked_at: first('clicked') }
}
