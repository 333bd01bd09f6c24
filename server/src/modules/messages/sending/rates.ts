/** Applies the rates of providers and campaigns, which all processes share, and keeps hints so that no more is claimed than can be sent. */
import type { Ctx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { postponeUses, type SharedRate, takeUses } from '../../../infra/runtime/shared-rate.ts'
import type { Queue, Share } from './queries.ts'

/** A rate by its name. */
export type NamedRate = { name: string; rate: SharedRate }

/** An item over a rate, and when to try it again. */
export type Refused<T> = { item: T; at: Date }

/** When each rate granted something. */
export type Granted = { grantedAtMs: ReadonlyMap<string, number> }

/** The items within the rates and those over them. */
export type RateResult<T> = { granted: T[]; refused: Refused<T>[]; grantedAtMs: Map<string, number> }

/** Grants as many items as the rate of each group allows now, the first ones first. */
export async function applyRates<T>(ctx: ProjectCtx, items: readonly T[], rateOf: (item: T) => NamedRate | null): Promise<RateResult<T>> {
  const result: RateResult<T> = { granted: [], refused: [], grantedAtMs: new Map() }
  for (const [name, group] of Map.groupBy(items, (item) => rateOf(item)?.name ?? null)) {
    const limited = name === null ? null : rateOf(group[0] as T)
    if (!limited) {
      result.granted.push(...group)
      continue
    }
    const { granted, atMs, availableAtMs } = await takeUses(ctx, limited.name, limited.rate, group.length)
    result.grantedAtMs.set(limited.name, atMs)
    result.granted.push(...group.slice(0, granted))
    result.refused.push(
      ...group.slice(granted).map((item, index) => ({ item, at: new Date(Math.max(atMs + 1, availableAtMs[index] ?? 0)) })),
    )
  }
  return result
}

/** So much later than its start an attempt may count at most, as a part of the interval: a slow provider must not halve the rate. */
const LATE_MAX = 1 / 4

/** Messages were sent some time after the rates granted them. They count from then on, so that the recipient sees the rate too. */
export async function countAsSent<T>(
  ctx: ProjectCtx,
  sent: readonly T[],
  rates: ((item: T) => NamedRate | null)[],
  { grantedAtMs, startedAtMs }: Granted & { startedAtMs: number },
): Promise<void> {
  const applied = rates.flatMap((rateOf) => sent.flatMap((item) => rateOf(item) ?? []))
  for (const [name, uses] of Map.groupBy(applied, ({ name }) => name)) {
    const { rate } = uses[0] as NamedRate
    const grantedAt = grantedAtMs.get(name)
    const atMs = Math.floor(Math.min(ctx.clock.now().getTime(), startedAtMs + rate.intervalMs * LATE_MAX))
    if (grantedAt === undefined || atMs <= grantedAt) continue
    await postponeUses(ctx, name, rate, { uses: uses.length, grantedAtMs: grantedAt, atMs })
  }
}

/** What a process knows about queues that are over a rate. Only a hint: each process has its own. */
export type RateHints = {
  /** How much to claim of each queue now. Queues that wait for a rate are left out. */
  sharesOf(ctx: Ctx, queues: Queue[], batch: number): Share[]
  /** Records how much of the last claim of a queue the rates granted. */
  record(queue: Queue, result: { granted: number; refusedUntil: Date | null }): void
}

const SHARE_MIN = 10
const QUEUES_MAX = 10_000

export function createRateHints(): RateHints {
  const hints = new Map<string, { waitUntil: Date; share: number }>()
  const nameOf = ({ project_id, channel }: Queue) => `${project_id}:${channel}`
  return {
    sharesOf(ctx, queues, batch) {
      const now = ctx.clock.now()
      const ready = queues.filter((queue) => (hints.get(nameOf(queue))?.waitUntil ?? now) <= now)
      const equal = Math.ceil(batch / Math.max(1, ready.length))
      return ready.map((queue) => ({ ...queue, limit: Math.min(equal, hints.get(nameOf(queue))?.share ?? equal) }))
    },
    record(queue, { granted, refusedUntil }) {
      const name = nameOf(queue)
      if (refusedUntil === null) {
        hints.delete(name)
        return
      }
      if (hints.size >= QUEUES_MAX) hints.clear()
      hints.set(name, { waitUntil: refusedUntil, share: Math.max(SHARE_MIN, 2 * granted) })
    },
  }
}
