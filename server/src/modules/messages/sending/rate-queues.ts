/**
 * Messages over a rate wait in a queue of their campaign. They are put there in slices, and each is claimed once, when the rates have room
 * for it. They do not delay messages of other campaigns on the channel.
 */
import { asSystem, type Ctx, type ProjectCtx, quickly } from '../../../infra/runtime/ctx.ts'
import { readRoom, type SharedRate } from '../../../infra/runtime/shared-rate.ts'
import { mapWithConcurrency } from '../../../lib/concurrency.ts'
import { connectProvider } from '../../channels/index.ts'
import { findProject } from '../../projects/index.ts'
import { isSending } from '../eligibility.ts'
import { type ClaimedMessage, type Priority, SEND_JOBS } from '../schema.ts'
import type { FindSendingCampaigns } from './find-sending-campaigns.ts'
import { batchOf, type Flights, nameOf } from './flights.ts'
import { leaseMs } from './lease.ts'
import { type FullQueues, mailRoom, roomAt } from './mail-room.ts'
import * as queries from './rates.queries.ts'
import { campaignRate, providerRate } from './rates.ts'

const SLICE_MESSAGES = 5000
/** How often a queue is checked at least: a raised rate applies within this time, and a queue whose sender died is taken over. */
const RECHECK_MS = 10_000
/** The number of queues that are checked at the same time. */
const CHECKS_AT_ONCE = 10

/** What a rate queue is claimed with. */
type RateSender = Flights & { priority: Priority; findSendingCampaigns: FindSendingCampaigns; fullQueues: FullQueues }

/** Messages of a rate queue, at most `limit`. */
export type RateBatch = { queue: queries.RateQueue; messages: ClaimedMessage[]; limit: number }

/**
 * When a message that waits for a rate is sent at the latest without its queue: twice the time that the rate needs, because campaigns may
 * share the rate of a provider.
 */
const MARGIN_MS = 60_000
const MARGIN_FACTOR = 2

export const latestOf = (at: Date, now: Date): Date =>
  new Date(now.getTime() + MARGIN_FACTOR * Math.max(0, at.getTime() - now.getTime()) + MARGIN_MS)

/**
 * Opens the rate queues of messages that were refused, and defers the other due messages of their campaigns, so that they wait there too. It
 * ends at a slice without any: behind a long backlog of another campaign they are found when their turn comes.
 */
export async function openQueues(
  ctx: ProjectCtx,
  priority: Priority,
  refused: { message: ClaimedMessage; at: Date; rate: SharedRate }[],
): Promise<void> {
  if (refused.length === 0) return
  const byCampaign = [...Map.groupBy(refused, ({ message }) => message.campaign_id).values()]
  const queues = byCampaign.map((some) => {
    const { message, at, rate } = some[0] as (typeof some)[number]
    return { campaign_id: message.campaign_id, channel: message.channel, at, rate }
  })
  const latest = recheckAt(ctx)
  const opened = queues.map(({ at, ...queue }) => ({ ...queue, at: new Date(Math.min(at.getTime(), latest.getTime())) }))
  await queries.openRateQueues(ctx, priority, opened)
  ctx.wake(SEND_JOBS[priority])
  for (const { at, rate, ...queue } of queues) {
    const slower = { limit: rate.limit, intervalMs: MARGIN_FACTOR * rate.intervalMs }
    const schedule = { from: latestOf(at, ctx.clock.now()), rate: slower, limit: SLICE_MESSAGES }
    let slice = await queries.deferDue(quickly(ctx), priority, queue, schedule)
    while (slice && slice.deferred > 0) slice = await queries.deferDue(quickly(ctx), priority, queue, schedule, slice)
  }
}

/** Claims messages of those rate queues whose rates have room, at most `room` of all. */
export async function claimRateQueues(
  ctx: Ctx,
  sender: RateSender,
  due: Pick<queries.RateQueue, 'project_id' | 'campaign_id'>[],
  room: number,
): Promise<RateBatch[]> {
  if (due.length === 0) return []
  const { priority } = sender
  const taken = await queries.takeRateQueues(quickly(ctx), priority, due, recheckAt(ctx))
  const shares: (queries.RateQueue & { limit: number })[] = []
  await mapWithConcurrency(taken, CHECKS_AT_ONCE, async (queue) => {
    const { uses, at } = await roomOf(ctx, sender, queue)
    if (uses > 0) shares.push({ ...queue, limit: batchOf(sender, nameOf(queue), Math.min(uses, Math.ceil(room / taken.length))) })
    else if (at) await queries.delayRateQueue(ctx, priority, queue, at)
    else await queries.closeRateQueue(ctx, priority, queue)
  })
  if (shares.length === 0) return []
  const claimed = await queries.claimRateLimited(quickly(ctx), priority, shares, new Date(ctx.clock.now().getTime() + leaseMs(ctx)))
  const byQueue = Map.groupBy(claimed, ({ project_id, campaign_id }) => `${project_id}:${campaign_id}`)
  return shares.map(({ limit, ...queue }) => ({ queue, limit, messages: byQueue.get(`${queue.project_id}:${queue.campaign_id}`) ?? [] }))
}

/**
 * Call it after the messages of a batch have been sent. Sets when the rate queue is due next, or closes the queue if it has no more
 * messages.
 */
export async function finishRateBatch(ctx: Ctx, sender: RateSender, { queue, messages, limit }: RateBatch): Promise<void> {
  const { priority } = sender
  if (messages.length < limit && (await queries.closeRateQueue(ctx, priority, queue)) > 0) return
  const { at } = await roomOf(ctx, sender, queue)
  await queries.delayRateQueue(ctx, priority, queue, at ?? recheckAt(ctx))
  ctx.wake(SEND_JOBS[priority])
}

const recheckAt = ({ clock }: Ctx) => new Date(clock.now().getTime() + RECHECK_MS)

/** How many messages of a queue the rates have room for, or when to check again; never, once its campaign was stopped. */
async function roomOf(
  outer: Ctx,
  sender: RateSender,
  { project_id, campaign_id, channel }: queries.RateQueue,
): Promise<{ uses: number; at: Date | null }> {
  const latest = recheckAt(outer)
  const ctx = asSystem(outer, project_id, await findProject(outer, project_id))
  const [campaign] = await sender.findSendingCampaigns(ctx, [campaign_id])
  // Those of a campaign that was archived are claimed to be aborted.
  if (!campaign) return { uses: Number.MAX_SAFE_INTEGER, at: outer.clock.now() }
  // Of one that has finished, only what is sent again is sent.
  if (!isSending(campaign, true)) return { uses: 0, at: campaign.is_paused ? latest : null }
  const connection = await connectProvider(ctx, channel, campaign.provider_id)
  const rates = [campaignRate(campaign), providerRate(connection)].filter((rate) => rate !== null)
  const { uses, atMs } = await readRoom(ctx, rates)
  const inQueue = uses > 0 ? await mailRoom(ctx, sender, connection, campaign_id) : Number.MAX_SAFE_INTEGER
  return { uses: Math.min(uses, inQueue), at: inQueue === 0 ? roomAt(ctx) : new Date(Math.min(atMs, latest.getTime())) }
}
