/**
 * Sends batches: claims messages, reads their send context, checks eligibility, applies rates, and then in slices: renders, saves a send
 * attempt record, sends, saves the results. After a crash the leases end and other senders continue. Only the holder of a lease can save
 * results, and only messages in a send attempt record may have been sent without a result.
 */
import type { Db } from '../../../infra/postgres/db.ts'
import { jointViews } from '../../../infra/postgres/joint.ts'
import type { Started } from '../../../infra/queue/jobs.ts'
import { APPLY } from '../../../infra/queue/queue.ts'
import { asSystem, type Ctx, inTx, type ProjectCtx, quickly } from '../../../infra/runtime/ctx.ts'
import { type Channel, channels } from '../../../lib/channels.ts'
import { mapWithConcurrency } from '../../../lib/concurrency.ts'
import type { CampaignId, ProviderId } from '../../../lib/ids.ts'
import { connectProvider, type Outgoing, type ProviderConnection } from '../../channels/index.ts'
import type { InboxStreams } from '../../inbox/index.ts'
import { findProject } from '../../projects/index.ts'
import type { SendableTemplate } from '../../templates/index.ts'
import { trackingBaseUrl } from '../../tracking/index.ts'
import {
  checkEligibility,
  deferredUntil,
  type Eligible,
  isSending,
  recheckedFrom,
  result,
  resultOf,
  resultOfStop,
  type SendResult,
} from '../eligibility.ts'
import { messageKey } from '../message-key.ts'
import { type ClaimedMessage, type Priority, SEND_JOBS } from '../schema.ts'
import { type Batch, type Claiming, claimNext } from './claim.ts'
import { loadSendContexts, type SendContexts } from './context.ts'
import type { FindSendingCampaigns, RecordOverBudget } from './find-sending-campaigns.ts'
import { type Lease, withLease } from './lease.ts'
import { findSecondCopies } from './moved-addresses.ts'
import { createTemplateCache, type TemplateCache } from './prepare.ts'
import * as queries from './queries.ts'
import { finishRateBatch, latestOf, openQueues } from './rate-queues.ts'
import { applyRates, campaignRate, countAsSent, type Granted, providerRate } from './rates.ts'
import { type Attempted, recordResults } from './record-results.ts'
import type { SendingProject } from './render.ts'
import { type RenderOutcome, renderMessages, type ToRender } from './render-messages.ts'

const SLICE_MESSAGES = 100
const SLICES_AT_ONCE = 3
/** Queues with up to this many messages share statements. */
const SMALL_QUEUE = 20
const RELEASED_AT_ONCE = 1000

/** What a sending process keeps between batches. */
export type Sender = SenderParts & Claiming & { prepare: TemplateCache }

/** What a sender calls in higher layers while it works, and the streams of this process that show new in-app messages at once. */
export type SenderParts = {
  findSendingCampaigns: FindSendingCampaigns
  recordOverBudget: RecordOverBudget
  inboxStreams: Pick<InboxStreams, 'wake'>
}

export const createSender = (parts: SenderParts, priority: Priority): Sender => ({
  ...parts,
  priority,
  prepare: createTemplateCache(),
  inFlight: new Map(),
  waiting: new Set(),
})

const viewOf = jointViews()
/** Results are saved by one transaction at a time, so that those of many small queues share it. Nothing waits for them. */
const resultsViewOf = jointViews(1)

/**
 * Claims one batch of due messages, with an equal share for each queue, and begins to send them. A queue has one batch in flight at a
 * time. The job runs again when one of them is finished that has more messages.
 */
export async function sendDueMessages(ctx: Ctx, sender: Sender): Promise<Started> {
  const claimedAt = ctx.clock.now()
  const { batches, ...next } = await claimNext(ctx, sender)
  for (const { name, messages } of batches) sender.inFlight.set(name, messages.length)
  const sending = mapWithConcurrency(batches, batches.length, (batch) => sendBatch(ctx, sender, batch, claimedAt))
  const done = batches.reduce((sum, { messages }) => sum + messages.length, 0)
  return { done, finished: sending.then(() => undefined), wakesItself: true, ...next }
}

async function sendBatch(ctx: Ctx, sender: Sender, { name, messages, limit, rated }: Batch, claimedAt: Date): Promise<void> {
  const view = { ...ctx, db: viewOf(ctx.db) }
  try {
    if (messages.length > SMALL_QUEUE) await sendQueue(ctx, { ...sender, isRated: rated !== undefined }, messages, claimedAt)
    else await sendQueue(view, { ...sender, isRated: rated !== undefined }, messages, claimedAt, resultsViewOf(ctx.db))
    if (rated) await finishRateBatch(view, sender, rated)
  } finally {
    sender.inFlight.delete(name)
    if (sender.waiting.delete(name) || (messages.length > 0 && messages.length >= limit)) ctx.wake(SEND_JOBS[sender.priority])
  }
}

/** Releases messages whose lease ended because their sender stopped. Returns how many. */
export async function releaseLeases(ctx: Ctx): Promise<number> {
  const released = await queries.releaseLeases(quickly(ctx), RELEASED_AT_ONCE)
  if (released > 0) for (const job of [...Object.values(SEND_JOBS), APPLY]) ctx.wake(job)
  await queries.purgeSendAttempts(ctx)
  return released
}

