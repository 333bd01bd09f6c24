/** Claims due messages, for this sender alone until their lease ends: an equal share of each queue that has none in flight. */
import { type Ctx, quickly } from '../../../infra/runtime/ctx.ts'
import type { ClaimedMessage, Priority } from '../schema.ts'
import { leaseMs } from './lease.ts'
import * as queries from './queries.ts'
import type { RateHints } from './rates.ts'

const BATCH_MESSAGES: Record<Priority, number> = { 0: 200, 1: 1000, 2: 500 }
const QUEUES_MAX = 200
/** So many messages are claimed at a time, in batches: those of a slow provider keep none of the others waiting. */
const IN_FLIGHT_MAX: Record<Priority, number> = { 0: 2000, 1: 3000, 2: 2000 }

/**
 * What a sender keeps of its claims. `inFlight` counts the messages of each queue that are being sent; `waiting` are those of these queues that
 * have further messages.
 */
export type Claiming = { priority: Priority; rateHints: RateHints; inFlight: Map<string, number>; waiting: Set<string> }

export const nameOf = ({ project_id, channel }: queries.Queue) => `${project_id}:${channel}`

/** Claims messages of the queues that have none in flight, as far as there is room. Notes which of the others have to be looked at again. */
export async function claimNext(ctx: Ctx, { priority, inFlight, waiting, rateHints }: Claiming) {
  const room = IN_FLIGHT_MAX[priority] - [...inFlight.values()].reduce((sum, messages) => sum + messages, 0)
  if (room <= 0) {
    for (const name of inFlight.keys()) waiting.add(name)
    return { claimed: [], limits: new Map<string, number>(), nextAt: null }
  }
  const queues = await queries.queuesByDueTime(quickly(ctx), priority, QUEUES_MAX + inFlight.size)
  for (const queue of queues) if (inFlight.has(nameOf(queue))) waiting.add(nameOf(queue))
  const now = ctx.clock.now()
  const idle = queues.filter((queue) => !inFlight.has(nameOf(queue)))
  const due = idle.filter(({ due_at }) => due_at <= now).slice(0, QUEUES_MAX)
  const shares = rateHints.sharesOf(ctx, due, Math.min(room, BATCH_MESSAGES[priority]))
  const claimed = shares.length > 0 ? await claim(ctx, priority, shares) : []
  const limits = new Map(shares.map((share) => [nameOf(share), share.limit]))
  return { claimed, limits, nextAt: idle[0]?.due_at ?? null }
}

/** Claims due messages of these queues. */
export const claim = (ctx: Ctx, priority: Priority, shares: queries.Share[]): Promise<ClaimedMessage[]> =>
  queries.claimMessages(quickly(ctx), priority, shares, new Date(ctx.clock.now().getTime() + leaseMs(ctx)))
