/** What is deleted of messages when they are old. Totals stay, and nothing is sent again because its message is gone (D-MSG-8). */
import type { AgedRows } from '../../infra/queue/aged-rows.ts'
import { removedFrom, type Store, store } from '../../infra/queue/retention.ts'
import type { InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import { ApiError, missing } from '../../lib/errors.ts'
import type { MessageId } from '../../lib/ids.ts'
import { deleteMail } from '../mta/index.ts'
import { deleteUnused } from './requests/service.ts'
import type { OldMessage } from './retention.queries.ts'
import * as queries from './retention.queries.ts'

const MESSAGES = 'messages'

/** The messages among these that something still reads to know that they were sent. */
export type FindNeeded = (ctx: InTx, messages: OldMessage[]) => Promise<ReadonlySet<MessageId>>

/** Messages that ended long ago, with their states, requests, files and emails in the mail queue. */
export const messageStore = (findNeeded: FindNeeded): Store =>
  store<OldMessage>({
    name: MESSAGES,
    days: ({ MESSAGE_RETENTION_DAYS }) => MESSAGE_RETENTION_DAYS,
    nextRows: queries.nextMessages,
    async remove(ctx, messages, before) {
      const ended = messages.filter(({ ended_at }) => ended_at !== null && ended_at < before)
      if (ended.length === 0) return []
      const needed = await findNeeded(ctx, ended)
      const ids = ended.map(({ id }) => id).filter((id) => !needed.has(id))
      const removed = (await queries.deleteMessages(ctx, ids)).map(({ id }) => id)
      if (removed.length === 0) return []
      await queries.deleteStates(ctx, removed)
      await queries.deleteFiles(ctx, removed)
      await deleteMail(ctx, removed)
      await deleteUnused(ctx, await queries.deleteRequestsOf(ctx, removed))
      return removed
    },
  })

/** Messages that the sandbox caught, with their files. */
export const sandboxRows: AgedRows = {
  name: 'sandbox_messages',
  column: 'created_at',
  days: ({ SANDBOX_RETENTION_DAYS }) => SANDBOX_RETENTION_DAYS,
  async remove(ctx, before, limit) {
    const ids = (await queries.deleteFromSandbox(ctx, before, limit)).map(({ id }) => id)
    if (ids.length > 0) await queries.deleteFiles(ctx, ids)
    return ids.length
  },
}

/** Messages of the project that ended before this instant have been deleted; null if none have. */
export const messagesRemovedBefore = async (ctx: ProjectCtx): Promise<Date | null> => (await removedFrom(ctx, MESSAGES))?.before ?? null

/** The error for a message that does not exist. It says so if the message may have been deleted because of its age. */
export async function missingMessage(ctx: ProjectCtx, id: MessageId): Promise<ApiError> {
  const removed = await removedFrom(ctx, MESSAGES)
  if (!removed || id > removed.to) return missing('message')
  return new ApiError(
    'resource_missing',
    `The message does not exist. Messages that reached a final state before ${removed.before.toISOString()} have been deleted, because they were older than the retention period.`,
  )
}