/** A message that may be sent, with its provider. */
type ReadyMessage = { message: ClaimedMessage; eligible: Eligible<SendableTemplate>; connection: ProviderConnection }

/** Sends claimed messages of one project and channel. Their results are saved over `resultsDb`. */
export async function sendQueue(
  outer: Ctx,
  sender: Sender & { isRated?: boolean },
  messages: ClaimedMessage[],
  claimedAt: Date,
  resultsDb: Db = outer.db,
): Promise<void> {
  const [first] = messages
  if (!first) return
  const project = await findProject(outer, first.project_id)
  const ctx = asSystem(outer, first.project_id, project)
  await withLease(ctx, messages, claimedAt, (lease) => send(ctx, { ...sender, project, lease, resultsDb }, messages))
}

/** What sending a batch of one project and channel needs. */
type Sending = Sender & { isRated?: boolean; project: SendingProject; lease: Lease; resultsDb: Db }

async function send(ctx: ProjectCtx, sending: Sending, messages: ClaimedMessage[]): Promise<void> {
  const contexts = await loadSendContexts(ctx, sending.findSendingCampaigns, messages)
  const { ready, done } = await decide(ctx, messages, contexts.contextOf)
  const byCampaign = await applyRates(ctx, ready, ({ eligible }) => campaignRate(eligible.campaign))
  const ofProvider = await applyRates(ctx, byCampaign.granted, ({ connection }) => providerRate(connection))
  const refused = [...byCampaign.refused, ...ofProvider.refused]
  const now = ctx.clock.now()
  const deferred = refused.map(({ item: { message, eligible }, at }) =>
    notAttempted(message, eligible, deferredUntil('rate_limited', latestOf(at, now))),
  )
  if (done.length + deferred.length > 0) await recordResults({ ...ctx, db: sending.resultsDb }, [...done, ...deferred])
  const slices = [
    ...Map.groupBy(ofProvider.granted, ({ connection }) => `${connection.provider}:${connection.providerId}`).values(),
  ].flatMap(slicesOf)
  const grantedAtMs = new Map([...byCampaign.grantedAtMs, ...ofProvider.grantedAtMs])
  await mapWithConcurrency(slices, SLICES_AT_ONCE, (slice) => sendSlice(ctx, { ...sending, grantedAtMs }, contexts.devices, slice))
  const overRate = refused.map(({ item: { message }, at, rate }) => ({ message, at, rate }))
  if (!sending.isRated) await openQueues(ctx, sending.priority, overRate)
}

const slicesOf = <T>(items: T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / SLICE_MESSAGES) }, (_, at) => items.slice(at * SLICE_MESSAGES, (at + 1) * SLICE_MESSAGES))

const notAttempted = (message: ClaimedMessage, known: Pick<Attempted, 'user' | 'consent'>, result: SendResult): Attempted => ({
  message,
  user: known.user,
  consent: known.consent,
  result,
  attempt: null,
})

/** Divides messages into those that may be sent now, and those that have a result without an attempt. */
async function decide(ctx: ProjectCtx, messages: ClaimedMessage[], contextOf: SendContexts['contextOf']) {
  const ready: ReadyMessage[] = []
  const done: Attempted[] = []
  const connections = new Map<ProviderId | null, ProviderConnection>()
  for (const message of messages) {
    const context = contextOf(message)
    const decision = checkEligibility(context)
    if ('state' in decision) {
      done.push(notAttempted(message, context, decision))
      continue
    }
    const id = decision.campaign.provider_id
    const connection = connections.get(id) ?? (await connectProvider(ctx, message.channel, id))
    connections.set(id, connection)
    ready.push({ message: { ...message, variant: decision.variant }, eligible: decision, connection })
  }
  const second = await findSecondCopies(
    ctx,
    ready.map(({ message, eligible: { user } }) => ({ message, user })),
  )
  const { first = [], again = [] } = Object.groupBy(ready, ({ message }) => (second.has(message.id) ? 'again' : 'first'))
  const skipped = again.map(({ message, eligible }) => notAttempted(message, eligible, result('skipped', 'duplicate_address')))
  return { ready: first, done: [...done, ...skipped] }
}

