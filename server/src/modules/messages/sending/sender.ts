/**
 * The way of a batch: claim, learn what must be known, decide, keep to the pace, render, and then in slices: write down what is
 * about to leave, hand over, settle. Whoever dies on the way leaves a lease that ends; nothing a dead sender did counts, because
 * only the holder of a lease can settle; and only what stood in a slice may have left unseen.
 */
import { asSystem, type Ctx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { mapWithConcurrency } from '../../../lib/concurrency.ts'
import type { ProviderId } from '../../../lib/ids.ts'
import { connectProvider, type Outgoing, type ProviderConnection } from '../../channels/index.ts'
import type { InboxStreams } from '../../inbox/index.ts'
import { findProject } from '../../projects/index.ts'
import type { SendableTemplate } from '../../templates/index.ts'
import { trackingBaseUrl } from '../../tracking/index.ts'
import { checkEligibility, deferredUntil, type Eligible, isSending, result, resultOf, type SendResult, stopped } from '../eligibility.ts'
import type { ClaimedMessage, Priority } from '../schema.ts'
import { loadSendContexts, type SendContexts } from './context.ts'
import type { FindSendingCampaigns } from './find-sending-campaigns.ts'
import { type Lease, leaseMs, withLease } from './lease.ts'
import * as queries from './queries.ts'
import { applyRates, createRateHints, type RateHints } from './rates.ts'
import { type Attempted, recordResults } from './record-results.ts'
import { createTemplateCache, render, type SendingProject, type TemplateCache } from './render.ts'

const BATCH_MESSAGES: Record<Priority, number> = { 0: 200, 1: 1000 }
const SLICE_MESSAGES = 100
const SLICES_AT_ONCE = 3
const QUEUES_AT_ONCE = 4
const QUEUES_MAX = 200
const RELEASED_AT_ONCE = 1000

/** What a sending process keeps from batch to batch. */
export type Sender = SenderParts & { priority: Priority; pace: RateHints; prepare: TemplateCache }

/** What a sender calls in higher layers while it works, and the streams of this process that show new in-app messages at once. */
export type SenderParts = { findSendingCampaigns: FindSendingCampaigns; inboxStreams: Pick<InboxStreams, 'wake'> }

export const createSender = (parts: SenderParts, priority: Priority): Sender => ({
  ...parts,
  priority,
  pace: createRateHints(),
  prepare: createTemplateCache(),
})

/** Sends one batch of due messages, an equal share of it for each queue that has some. Answers how many it took. */
export async function sendDueMessages(ctx: Ctx, sender: Sender): Promise<number> {
  const queues = await queries.queuesDue(ctx, sender.priority, QUEUES_MAX)
  const shares = sender.pace.sharesOf(ctx, queues, BATCH_MESSAGES[sender.priority])
  if (shares.length === 0) return 0
  const claimedAt = ctx.clock.now()
  const claimed = await claim(ctx, sender.priority, shares)
  const byQueue = Map.groupBy(claimed, ({ project_id, channel }) => `${project_id}:${channel}`)
  await mapWithConcurrency([...byQueue.values()], QUEUES_AT_ONCE, (messages) => sendQueue(ctx, sender, messages, claimedAt))
  return claimed.length
}

/** Takes due messages of these queues. */
export function claim(ctx: Ctx, priority: Priority, shares: queries.Share[]): Promise<ClaimedMessage[]> {
  return queries.claimMessages(ctx, priority, shares, new Date(ctx.clock.now().getTime() + leaseMs(ctx)))
}

/** Takes messages back from senders that went away. Answers how many. */
export async function releaseLeases(ctx: Ctx): Promise<number> {
  const released = await queries.releaseLeases(ctx, RELEASED_AT_ONCE)
  await queries.purgeSendAttempts(ctx)
  return released
}

/** A message that may go, with who carries it. */
type ReadyMessage = { message: ClaimedMessage; cleared: Eligible<SendableTemplate>; connection: ProviderConnection }

/** Sends claimed messages of one project and channel. */
export async function sendQueue(outer: Ctx, sender: Sender, messages: ClaimedMessage[], claimedAt: Date): Promise<void> {
  const [first] = messages
  if (!first) return
  const project = await findProject(outer, first.project_id)
  const ctx = asSystem(outer, first.project_id, project)
  await withLease(ctx, messages, claimedAt, (lease) => send(ctx, { ...sender, project, lease }, messages))
}

/** A batch of one project and channel on its way. */
type Sending = Sender & { project: SendingProject; lease: Lease }

async function send(ctx: ProjectCtx, sending: Sending, messages: ClaimedMessage[]): Promise<void> {
  const learnt = await loadSendContexts(ctx, sending.findSendingCampaigns, messages)
  const { going, over } = await decide(ctx, messages, learnt.circumstances)
  const ofCampaigns = await applyRates(ctx, going, campaignRate)
  const { granted, refused } = await applyRates(ctx, ofCampaigns.granted, providerRate)
  const late = [...ofCampaigns.refused, ...refused].map(({ item: { message, cleared }, at }) =>
    notAttempted(message, cleared, deferredUntil('rate_limited', at)),
  )
  // Who waits for a campaign's own rate holds up nobody else.
  sending.pace.learnt(messages[0] as ClaimedMessage, { granted: granted.length, refusedUntil: refused[0]?.at ?? null })
  if (over.length + late.length > 0) await recordResults(ctx, [...over, ...late])
  const slices = [...Map.groupBy(granted, ({ connection }) => `${connection.provider}:${connection.providerId}`).values()].flatMap(slicesOf)
  await mapWithConcurrency(slices, SLICES_AT_ONCE, (slice) => sendSlice(ctx, sending, learnt.devices, slice))
}

const slicesOf = <T>(items: T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / SLICE_MESSAGES) }, (_, at) => items.slice(at * SLICE_MESSAGES, (at + 1) * SLICE_MESSAGES))

