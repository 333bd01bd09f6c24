/** What users do in their inbox, recorded as engagement with the message in the same transaction. */
import { type InTx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { MessageId, UserId } from '../../../lib/ids.ts'
import { type InboxEngagement, type ReadStateChanges, readAll, updateReadState } from '../../inbox/index.ts'
import { recordEngagement } from './engagement.ts'

export const inboxVerbs = {
  /** Changes the read state of a message in a user's inbox. Throws 404. */
  updateReadState: (ctx: ProjectCtx, userId: UserId, id: MessageId, changes: ReadStateChanges) =>
    inTx(ctx, async (ctx) => {
      const { message, engagement } = await updateReadState(ctx, userId, id, changes)
      await record(ctx, engagement)
      return message
    }),
  /** Marks every unread message of a user's inbox as read. */
  readAll: (ctx: ProjectCtx, userId: UserId) =>
    inTx(ctx, async (ctx) => {
      const { result, engagement } = await readAll(ctx, userId)
      await record(ctx, engagement)
      return result
    }),
}

const record = (ctx: InTx, engagement: InboxEngagement[]): Promise<void> =>
  recordEngagement(
    ctx,
    engagement.map(({ message_id, what, at }) => ({ messageId: message_id, what, at })),
  )
