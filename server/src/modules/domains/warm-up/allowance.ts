/** How much of the email of a domain a mail site may get today. */
import { cached } from '../../../infra/runtime/cache.ts'
import type { Ctx, InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { gathered } from '../../../infra/runtime/gathered.ts'
import type { DomainId } from '../../../lib/ids.ts'
import { distinct } from '../../../lib/shapes.ts'
import { sendingDomainOf } from '../sending/senders.ts'
import * as queries from './queries.ts'
import type { WarmUpRow } from './schema.ts'
import { ceilingToday, dayOf, nextDay, stepToday } from './stages.ts'

/** The number of emails that may go now, the day whose ceiling they were taken from, if there is a plan, and when the others may go. */
export type WarmUpAllowance = { allowed: number; day: string | null; resumesAt: Date }

/** Where emails of a From domain go: the mail site, and the own address that they leave from. */
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

const nameOf = ({ domainId, sourceAddress, site }: queries.SiteKey): string => `${domainId} ${sourceAddress} ${site}`

/**
 * Takes up to `wanted` emails from the ceiling of today, or all of them if they may go beyond it. Without an active plan, all may be sent and
 * nothing is counted.
 */
export async function warmUpAllowance(
  ctx: ProjectCtx | InTx,
  target: WarmUpTarget,
  wanted: number,
  { isBeyondCeiling = false } = {},
): Promise<WarmUpAllowance> {
  const now = ctx.clock.now()
  const active = await activePlan(ctx, target.fromDomain)
  if (!active) return { allowed: wanted, day: null, resumesAt: now }
  const taken = await take(ctx as Ctx, { ctx, plan: active.plan, key: keyOf(active.id, active.plan, target), wanted, isBeyondCeiling })
  return { allowed: taken?.granted ?? 0, day: taken?.day ?? null, resumesAt: nextDay(now) }
}

type Taking = { ctx: ProjectCtx | InTx; plan: WarmUpRow; key: queries.SiteKey; wanted: number; isBeyondCeiling: boolean }

/** Emails to the same mail site that ask at the same time share two statements. */
const take = gathered(async (_, takings: Taking[]) => {
  const bySite = Map.groupBy(takings, ({ ctx, key, isBeyondCeiling }) => `${ctx.projectId} ${isBeyondCeiling} ${nameOf(key)}`)
  const shares = await Promise.all([...bySite.values()].map(takeTogether))
  return new Map(shares.flat())
})

/** Takes the sum from the ceiling of a mail site, and divides it in the order of the emails. */
async function takeTogether(takings: Taking[]): Promise<(readonly [Taking, { granted: number; day: string }])[]> {
  const [{ ctx, plan, key, isBeyondCeiling }] = takings as [Taking]
  const wanted = takings.reduce((sum, one) => sum + one.wanted, 0)
  const { day, granted } = await takeFromDay(ctx, plan, key, wanted, isBeyondCeiling)
  let left = granted
  return takings.map((taking) => {
    const granted = Math.min(left, taking.wanted)
    left -= granted
    return [taking, { granted, day }] as const
  })
}

/**
 * Takes from the ceiling of today, or of tomorrow if a process whose clock is ahead has begun it: a day that was begun is not begun once more. What
 * lies further ahead was a mistake of a clock, and does not count.
 */
async function takeFromDay(
  ctx: ProjectCtx | InTx,
  plan: WarmUpRow,
  key: queries.SiteKey,
  wanted: number,
  isBeyondCeiling: boolean,
): Promise<{ day: string; granted: number }> {
  const now = ctx.clock.now()
  const [today, lastDay] = [dayOf(now), dayOf(nextDay(now))]
  for (;;) {
    const counts = await queries.openSite(ctx, key, today)
    const day = counts.day === lastDay ? lastDay : today
    const counted = counts.day > lastDay ? { ...counts, day: today, ...NOTHING } : counts
    const ceiling = isBeyondCeiling ? null : ceilingToday(plan, counted, day)
    const taken = await queries.takeFromSite(ctx, key, { day, lastDay, step: stepToday(plan, counted, day), ceiling }, wanted)
    if (taken) return { day, granted: taken.granted }
  }
}

const NOTHING = { sent: 0, bounced: 0, deferred: 0 }

/** What happened to emails at a mail site that were taken from the ceiling of a day. `unsent` are sent later. */
export type WarmUpOutcome = WarmUpTarget & { day: string; bounced: number; deferred: number; unsent?: number }

/** Counts bounces and deferrals, on which the ceilings depend, and gives back what was not sent. */
export async function countWarmUp(ctx: ProjectCtx | InTx, outcomes: readonly WarmUpOutcome[]): Promise<void> {
  const counted = outcomes.filter(({ bounced, deferred, unsent = 0 }) => bounced + deferred + unsent > 0)
  const domains = distinct(counted.map(({ fromDomain }) => fromDomain))
  const plans = new Map(await Promise.all(domains.map(async (domain) => [domain, await activePlan(ctx, domain)] as const)))
  const changes = new Map<string, queries.SiteKey & queries.SiteChange>()
  for (const outcome of counted) {
    const active = plans.get(outcome.fromDomain)
    if (!active) continue
    const { day } = outcome
    const key = keyOf(active.id, active.plan, outcome)
    const name = `${day} ${nameOf(key)}`
    const known = changes.get(name)
    changes.set(name, {
      ...{ ...key, day },
      bounced: (known?.bounced ?? 0) + outcome.bounced,
      deferred: (known?.deferred ?? 0) + outcome.deferred,
      unsent: (known?.unsent ?? 0) + (outcome.unsent ?? 0),
    })
  }
  if (changes.size > 0) await queries.countAtSites(ctx, [...changes.values()])
}
