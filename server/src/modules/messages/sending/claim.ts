/** Claims due messages, for this sender alone until their lease ends: an equal share of each queue that has less than two batches in flight. */
import { type Ctx, quickly } from '../../../infra/runtime/ctx.ts'
import type { ClaimedMessage, Priority } from '../schema.ts'
import type { FindSendingCampaigns } from './find-sending-campaigns.ts'
import { batchOf, type Flights, isFull, nameOf, placesTaken } from './flights.ts'
import { leaseMs } from './lease.ts'
import type { FullQueues } from './mail-room.ts'
import * as queries from './queries.ts'
import { claimRateQueues, type RateBatch } from './rate-queues.ts'

/** What is read for a batch holds up the event loop in proportion to its size. */
const BATCH_MESSAGES: Record<Priority, number> = { 0: 200, 1: 500, 2: 500 }
const QUEUES_MAX = 200
/** So many messages are claimed at a time, in batches: those of a slow provider keep none of the others waiting. */
const IN_FLIGHT_MAX: Record<Priority, number> = { 0: 2000, 1: 3000, 2: 2000 }

/** What a sender keeps of its claims. */
export type Claiming = Flights & { priority: Priority; findSendingCampaigns: FindSendingCampaigns; fullQueues: FullQueues }

/** Messages of a queue, fewer than `limit` if there were no more. */
export type Batch = { name: string; messages: ClaimedMessage[]; limit: number; rated?: RateBatch }

/**
 * Claims messages of the queues that have room for a batch, as far as there is room. Notes which of the others have to be looked at again.
 * `nextAt` is when there is something to do next, if that is known.
 */
export async function claimNext(ctx: Ctx, sender: Claiming): Promise<{ batches: Batch[]; nextAt?: Date | null }> {
  const { priority, inFlight, waiting } = sender
  const free = IN_FLIGHT_MAX[priority] - placesTaken(sender)
  if (free <= 0) {
    for (const name of inFlight.keys()) waiting.add(name)
    return { batches: [], nextAt: null }
  }
  const queues = await queries.queuesByDueTime(quickly(ctx), priority, QUEUES_MAX + inFlight.size)
  const { full = [], idle = [] } = Object.groupBy(queues, (queue) => (isFull(sender, nameOf(queue)) ? 'full' : 'idle'))
  for (const queue of full) waiting.add(nameOf(queue))
  const now = ctx.clock.now()
  const due = idle.filter(({ due_at }) => due_at <= now).slice(0, QUEUES_MAX)
  const rateQueues = due.flatMap(({ campaign_id, project_id }) => (campaign_id === null ? [] : [{ project_id, campaign_id }]))
  const room = Math.min(free, BATCH_MESSAGES[priority])
  const rated = await claimRateQueues(ctx, sender, rateQueues, room)
  const shares = sharesOf(
    due.filter(({ campaign_id }) => campaign_id === null),
    room,
  ).map((share): queries.Share => ({ ...share, limit: batchOf(sender, nameOf(share), share.limit) }))
  const claimed = shares.length > 0 ? await claim(ctx, priority, shares) : []
  const byName = Map.groupBy(claimed, (message) => nameOf({ ...message, campaign_id: null }))
  const batches = [
    ...shares.map((share): Batch => ({ name: nameOf(share), limit: share.limit, messages: byName.get(nameOf(share)) ?? [] })),
    ...rated.map((batch): Batch => ({ name: nameOf(batch.queue), limit: batch.limit, messages: batch.messages, rated: batch })),
  ]
  return { batches, ...(rateQueues.length === 0 && { nextAt: idle[0]?.due_at ?? null }) }
}

/** An equal share of a batch for each queue. */
export function sharesOf(queues: queries.Queue[], batch: number): queries.Share[] {
  const limit = Math.ceil(batch / Math.max(1, queues.length))
  return queues.map(({ project_id, channel }) => ({ project_id, channel, limit }))
}

/** Claims due messages of these queues. */
export const claim = (ctx: Ctx, priority: Priority, shares: queries.Share[]): Promise<ClaimedMessage[]> =>
  queries.claimMessages(quickly(ctx), priority, shares, new Date(ctx.clock.now().getTime() + leaseMs(ctx)))
