/** People opened messages, or followed links in them. */
import type { InTx } from '../../../infra/runtime/ctx.ts'
import type { MessageId } from '../../../lib/ids.ts'
import { findSurvivors, logChanges } from '../../users/index.ts'
import { messageEvent } from '../sending/record-results.ts'
import { type FirstSeen, holdSeen, saveSeen } from './queries.ts'

/** One look at a message, by a person: what machines fetch is counted elsewhere. */
export type Look = { messageId: MessageId; what: 'opened' | 'clicked'; at: Date; url?: string }

/**
 * Writes down when messages were first opened and clicked, and tells it as events of their people: the first opening, and every click.
 * A message of which nobody knew whether it had left has arrived, if somebody reads it.
 */
export async function whenSeen(ctx: InTx, looks: Look[]): Promise<void> {
  const messages = new Map((await holdSeen(ctx, [...new Set(looks.map(({ messageId }) => messageId))])).map((row) => [row.id, row]))
  const known = looks.filter(({ messageId }) => messages.get(messageId)?.is_erased === false)
  if (known.length === 0) return
  await saveSeen(
    ctx,
    [...Map.groupBy(known, ({ messageId }) => messageId)].map(([id, of]) => firstOf(id, of)),
  )
  const ids = [...new Set(known.flatMap(({ messageId }) => messages.get(messageId)?.user_id ?? []))]
  const survivors = new Map((await findSurvivors(ctx, ctx.projectId, ids)).map(({ id, survivor_id }) => [id, survivor_id]))
  const opened = new Set<MessageId>()
  const events = known.flatMap(({ messageId, what, at, url }) => {
    const message = messages.get(messageId)
    const user_id = message && survivors.get(message.user_id)
    if (!message || user_id === undefined) return []
    if (what === 'opened' && (message.opened_at !== null || opened.has(messageId))) return []
    if (what === 'opened') opened.add(messageId)
    const event = messageEvent(`${message.channel}_${what}`, message.campaign_id, messageId, at, url === undefined ? {} : { url })
    return [{ user_id, what: [], event }]
  })
  await logChanges(ctx, events)
}

function firstOf(id: MessageId, looks: Look[]): FirstSeen {
  const first = (what: Look['what']) => {
    const times = looks.filter((look) => look.what === what).map(({ at }) => at.getTime())
    return times.length === 0 ? null : new Date(Math.min(...times))
  }
  return { id, opened_at: first('opened'), clicked_at: first('clicked') }
}
