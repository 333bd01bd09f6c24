import { rememberRequests } from '../../infra/queue/traced-messages.ts'
import type { InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import { eraseInbox, mergeInbox } from '../inbox/index.ts'
import { eraseMail, eraseSubmittedMail, exportMail } from '../mta/index.ts'
import type { UserMerge } from '../users/index.ts'
import { emit, wantedTypes, webhookEvents } from '../webhook-events/index.ts'
import * as queries from './messages.queries.ts'
import { eraseAttachments } from './requests/attachments.queries.ts'
import { eraseRequests } from './requests/queries.ts'
import { deleteUnused } from './requests/service.ts'
import { eraseSandboxMessages, eraseSubmittedSandboxMessages } from './sandbox/queries.ts'
import { type MessageIntent, SEND_JOBS, TRANSACTIONAL } from './schema.ts'

/** Creates messages from intents, one for each cause. They are sent after the commit. */
export async function enqueueMessages(ctx: InTx, intents: MessageIntent[]): Promise<void> {
  if (intents.length === 0) return
  const [inserted, wanted] = await Promise.all([queries.insertMessages(ctx, TRANSACTIONAL, intents), wantedTypes(ctx)])
  if (ctx.tracing) await traceMessages(ctx, intents)
  const priorities = new Set(intents.map(({ priority = TRANSACTIONAL }) => priority))
  if (inserted.length > 0) for (const priority of priorities) ctx.wake(SEND_JOBS[priority])
  await emit(
    ctx,
    () =>
      inserted.map(({ id, campaign_id, journey_id, channel, bytes }) =>
        webhookEvents.queueMessageAuthenticated.of({
          message_id: id,
          campaign_id,
          ...(journey_id !== null && { journey_id }),
          channel,
          size: bytes,
        }),
      ),
    wanted,
  )
}

/** Remembers which requests the messages came from. */
async function traceMessages(ctx: InTx, intents: MessageIntent[]): Promise<void> {
  const requestOf = new Map(intents.map(({ user_id, cause, requestId }) => [`${user_id} ${cause}`, requestId ?? ctx.origin?.requestId]))
  const messages = await queries.findByCauses(ctx, intents)
  const traced = messages.flatMap(({ id, user_id, cause }) => {
    const requestId = requestOf.get(`${user_id} ${cause}`)
    return requestId ? [{ id, requestId }] : []
  })
  if (traced.length > 0) await rememberRequests(ctx, traced)
}

/** Moves the messages of merged users to the remaining user, one for each cause. */
export async function mergeMessages(ctx: InTx, merges: UserMerge[]): Promise<void> {
  await queries.skipDuplicates(ctx, merges)
  await queries.moveMessages(ctx, merges)
  await mergeInbox(ctx, merges)
}

/** Removes personal data from the messages of these users. The rows and their states are kept. */
export async function eraseMessages(ctx: InTx, userIds: UserId[]): Promise<void> {
  await queries.eraseMessages(ctx, userIds)
  await queries.eraseStates(ctx, userIds)
  const mails = await queries.mailsOf(ctx, userIds)
  if (mails.length > 0) await eraseMail(ctx, mails)
  await eraseAttachments(ctx, userIds)
  await deleteUnused(ctx, await eraseRequests(ctx, userIds))
  await eraseSandboxMessages(ctx, userIds)
  await eraseInbox(ctx, userIds)
}

/**
 * Removes what applications submitted to these addresses over SMTP until then, which belongs to no user, and the copies of messages of other users.
 * Run it after `eraseMessages`.
 */
export async function eraseSubmissions(ctx: InTx, users: { email: string | null }[], until: Date): Promise<void> {
  const addresses = addressesOf(users)
  if (addresses.length === 0) return
  await eraseSubmittedMail(ctx, addresses, until)
  await eraseSubmittedSandboxMessages(ctx, addresses, until)
}

/** Email that this server delivers to users: that of their messages, and what applications submitted to their addresses. */
export async function* emailsOf(ctx: ProjectCtx, userIds: UserId[], users: { email: string | null }[]) {
  yield* exportMail(ctx, await queries.mailsOf(ctx, userIds), addressesOf(users))
}

const addressesOf = (users: { email: string | null }[]): string[] => users.flatMap(({ email }) => email?.toLowerCase() ?? [])