const providerRate = ({ connection: { providerId, rate } }: ReadyMessage) =>
  rate && { name: `provider:${providerId}`, rate: { limit: rate.limit, intervalMs: rate.interval_ms } }

const campaignRate = ({ cleared: { campaign } }: ReadyMessage) =>
  campaign.rate && { name: `campaign:${campaign.id}`, rate: { limit: campaign.rate.limit, intervalMs: campaign.rate.interval_ms } }

const notAttempted = (message: ClaimedMessage, known: Pick<Attempted, 'user' | 'consent'>, end: SendResult): Attempted => ({
  message,
  user: known.user,
  consent: known.consent,
  ending: end,
  attempt: null,
})

/** Sorts messages into those that may go and those that it is over with, or that wait. */
async function decide(ctx: ProjectCtx, messages: ClaimedMessage[], circumstancesOf: SendContexts['circumstances']) {
  const going: ReadyMessage[] = []
  const over: Attempted[] = []
  const connections = new Map<ProviderId | null, ProviderConnection>()
  for (const message of messages) {
    const circumstances = circumstancesOf(message)
    const verdict = checkEligibility(circumstances)
    if ('state' in verdict) {
      over.push(notAttempted(message, circumstances, verdict))
      continue
    }
    const id = verdict.campaign.provider_id
    const connection = connections.get(id) ?? (await connectProvider(ctx, message.channel, id))
    connections.set(id, connection)
    going.push({ message: { ...message, variant: verdict.variant }, cleared: verdict, connection })
  }
  return { going, over }
}

