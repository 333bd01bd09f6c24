/** The attempts of a slice: what is saved before its messages leave, and what their provider says. */
import { type InTx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { Outgoing, ProviderConnection } from '../../channels/index.ts'
import type { SendableTemplate } from '../../templates/index.ts'
import { countsToCaps, type Eligible, isSending, result, resultOf, resultOfStop, type SendResult } from '../eligibility.ts'
import type { ClaimedMessage } from '../schema.ts'
import { insertSendAttempts, saveCopies } from './attempts.queries.ts'
import type { FindSendingCampaigns } from './find-sending-campaigns.ts'
import { type Attempted, copyHashes } from './record-results.ts'

/** A message that may be sent, with its provider. */
export type ReadyMessage = { message: ClaimedMessage; eligible: Eligible<SendableTemplate>; connection: ProviderConnection }

/** One that was rendered. */
type RenderedMessage = { ready: ReadyMessage; outgoing: Outgoing }

/** The messages of a slice that can leave, and those whose campaign was stopped. Those that another sender may have by now are in neither. */
type Begun = { sendAttemptId: number | null; begun: Set<ReadyMessage>; stopped: Map<ReadyMessage, SendResult> }

/**
 * Saves a send attempt record of the messages that this sender still has the lease of. The campaigns are locked meanwhile: messages of a campaign
 * that was stopped before are not sent, and a request that stops one afterwards finds these messages in flight. If nothing leaves the database
 * before the result is recorded, there is none: what another sender has by then is not recorded, so that it has not left.
 */
export function beginAttempts(ctx: ProjectCtx, findSendingCampaigns: FindSendingCampaigns, rendered: RenderedMessage[]): Promise<Begun> {
  return inTx(ctx, async (ctx) => {
    const ready = rendered.map(({ ready }) => ready)
    const ids = [...new Set(ready.map(({ eligible }) => eligible.campaign.id))]
    const campaigns = new Map((await findSendingCampaigns(ctx, ids, 'share')).map((campaign) => [campaign.id, campaign]))
    const stopped = new Map<ReadyMessage, SendResult>()
    for (const one of ready) {
      const campaign = campaigns.get(one.eligible.campaign.id)
      if (!campaign) stopped.set(one, result('aborted', 'campaign_stopped'))
      else if (!isSending(campaign, one.message.resent_from !== null)) stopped.set(one, resultOfStop(campaign, ctx.clock.now()))
    }
    const attempted = ready.filter((one) => !stopped.has(one))
    const [first] = attempted
    if (!first || first.connection.repeatable) return { sendAttemptId: null, begun: new Set(attempted), stopped }
    const saved = await insertSendAttempts(ctx, {
      lease_token: first.message.lease_token,
      message_ids: attempted.map(({ message }) => message.id),
      counted: attempted.map(({ eligible }) => countsToCaps(eligible.consent)),
      provider: first.connection.provider,
      provider_id: first.connection.providerId,
    })
    const held = new Set(saved?.message_ids)
    const begun = new Set(attempted.filter(({ message }) => held.has(message.id)))
    await noteCopies(
      ctx,
      rendered.filter(({ ready }) => begun.has(ready)),
    )
    return { sendAttemptId: saved?.id ?? null, begun, stopped }
  })
}

/** A report on a copy can come before the result. It must not be taken for one on the recipient. */
async function noteCopies(ctx: InTx, rendered: RenderedMessage[]): Promise<void> {
  const copied = rendered.flatMap(({ ready: { message }, outgoing }) => {
    const copies = copyHashes(ctx, message.campaign_id, outgoing)
    return copies.length > 0 ? [{ id: message.id, copies }] : []
  })
  if (copied.length > 0) await saveCopies(ctx, copied)
}

/** Gives a message to its provider. */
export async function attemptSend(
  ctx: ProjectCtx,
  { message, eligible: { campaign, user, consent, template }, connection }: ReadyMessage,
  outgoing: Outgoing,
): Promise<Attempted> {
  const startedAt = ctx.clock.now()
  const { outcome, elapsedMs } = await connection.send(outgoing)
  const retries = message.channel === 'email' ? campaign.mail_retries : null
  const isUncertain = outcome.is === 'deferred' && outcome.isUncertain === true
  const uncertainAt = message.uncertain_at ?? (isUncertain ? startedAt : null)
  const result = resultOf(outcome, message.attempts, ctx.clock.now(), { expiresAt: message.expires_at, retries, uncertainAt })
  const attempt = { outgoing, template, outcome, connection, startedAt, elapsedMs, retries, uncertainAt }
  return { message, user, consent, result, attempt }
}
