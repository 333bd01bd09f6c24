import { Conflict } from '../../../infra/postgres/db.ts'
import { type InTx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { addressOf, type Channel } from '../../../lib/channels.ts'
import { ApiError } from '../../../lib/errors.ts'
import type { MessageId } from '../../../lib/ids.ts'
import { HOUR_MS, MINUTE_MS } from '../../../lib/times.ts'
import { subscriptionStates, suppressedAmong } from '../../subscriptions/index.ts'
import { findLiveUsers, holdLiveUsers, type UserRow } from '../../users/index.ts'
import { isSending, type SendingCampaign, skipReasonFor } from '../eligibility.ts'
import { exclusionsOf } from '../exclusions.ts'
import { newMessageId } from '../messages.queries.ts'
import { createRequested, holdContents } from '../requests/service.ts'
import { missingMessage } from '../retention.ts'
import { ATTEMPTED_STATES } from '../schema.ts'
import type { FindSendingCampaigns } from '../sending/find-sending-campaigns.ts'
import * as queries from './queries.ts'
import type { FinishedMessage, ResentMessage } from './schema.ts'

/** Sends a message again, as a new one that refers to the first (D-MSG-9). Throws 404, and 422 if nothing can be sent again. */
export async function resendMessage(ctx: ProjectCtx, findSendingCampaigns: FindSendingCampaigns, id: MessageId): Promise<ResentMessage> {
  return inTx(ctx, async (ctx) => {
    const found = await queries.findFinished(ctx, id)
    if (!found) throw await missingMessage(ctx, id)
    const [campaign] = await findSendingCampaigns(ctx, [found.campaign_id], 'share')
    const user = (await findLiveUsers(ctx, [found.user_id])).get(found.user_id)
    if (!user) throw refusal('The user of this message was erased.')
    await holdLiveUsers(ctx, [user.id])
    const sending = checked(found, campaign)
    const decision = await decide(ctx, found.channel, sending, user)
    const now = ctx.clock.now()
    const next = await newMessageId(ctx)
    if (found.is_requested) await copyRequest(ctx, id, next)
    await createRequested(ctx, [
      {
        id: next,
        user_id: user.id,
        campaign_id: found.campaign_id,
        channel: found.channel,
        event: found.event,
        variant: found.variant,
        resent_from: id,
        is_requested: found.is_requested,
        ...decision,
        due_at: now,
        expires_at: deadlineFrom(now, found, sending),
      },
    ])
    return { id: next, resent_from: id, ...decision }
  })
}

/** Copies the request of a message, and keeps its content until the transaction ends. Throws a conflict if one of them is deleted meanwhile. */
async function copyRequest(ctx: InTx, from: MessageId, to: MessageId): Promise<void> {
  const copied = await queries.copyRequest(ctx, from, to)
  if (!copied) throw new Conflict('Another transaction deleted the request of a message.')
  if (copied.content_id !== null) await holdContents(ctx, [copied.content_id])
}

/** The new message lives as long as the first did once it was due: it waits neither for a `send_at` nor for a winner. */
function deadlineFrom(now: Date, first: FinishedMessage, { expires_after_hours }: SendingCampaign): Date | null {
  const { expires_at, created_at, expires_after_minutes } = first
  if (expires_at === null) return null
  const livesMs = expires_after_minutes === null ? expires_after_hours * HOUR_MS : expires_after_minutes * MINUTE_MS
  return new Date(now.getTime() + Math.min(livesMs, expires_at.getTime() - created_at.getTime()))
}

/** The campaign of a message that may be sent again. */
function checked(found: FinishedMessage, campaign: SendingCampaign | undefined): SendingCampaign {
  if (!ATTEMPTED_STATES.includes(found.state))
    throw refusal(`The message is \`${found.state}\`. Only a message that was attempted and is in a final state can be sent again.`)
  if (found.has_redacted)
    throw refusal('The redacted values of this message have been deleted. To send the message again, create a new request.')
  if (found.has_files) throw refusal('The attachments of this message have been deleted. To send the message again, create a new request.')
  if (!campaign) throw refusal('The campaign of this message is archived.')
  if (!isSending({ ...campaign, is_paused: false }, true)) throw refusal(stoppedAs(campaign))
  return campaign
}

/** A trigger that was finished while it was paused is read as `aborted` until its messages have been withdrawn. */
const stoppedAs = ({ state }: SendingCampaign): string =>
  state === 'aborted'
    ? 'The campaign of this message is `aborted`, or its waiting messages are still being withdrawn after it was finished. In that case, try again.'
    : `The campaign of this message is \`${state}\`.`

const refusal = (message: string) => new ApiError('validation_failed', message)

/** What is known now. The sender checks all of it again, with caps and quiet hours. */
async function decide(
  ctx: InTx,
  channel: Channel,
  campaign: SendingCampaign,
  user: UserRow,
): Promise<Pick<ResentMessage, 'state' | 'reason' | 'detail'> & { reason: ReturnType<typeof skipReasonFor> }> {
  const [consent] = await subscriptionStates(ctx, [{ user_id: user.id, subscription_id: campaign.subscription_id }])
  const address = addressOf(channel, user)
  const isTransactional = consent?.is_transactional ?? false
  const suppression = address === null ? undefined : (await suppressedAmong(ctx, channel, [address], { isTransactional })).get(address)
  const isExcluded = (await exclusionsOf(ctx, [campaign], [user.id]))(campaign, user.id)
  const reason = skipReasonFor(channel, { user, consent, suppression, isExcluded })
  return {
    state: reason === null ? 'queued' : 'skipped',
    reason,
    detail: reason === 'suppressed' ? (suppression ?? null) : null,
  }
}