async function sendSlice(
  ctx: ProjectCtx,
  sending: Sending & Granted,
  devices: SendContexts['devices'],
  slice: ReadyMessage[],
): Promise<void> {
  const { rendered, failed, overBudget } = sortOut(ctx, slice, await renderSlice(ctx, sending, slice), devices)
  await sending.recordOverBudget(ctx, overBudget)
  const leased = await sending.lease.stillLeased(slice.map(({ message }) => message))
  const candidates = rendered.filter(({ ready }) => leased.has(ready.message.id))
  const { sendAttemptId, stopped } = await beginAttempts(
    ctx,
    sending.findSendingCampaigns,
    candidates.map(({ ready }) => ready),
  )
  const notSent = [...stopped].map(([{ message, eligible }, result]) => notAttempted(message, eligible, result))
  const connection = slice[0]?.connection as ProviderConnection
  const sent = await mapWithConcurrency(
    candidates.filter(({ ready }) => !stopped.has(ready)),
    connection.atOnce,
    ({ ready, outgoing }) => attemptSend(ctx, ready, outgoing),
  )
  await recordResults({ ...ctx, db: sending.resultsDb }, [...failed, ...notSent, ...sent], sendAttemptId)
  const startedAtMs = Math.max(0, ...sent.map(({ attempt }) => attempt?.startedAt.getTime() ?? 0))
  const rates = [
    ({ eligible }: ReadyMessage) => campaignRate(eligible.campaign),
    ({ connection }: ReadyMessage) => providerRate(connection),
  ]
  await countAsSent(ctx, slice, rates, { ...sending, startedAtMs })
  if (sent.some(({ message }) => channels[message.channel].recipient === 'inbox')) sending.inboxStreams.wake()
}

async function renderSlice(ctx: ProjectCtx, { prepare, project }: Sending, slice: ReadyMessage[]): Promise<RenderOutcome[]> {
  const channel = slice[0]?.message.channel as Channel
  const messages: ToRender[] = []
  for (const { message, eligible } of slice) {
    const { campaign, user, consent } = eligible
    const { id, name, subscription_id } = campaign
    const template = await prepare(ctx, project, channel, eligible.template)
    const trackingUrl = await trackingBaseUrl(ctx, campaign.custom_domain_id)
    const input = { id: message.id, event: message.event, campaign: { id, name, subscription_id }, user, template, trackingUrl }
    messages.push({ ...input, isTransactional: consent.is_transactional })
  }
  return renderMessages(ctx, project, channel, messages)
}

/** Divides messages into those that can be sent, and those that have a result now. `overBudget` counts by campaign. */
function sortOut(ctx: ProjectCtx, slice: ReadyMessage[], outcomes: RenderOutcome[], devices: SendContexts['devices']) {
  const rendered: { ready: ReadyMessage; outgoing: Outgoing }[] = []
  const failed: Attempted[] = []
  const overBudget = new Map<CampaignId, number>()
  for (const [index, ready] of slice.entries()) {
    const { message, eligible } = ready
    const outcome = outcomes[index] ?? { skipped: true }
    if ('rendered' in outcome) {
      const outgoing = {
        ...outcome.rendered,
        id: message.id,
        key: messageKey(ctx, message),
        headers: outcome.headers,
        devices: devices(eligible.user.id),
      }
      rendered.push({ ready, outgoing })
    } else if ('skipped' in outcome) {
      failed.push(notAttempted(message, eligible, recheckedFrom(ctx.clock.now())))
    } else {
      failed.push(notAttempted(message, eligible, result('failed', 'render_failed', outcome.problem)))
      if (outcome.isOverBudget) overBudget.set(eligible.campaign.id, (overBudget.get(eligible.campaign.id) ?? 0) + 1)
    }
  }
  return { rendered, failed, overBudget }
}

/**
 * Saves a send attempt record, unless the provider allows repeated attempts. The campaigns are locked meanwhile: messages of a campaign
 * that was stopped before are not sent, and a request that stops one afterwards finds these messages in flight.
 */
function beginAttempts(
  ctx: ProjectCtx,
  findSendingCampaigns: FindSendingCampaigns,
  ready: ReadyMessage[],
): Promise<{ sendAttemptId: number | null; stopped: Map<ReadyMessage, SendResult> }> {
  return inTx(ctx, async (ctx) => {
    const ids = [...new Set(ready.map(({ eligible }) => eligible.campaign.id))]
    const campaigns = new Map((await findSendingCampaigns(ctx, ids, 'share')).map((campaign) => [campaign.id, campaign]))
    const stopped = new Map<ReadyMessage, SendResult>()
    for (const one of ready) {
      const campaign = campaigns.get(one.eligible.campaign.id)
      if (!campaign) stopped.set(one, result('aborted', 'campaign_stopped'))
      else if (!isSending(campaign)) stopped.set(one, resultOfStop(campaign, ctx.clock.now()))
    }
    const attempted = ready.filter((one) => !stopped.has(one))
    const [first] = attempted
    if (!first || first.connection.repeatable || first.connection.idempotent) return { sendAttemptId: null, stopped }
    const sendAttemptId = await queries.insertSendAttempts(ctx, {
      lease_token: first.message.lease_token,
      message_ids: attempted.map(({ message }) => message.id),
      provider: first.connection.provider,
      provider_id: first.connection.providerId,
    })
    return { sendAttemptId, stopped }
  })
}

async function attemptSend(
  ctx: ProjectCtx,
  { message, eligible: { user, consent }, connection }: ReadyMessage,
  outgoing: Outgoing,
): Promise<Attempted> {
  const startedAt = ctx.clock.now()
  const { outcome, elapsedMs } = await connection.send(outgoing)
  const result = resultOf(outcome, message.attempts, ctx.clock.now(), message.expires_at)
  return { message, user, consent, result, attempt: { outgoing, outcome, connection, startedAt, elapsedMs } }
}
