import type { InTx } from '../../infra/runtime/ctx.ts'
import { missing } from '../../lib/errors.ts'
import type { MessageId, UserId } from '../../lib/ids.ts'
import * as queries from './queries.ts'
import { changedReadState } from './read-state.ts'
import type { AllRead, InboxEngagement, InboxMessage, ReadStateChanges } from './schema.ts'

/** Changes the read state of a message, and returns what the user did for the first time. Throws 404 if it is not in the inbox or has expired. */
export async function updateReadState(
  ctx: InTx,
  userId: UserId,
  id: MessageId,
  changes: ReadStateChanges,
): Promise<{ message: InboxMessage; engagement: InboxEngagement[] }> {
  const at = ctx.clock.now()
  await queries.lockCounters(ctx, [userId])
  const message = await queries.findMessage(ctx, userId, id)
  if (!message) throw missing('message')
  const after = changedReadState(message, changes, at)
  if (!after) return { message, engagement: [] }
  await queries.saveReadState(ctx, userId, id, after.readState, after.unread)
  const engagement = after.done.map((what): InboxEngagement => ({ user_id: userId, message_id: id, what, at }))
  return { message: { ...message, ...after.readState }, engagement }
}

/** Marks all unread messages as read, and returns their number and which were opened for the first time. */
export async function readAll(ctx: InTx, userId: UserId): Promise<{ result: AllRead; engagement: InboxEngagement[] }> {
  await queries.lockCounters(ctx, [userId])
  const read = await queries.readEverything(ctx, userId)
  const at = ctx.clock.now()
  const engagement = read
    .filter(({ is_first }) => is_first)
    .map(({ id }): InboxEngagement => ({ user_id: userId, message_id: id, what: 'opened', at }))
  return { result: { changed: read.length, unread: await queries.countUnread(ctx, userId) }, engagement }
}
