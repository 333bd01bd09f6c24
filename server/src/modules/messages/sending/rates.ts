/** Applies the rates of providers and campaigns, which all processes share. */
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { type NamedRate, postponeUses, returnUses, type SharedRate, takeUses } from '../../../infra/runtime/shared-rate.ts'
import type { ProviderConnection } from '../../channels/index.ts'
import type { SendingCampaign } from '../eligibility.ts'

type Rate = { limit: number; interval_ms: number } | null

const named = (name: string, rate: Rate): NamedRate | null => rate && { name, rate: { limit: rate.limit, intervalMs: rate.interval_ms } }

export const providerRate = ({ providerId, rate }: Pick<ProviderConnection, 'providerId' | 'rate'>): NamedRate | null =>
  named(`provider:${providerId}`, rate)

export const campaignRate = ({ id, rate }: Pick<SendingCampaign, 'id' | 'rate'>): NamedRate | null => named(`campaign:${id}`, rate)

/** An item over a rate, and when to try it again. */
export type Refused<T> = { item: T; at: Date; rate: SharedRate }

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
      ...group
        .slice(granted)
        .map((item, index) => ({ item, at: new Date(Math.max(atMs + 1, availableAtMs[index] ?? 0)), rate: limited.rate })),
    )
  }
  return result
}

/** Gives back what a rate granted to items that something else refuses. */
export async function giveBack<T>(
  ctx: ProjectCtx,
  refused: readonly Pick<Refused<T>, 'item'>[],
  rateOf: (item: T) => NamedRate | null,
  { grantedAtMs }: Granted,
): Promise<void> {
  const rates = refused.flatMap(({ item }) => rateOf(item) ?? [])
  for (const [name, uses] of Map.groupBy(rates, ({ name }) => name)) {
    const grantedAt = grantedAtMs.get(name)
    if (grantedAt === undefined) continue
    await returnUses(ctx, name, (uses[0] as NamedRate).rate, { uses: uses.length, grantedAtMs: grantedAt })
  }
}

/** So much later than its start an attempt may count at most, as a part of the interval: a slow provider must not halve the rate. */
const LATE_MAX = 1 / 4

/**
 * Counts messages against their rates from the time at which they were sent, which is later than when the rates granted them, so that
 * recipients see the rate too.
 */
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
