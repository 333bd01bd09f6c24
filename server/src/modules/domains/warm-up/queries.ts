import { Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { DomainId } from '../../../lib/ids.ts'
import { SiteRow, WarmUpRow } from './schema.ts'

type AnyCtx = ProjectCtx | InTx

const columns = sql`is_active, steps, bounce_percent_max, deferral_percent_max, is_per_address, created_at, updated_at`
const counts = sql`site, source_address, step, day::text as day, sent, bounced, deferred`

export const findWarmUp = (ctx: AnyCtx, id: DomainId) =>
  ctx.db.first(WarmUpRow, sql`select ${columns} from warm_ups where project_id = ${ctx.projectId} and domain_id = ${id}`)

/** As the column holds it, which has seven digits and no number below 1e-38. */
const stored = (percent: number): number => Math.fround(percent)

export const saveWarmUp = (ctx: InTx, id: DomainId, plan: Omit<WarmUpRow, 'created_at' | 'updated_at'>) =>
  ctx.db.one(
    WarmUpRow,
    sql`insert into warm_ups (project_id, domain_id, is_active, steps, bounce_percent_max, deferral_percent_max, is_per_address, created_at, updated_at)
        values (${ctx.projectId}, ${id}, ${plan.is_active}, ${plan.steps}::int[], ${stored(plan.bounce_percent_max)}, ${stored(plan.deferral_percent_max)},
                ${plan.is_per_address}, ${ctx.clock.now()}, ${ctx.clock.now()})
        on conflict (project_id, domain_id) do update
        set is_active = excluded.is_active, steps = excluded.steps, bounce_percent_max = excluded.bounce_percent_max,
            deferral_percent_max = excluded.deferral_percent_max, is_per_address = excluded.is_per_address, updated_at = excluded.updated_at
        returning ${columns}`,
  )

export const deleteWarmUp = async (ctx: InTx, id: DomainId): Promise<void> => {
  await ctx.db.run(sql`delete from warm_up_sites where project_id = ${ctx.projectId} and domain_id = ${id}`)
  await ctx.db.run(sql`delete from warm_ups where project_id = ${ctx.projectId} and domain_id = ${id}`)
}

export const findSites = (ctx: AnyCtx, id: DomainId, limit: number) =>
  ctx.db.many(
    SiteRow,
    sql`select ${counts} from warm_up_sites where project_id = ${ctx.projectId} and domain_id = ${id}
        order by day desc, sent desc, site, source_address limit ${limit}`,
  )

/** A mail site of a domain, and the own address or an empty text. */
export type SiteKey = { domainId: DomainId; sourceAddress: string; site: string }

const isSite = (ctx: AnyCtx, { domainId, sourceAddress, site }: SiteKey) =>
  sql`project_id = ${ctx.projectId} and domain_id = ${domainId} and source_address = ${sourceAddress} and site = ${site}`

/** The state of a mail site, which begins at the first step. */
export const openSite = async (ctx: AnyCtx, key: SiteKey, today: string) => {
  const known = await ctx.db.first(SiteRow, sql`select ${counts} from warm_up_sites where ${isSite(ctx, key)}`)
  if (known) return known
  await ctx.db.run(
    sql`insert into warm_up_sites (project_id, domain_id, source_address, site, step, day)
        values (${ctx.projectId}, ${key.domainId}, ${key.sourceAddress}, ${key.site}, 0, ${today}::date)
        on conflict do nothing`,
  )
  return ctx.db.one(SiteRow, sql`select ${counts} from warm_up_sites where ${isSite(ctx, key)}`)
}

const Taken = Type.Object({ granted: Type.Integer() })

/**
 * Counts as many of the wanted emails as the ceiling of the day allows, and returns that number. The first of a day begins the counts. Returns
 * nothing if a process with another clock has begun a later day meanwhile, up to `lastDay`. One plain update, because that waits for another one
 * of the same row and then reads what it wrote.
 */
export function takeFromSite(
  ctx: AnyCtx,
  key: SiteKey,
  today: { day: string; lastDay: string; step: number; ceiling: number | null },
  wanted: number,
) {
  const isToday = sql`day = ${today.day}::date`
  const sent = sql`(case when ${isToday} then sent else 0 end)`
  const granted = sql`least(${wanted}::int, greatest(0, coalesce(${today.ceiling}::int, ${NO_CEILING}) - ${sent}))`
  return ctx.db.first(
    Taken,
    sql`update warm_up_sites
        set granted = ${granted}, sent = ${sent} + ${granted}, day = ${today.day}::date, step = case when ${isToday} then step else ${today.step} end,
            bounced = case when ${isToday} then bounced else 0 end, deferred = case when ${isToday} then deferred else 0 end
        where ${isSite(ctx, key)} and (day <= ${today.day}::date or day > ${today.lastDay}::date)
        returning granted`,
  )
}

/** More than a mail site gets in a day. */
const NO_CEILING = 1_000_000_000

export type SiteChange = { day: string; bounced: number; deferred: number; unsent: number }

/** Counts what happened to emails of a day, unless the site has the counts of a later one. */
export const countAtSites = (ctx: AnyCtx, changes: readonly (SiteKey & SiteChange)[]) =>
  ctx.db.run(
    sql`update warm_up_sites w set bounced = w.bounced + c.bounced, deferred = w.deferred + c.deferred, sent = greatest(0, w.sent - c.unsent)
        from unnest(${changes.map(({ domainId }) => domainId)}::bigint[], ${changes.map((one) => one.sourceAddress)}::text[],
                    ${changes.map(({ site }) => site)}::text[], ${changes.map(({ bounced }) => bounced)}::int[],
                    ${changes.map(({ deferred }) => deferred)}::int[], ${changes.map(({ unsent }) => unsent)}::int[],
                    ${changes.map(({ day }) => day)}::date[])
             as c(domain_id, source_address, site, bounced, deferred, unsent, day)
        where w.project_id = ${ctx.projectId} and w.domain_id = c.domain_id and w.source_address = c.source_address and w.site = c.site
          and w.day = c.day`,
  )
