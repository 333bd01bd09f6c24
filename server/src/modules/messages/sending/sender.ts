/**
 * The way of a batch: claim, learn what must be known, decide, keep to the pace, render, and then in slices: write down what is
 * about to leave, hand over, settle. Whoever dies on the way leaves a lease that ends; nothing a dead sender did counts, because
 * only the holder of a lease can settle; and only what stood in a slice may have left unseen.
 */
import { asSystem, type Ctx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { inTurns } from '../../../lib/concurrency.ts'
import type { ProviderId } from '../../../lib/ids.ts'
import { type Carrier, carrierFor, type Outgoing } from '../../channels/index.ts'
import { findProject } from '../../projects/index.ts'
import type { SendingTemplate } from '../../templates/index.ts'
import { baseOf } from '../../tracking/index.ts'
import { type Cleared, type Ending, ending, endingOf, isSending, mayWe, stopped, waiting } from '../eligibility.ts'
import type { ClaimedMessage, Lane } from '../schema.ts'
import { type Learnt, learn } from './context.ts'
import type { FindSendingCampaigns } from './find-sending-campaigns.ts'
import { type Lease, leaseMs, underLease } from './lease.ts'
import * as queries from './queries.ts'
import { createPace, type Pace, paced } from './rates.ts'
import { type Sent, settle } from './record-results.ts'
import { createPreparing, type Preparing, render, type SendingProject } from './render.ts'

const BATCH_MESSAGES: Record<Lane, number> = { 0: 200, 1: 1000 }
const SLICE_MESSAGES = 100
const SLICES_AT_ONCE = 3
const QUEUES_AT_ONCE = 4
const QUEUES_MAX = 200
const RELEASED_AT_ONCE = 1000

/** What a sending process keeps from batch to batch. */
export type Sender = { findSendingCampaigns: FindSendingCampaigns; lane: Lane; pace: Pace; prepare: Preparing }

export const createSender = (findSendingCampaigns: FindSendingCampaigns, lane: Lane): Sender => ({
  findSendingCampaigns,
  lane,
  pace: createPace(),
  prepare: createPreparing(),
})

/** Sends one batch of due messages, an equal share of it for each queue that has some. Answers how many it took. */
export async function sendDue(ctx: Ctx, sender: Sender): Promise<number> {
  const queues = await queries.queuesDue(ctx, sender.lane, QUEUES_MAX)
  const shares = sender.pace.sharesOf(ctx, queues, BATCH_MESSAGES[sender.lane])
  if (shares.length === 0) return 0
  const claimedAt = ctx.clock.now()
  const claimed = await claim(ctx, sender.lane, shares)
  const byQueue = Map.groupBy(claimed, ({ project_id, channel }) => `${project_id}:${channel}`)
  await inTurns([...byQueue.values()], QUEUES_AT_ONCE, (messages) => sendQueue(ctx, sender, messages, claimedAt))
  return claimed.length
}

/** Takes due messages of these queues. */
export function claim(ctx: Ctx, lane: Lane, shares: queries.Share[]): Promise<ClaimedMessage[]> {
  return queries.claimMessages(ctx, lane, shares, new Date(ctx.clock.now().getTime() + leaseMs(ctx)))
}

/** Takes messages back from senders that went away. Answers how many. */
export async function releaseLeases(ctx: Ctx): Promise<number> {
  const released = await queries.releaseLeases(ctx, RELEASED_AT_ONCE)
  await queries.purgeHandovers(ctx)
  return released
}

/** A message that may go, with who carries it. */
type Going = { message: ClaimedMessage; cleared: Cleared<SendingTemplate>; carrier: Carrier }

/** Sends claimed messages of one project and channel. */
export async function sendQueue(outer: Ctx, sender: Sender, messages: ClaimedMessage[], claimedAt: Date): Promise<void> {
  const [first] = messages
  if (!first) return
  const project = await findProject(outer, first.project_id)
  const ctx = asSystem(outer, first.project_id, project)
  await underLease(ctx, messages, claimedAt, (lease) => send(ctx, { ...sender, project, lease }, messages))
}

/** A batch of one project and channel on its way. */
type Sending = Sender & { project: SendingProject; lease: Lease }

async function send(ctx: ProjectCtx, sending: Sending, messages: ClaimedMessage[]): Promise<void> {
  const learnt = await learn(ctx, sending.findSendingCampaigns, messages)
  const { going, over } = await decided(ctx, messages, learnt.circumstances)
  const ofCampaigns = await paced(ctx, going, campaignRate)
  const { granted, refused } = await paced(ctx, ofCampaigns.granted, providerRate)
  const late = [...ofCampaigns.refused, ...refused].map(({ item: { message, cleared }, at }) =>
    unsent(message, cleared, waiting('rate_limited', at)),
  )
  // Who waits for a campaign's own rate holds up nobody else.
  sending.pace.learnt(messages[0] as ClaimedMessage, { granted: granted.length, refusedUntil: refused[0]?.at ?? null })
  if (over.length + late.length > 0) await settle(ctx, [...over, ...late])
  const slices = [...Map.groupBy(granted, ({ carrier }) => `${carrier.provider}:${carrier.providerId}`).values()].flatMap(slicesOf)
  await inTurns(slices, SLICES_AT_ONCE, (slice) => sendSlice(ctx, sending, learnt.devices, slice))
}

const slicesOf = <T>(items: T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / SLICE_MESSAGES) }, (_, at) => items.slice(at * SLICE_MESSAGES, (at + 1) * SLICE_MESSAGES))

