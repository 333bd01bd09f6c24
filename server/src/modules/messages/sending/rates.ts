/** How fast: rates of providers and campaigns, which all processes keep together, and not claiming what could not go anyway. */
import type { Ctx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { type SharedRate, takeTokens } from '../../../infra/runtime/shared-rate.ts'
import type { Queue, Share } from './queries.ts'

/** A message that a rate did not let through, and when to ask again. */
export type Refused<T> = { item: T; at: Date }

/** What comes back of items when several rates apply to them. */
export type Paced<T> = { granted: T[]; refused: Refused<T>[] }

/** Lets through as many of the items as the rate of their group allows now, the first ones first. */
export async function applyRates<T>(
  ctx: ProjectCtx,
  items: readonly T[],
  rateOf: (item: T) => { name: string; rate: SharedRate } | null,
): Promise<Paced<T>> {
  const result: Paced<T> = { granted: [], refused: [] }
  for (const [name, group] of Map.groupBy(items, (item) => rateOf(item)?.name ?? null)) {
    const limited = name === null ? null : rateOf(group[0] as T)
    if (!limited) {
      result.granted.push(...group)
      continue
    }
    const { granted, waitMs } = await takeTokens(ctx, limited.name, limited.rate, group.length)
    const from = ctx.clock.now().getTime() + Math.max(1, waitMs)
    const { limit, intervalMs } = limited.rate
    result.granted.push(...group.slice(0, granted))
    // One after the other, as the bucket fills: not all of them ask again at once.
    result.refused.push(...group.slice(granted).map((item, turn) => ({ item, at: new Date(from + (turn * intervalMs) / limit) })))
  }
  return result
}

/** What a process remembers of queues that a rate holds back: only a hint, each process learns it by itself. */
export type RateHints = {
  /** How much to claim of each queue now; queues that rest are left out. */
  sharesOf(ctx: Ctx, queues: Queue[], batch: number): Share[]
  /** What became of the last claim of a queue. */
  learnt(queue: Queue, result: { granted: number; refusedUntil: Date | null }): void
}

const SHARE_MIN = 10
const QUEUES_REMEMBERED = 10_000

export function createRateHints(): RateHints {
  const hints = new Map<string, { restUntil: Date; share: number }>()
  const nameOf = ({ project_id, channel }: Queue) => `${project_id}:${channel}`
  return {
    sharesOf(ctx, queues, batch) {
      const now = ctx.clock.now()
      const awake = queues.filter((queue) => (hints.get(nameOf(queue))?.restUntil ?? now) <= now)
      const equal = Math.ceil(batch / Math.max(1, awake.length))
      return awake.map((queue) => ({ ...queue, limit: Math.min(equal, hints.get(nameOf(queue))?.share ?? equal) }))
    },
    learnt(queue, { granted, refusedUntil }) {
      const name = nameOf(queue)
      if (refusedUntil === null) {
        hints.delete(name)
        return
      }
      if (hints.size >= QUEUES_REMEMBERED) hints.clear()
      hints.set(name, { restUntil: refusedUntil, share: Math.max(SHARE_MIN, 2 * granted) })
    },
  }
}