async function sendSlice(ctx: ProjectCtx, sending: Sending, devices: SendContexts['devices'], slice: ReadyMessage[]): Promise<void> {
  const ready: { going: ReadyMessage; outgoing: Outgoing }[] = []
  const over: Attempted[] = []
  for (const going of slice) {
    const made = await renderMessage(ctx, sending, going)
    if ('problem' in made) over.push(notAttempted(going.message, going.cleared, result('failed', 'render_failed', made.problem)))
    else ready.push({ going, outgoing: { ...made, devices: devices(going.cleared.user.id) } })
  }
  const ours = await sending.lease.stillOurs(slice.map(({ message }) => message))
  const held = ready.filter(({ going }) => ours.has(going.message.id))
  const { handover, stoppedOnes } = await beginAttempts(
    ctx,
    sending.findSendingCampaigns,
    held.map(({ going }) => going),
  )
  const leaving = held.filter(({ going }) => !stoppedOnes.has(going))
  const refused = [...stoppedOnes].map(([{ message, cleared }, end]) => notAttempted(message, cleared, end))
  const connection = slice[0]?.connection as ProviderConnection
  const sent = await mapWithConcurrency(leaving, connection.atOnce, ({ going, outgoing }) => attemptSend(ctx, going, outgoing))
  await recordResults(ctx, [...over, ...refused, ...sent], handover)
  if (sent.some(({ message }) => message.channel === 'in_app')) sending.inboxStreams.wake()
}

/** The finished message. */
async function renderMessage(ctx: ProjectCtx, { prepare, project }: Sending, { message, cleared }: ReadyMessage) {
  const started = performance.now()
  const { campaign, user, template } = cleared
  const prepared = await prepare(ctx, project, message.channel, template)
  const base = await trackingBaseUrl(ctx, campaign.custom_domain_id)
  const made = render(ctx, { project, base }, message, prepared, { campaign, user })
  ctx.metrics.messageRendered(message.channel, performance.now() - started)
  if ('problem' in made) return made
  return { ...made.rendered, id: message.id, key: `${message.project_id}-${message.id}`, headers: made.headers, devices: [] }
}

/**
 * Writes down what is about to be handed over, unless it may be repeated, and holds the campaigns meanwhile: whoever stopped one
 * before has its messages refused here, and whoever stops one from now on learns that these are on their way.
 */
function beginAttempts(
  ctx: ProjectCtx,
  findSendingCampaigns: FindSendingCampaigns,
  going: ReadyMessage[],
): Promise<{ handover: number | null; stoppedOnes: Map<ReadyMessage, SendResult> }> {
  return inTx(ctx, async (ctx) => {
    const ids = [...new Set(going.map(({ cleared }) => cleared.campaign.id))]
    const campaigns = new Map((await findSendingCampaigns(ctx, ids, 'share')).map((campaign) => [campaign.id, campaign]))
    const stoppedOnes = new Map<ReadyMessage, SendResult>()
    for (const one of going) {
      const campaign = campaigns.get(one.cleared.campaign.id)
      if (!campaign) stoppedOnes.set(one, result('aborted', 'campaign_stopped'))
      else if (!isSending(campaign)) stoppedOnes.set(one, stopped(campaign, ctx.clock.now()))
    }
    const leaving = going.filter((one) => !stoppedOnes.has(one))
    const [first] = leaving
    if (!first || first.connection.repeatable || first.connection.idempotent) return { handover: null, stoppedOnes }
    const handover = await queries.insertSendAttempts(ctx, {
      lease_token: first.message.lease_token,
      message_ids: leaving.map(({ message }) => message.id),
      provider: first.connection.provider,
      provider_id: first.connection.providerId,
    })
    return { handover, stoppedOnes }
  })
}

async function attemptSend(
  ctx: ProjectCtx,
  { message, cleared: { user, consent }, connection }: ReadyMessage,
  outgoing: Outgoing,
): Promise<Attempted> {
  const startedAt = ctx.clock.now()
  const { outcome, elapsedMs } = await connection.send(outgoing)
  const end = resultOf(outcome, message.attempts, ctx.clock.now(), message.expires_at)
  return { message, user, consent, ending: end, attempt: { outgoing, outcome, connection, startedAt, elapsedMs } }
}
