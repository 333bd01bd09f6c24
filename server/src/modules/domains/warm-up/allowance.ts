/** How much of the email of a domain a destination may get today. */
import { cached } from '../../../infra/runtime/cache.ts'
import type { Ctx, InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { DomainId } from '../../../lib/ids.ts'
import { sendingDomainOf } from '../sending/senders.ts'
import * as queries from './queries.ts'
import type { WarmUpRow } from './schema.ts'
import { ceilingToday, dayOf, nextDay, stepToday } from './stages.ts'

/** The number of emails that may go now, and when the others may. */
export type WarmUpAllowance = { allowed: number; resumesAt: Date }

/** Where emails of a From domain go: the destination, and the own address that they leave from. */
export type WarmUpTarget = { fromDomain: string; site: string; sourceAddress?: string }

const CACHE_MS = 5000
const CACHE_MAX = 10_000

type Plan = { plan: WarmUpRow | null }

/** By project and domain. */
const plans = cached(CACHE_MAX, CACHE_MS, async (ctx, key: string): Promise<Plan> => {
  const [projectId, domainId] = key.split(' ').map(Number)
  return { plan: (await queries.findWarmUp({ ...ctx, projectId } as ProjectCtx, domainId as DomainId)) ?? null }
})

/** Forgets what is cached, after a change. */
export const forgetPlans = (): void => plans.forget()

async function activePlan(ctx: ProjectCtx | InTx, fromDomain: string): Promise<{ id: DomainId; plan: WarmUpRow } | null> {
  const sender = await sendingDomainOf(ctx, fromDomain)
  if (!sender) return null
  const { plan } = await plans.get(ctx as Ctx, `${ctx.projectId} ${sender.id}`)
  return plan?.is_active ? { id: sender.id, plan } : null
}

const keyOf = (id: DomainId, plan: WarmUpRow, { site, sourceAddress = '' }: WarmUpTarget): queries.SiteKey => ({
  domainId: id,
  site,
  sourceAddress: plan.is_per_address ? sourceAddress : '',
})

/** Takes up to `wanted` emails from the ceiling of today. Without an active plan all may go, and nothing is counted. */
export async function warmUpAllowance(ctx: ProjectCtx | InTx, target: WarmUpTarget, wanted: number): Promise<WarmUpAllowance> {
  const now = ctx.clock.now()
  const active = await activePlan(ctx, target.fromDomain)
  if (!active) return { allowed: wanted, resumesAt: now }
  const key = keyOf(active.id, active.plan, target)
  const day = dayOf(now)
  const counts = await queries.openSite(ctx, key, day)
  const today = { day, step: stepToday(active.plan, counts, day), ceiling: ceilingToday(active.plan, counts, day) }
  return { allowed: await queries.takeFromSite(ctx, key, today, wanted), resumesAt: nextDay(now) }
}

/** What became of emails at a destination. */
export type WarmUpOutcome = WarmUpTarget & { bounced: number; deferred: number }

/** Counts bounces and deferrals, on which the ceilings depend. */
export async function countWarmUp(ctx: ProjectCtx | InTx, outcomes: readonly WarmUpOutcome[]): Promise<void> {
  const changes = new Map<string, queries.SiteKey & { bounced: number; deferred: number }>()
  for (const outcome of outcomes) {
    const active = outcome.bounced + outcome.deferred > 0 ? await activePlan(ctx, outcome.fromDomain) : null
    if (!active) continue
    const key = keyOf(active.id, active.plan, outcome)
    const name = `${key.domainId} ${key.sourceAddress} ${key.site}`
    const known = changes.get(name)
    changes.set(name, { ...key, bounced: (known?.bounced ?? 0) + outcome.bounced, deferred: (known?.deferred ?? 0) + outcome.deferred })
  }
  if (changes.size > 0) await queries.countAtSites(ctx, dayOf(ctx.clock.now()), [...changes.values()])
}
