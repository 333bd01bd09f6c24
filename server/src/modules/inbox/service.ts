import { type InTx, inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import { missing } from '../../lib/errors.ts'
import type { MessageId, UserId } from '../../lib/ids.ts'
import * as queries from './queries.ts'
import { changedReadState } from './read-state.ts'
import type { InboxEngagement, InboxMessage, MarkChanges } from './schema.ts'

/** Told, in the transaction that makes it true, what readers did for the first time. */
export type WhenSeen = (ctx: InTx, seen: InboxEngagement[]) => Promise<void>

/** Marks a message of a reader. Throws 404 when it is not in the inbox, or has expired. */
export function markMessage(
  ctx: ProjectCtx,
  userId: UserId,
  id: MessageId,
  changes: MarkChanges,
  whenSeen: WhenSeen,
): Promise<InboxMessage> {
  const at = ctx.clock.now()
  return inTx(ctx, async (ctx) => {
    await queries.lockCounters(ctx, [userId])
    const message = await queries.findMessage(ctx, userId, id)
    if (!message) throw missing('message')
    const after = changedReadState(message, changes, at)
    if (!after) return message
    await queries.saveReadState(ctx, userId, id, after.marks, after.unread)
    const seen = after.done.map((what): InboxEngagement => ({ user_id: userId, message_id: id, what, at }))
    if (seen.length > 0) await whenSeen(ctx, seen)
    return { ...message, ...after.marks }
  })
}

/** Marks all that is unread as read; answers how many those were. */
export function readAll(ctx: ProjectCtx, userId: UserId, whenSeen: WhenSeen): Promise<{ changed: number; unread: number }> {
  return inTx(ctx, async (ctx) => {
    await queries.lockCounters(ctx, [userId])
    const read = await queries.readEverything(ctx, userId)
    const first = read.filter(({ is_first }) => is_first)
    const at = ctx.clock.now()
    if (first.length > 0)
      await whenSeen(
        ctx,
        first.map(({ id }): InboxEngagement => ({ user_id: userId, message_id: id, what: 'opened', at })),
      )
    return { changed: read.length, unread: await queries.countUnread(ctx, userId) }
  })
}