const providerRate = ({ carrier: { providerId, rate } }: Going) =>
  rate && { name: `provider:${providerId}`, rate: { limit: rate.limit, intervalMs: rate.interval_ms } }

const campaignRate = ({ cleared: { campaign } }: Going) =>
  campaign.rate && { name: `campaign:${campaign.id}`, rate: { limit: campaign.rate.limit, intervalMs: campaign.rate.interval_ms } }

const unsent = (message: ClaimedMessage, known: Pick<Sent, 'person' | 'consent'>, end: Ending): Sent => ({
  message,
  person: known.person,
  consent: known.consent,
  ending: end,
  attempt: null,
})

/** Sorts messages into those that may go and those that it is over with, or that wait. */
async function decided(ctx: ProjectCtx, messages: ClaimedMessage[], circumstancesOf: Learnt['circumstances']) {
  const going: Going[] = []
  const over: Sent[] = []
  const carriers = new Map<ProviderId | null, Carrier>()
  for (const message of messages) {
    const circumstances = circumstancesOf(message)
    const verdict = mayWe(circumstances)
    if ('state' in verdict) {
      over.push(unsent(message, circumstances, verdict))
      continue
    }
    const id = verdict.campaign.provider_id
    const carrier = carriers.get(id) ?? (await carrierFor(ctx, message.channel, id))
    carriers.set(id, carrier)
    going.push({ message: { ...message, variant: verdict.variant }, cleared: verdict, carrier })
  }
  return { going, over }
}

async function sendSlice(ctx: ProjectCtx, sending: Sending, devices: Learnt['devices'], slice: Going[]): Promise<void> {
  const ready: { going: Going; outgoing: Outgoing }[] = []
  const over: Sent[] = []
  for (const going of slice) {
    const made = await make(ctx, sending, going)
    if ('problem' in made) over.push(unsent(going.message, going.cleared, ending('failed', 'render_failed', made.problem)))
    else ready.push({ going, outgoing: { ...made, devices: devices(going.cleared.person.id) } })
  }
  const ours = await sending.lease.stillOurs(slice.map(({ message }) => message))
  const held = ready.filter(({ going }) => ours.has(going.message.id))
  const { handover, stoppedOnes } = await writeDown(
    ctx,
    sending.findSendingCampaigns,
    held.map(({ going }) => going),
  )
  const leaving = held.filter(({ going }) => !stoppedOnes.has(going))
  const refused = [...stoppedOnes].map(([{ message, cleared }, end]) => unsent(message, cleared, end))
  const carrier = slice[0]?.carrier as Carrier
  const sent = await inTurns(leaving, carrier.atOnce, ({ going, outgoing }) => handOver(ctx, going, outgoing))
  await settle(ctx, [...over, ...refused, ...sent], handover)
}

/** The finished message. */
async function make(ctx: ProjectCtx, { prepare, project }: Sending, { message, cleared }: Going) {
  const started = performance.now()
  const { campaign, person, template } = cleared
  const prepared = await prepare(ctx, project, message.channel, template)
  const base = await baseOf(ctx, campaign.custom_domain_id)
  const made = render(ctx, { project, base }, message, prepared, { campaign, person })
  ctx.metrics.messageRendered(message.channel, performance.now() - started)
  if ('problem' in made) return made
  return { ...made.rendered, id: message.id, key: `${message.project_id}-${message.id}`, headers: made.headers, devices: [] }
}

/**
 * Writes down what is about to be handed over, unless it may be repeated, and holds the campaigns meanwhile: whoever stopped one
 * before has its messages refused here, and whoever stops one from now on learns that these are on their way.
 */
function writeDown(
  ctx: ProjectCtx,
  findSendingCampaigns: FindSendingCampaigns,
  going: Going[],
): Promise<{ handover: number | null; stoppedOnes: Map<Going, Ending> }> {
  return inTx(ctx, async (ctx) => {
    const ids = [...new Set(going.map(({ cleared }) => cleared.campaign.id))]
    const campaigns = new Map((await findSendingCampaigns(ctx, ids, 'share')).map((campaign) => [campaign.id, campaign]))
    const stoppedOnes = new Map<Going, Ending>()
    for (const one of going) {
      const campaign = campaigns.get(one.cleared.campaign.id)
      if (!campaign) stoppedOnes.set(one, ending('aborted', 'campaign_stopped'))
      else if (!isSending(campaign)) stoppedOnes.set(one, stopped(campaign, ctx.clock.now()))
    }
    const leaving = going.filter((one) => !stoppedOnes.has(one))
    const [first] = leaving
    if (!first || first.carrier.repeatable || first.carrier.idempotent) return { handover: null, stoppedOnes }
    const handover = await queries.insertHandover(ctx, {
      lease_token: first.message.lease_token,
      message_ids: leaving.map(({ message }) => message.id),
      provider: first.carrier.provider,
      provider_id: first.carrier.providerId,
    })
    return { handover, stoppedOnes }
  })
}

async function handOver(ctx: ProjectCtx, { message, cleared: { person, consent }, carrier }: Going, outgoing: Outgoing): Promise<Sent> {
  const startedAt = ctx.clock.now()
  const { outcome, elapsedMs } = await carrier.send(outgoing)
  const end = endingOf(outcome, message.attempts, ctx.clock.now(), message.expires_at)
  return { message, person, consent, ending: end, attempt: { outgoing, outcome, carrier, startedAt, elapsedMs } }
}
