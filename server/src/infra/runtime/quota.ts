/** Quotas per project and calendar month or day (D-RATE-3). */
import { Type } from 'typebox'
import { ApiError } from '../../lib/errors.ts'
import type { ProjectId } from '../../lib/ids.ts'
import { sql } from '../postgres/db.ts'
import type { Config } from './config.ts'
import type { Ctx, InTx } from './ctx.ts'

export type QuotaName = keyof typeof quotas

const quotas = {
  ext_calls_month: { limit: (config: Config) => config.QUOTA_EXT_CALLS_MONTH, what: 'monthly quota of utility calls' },
}

const Used = Type.Object({ used: Type.Integer() })

/** Counts one use. Throws 429, with the seconds until the next month, if the quota is exceeded. Organisation keys have no quota. */
export async function spendQuota(ctx: Ctx & { projectId?: ProjectId }, name: QuotaName): Promise<void> {
  const { limit, what } = quotas[name]
  const max = limit(ctx.config)
  if (max === 0 || ctx.projectId === undefined) return
  const now = ctx.clock.now()
  const period = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1))
  const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)
  const row = await ctx.db.first(
    Used,
    sql`insert into usage_counters as c (project_id, name, period, used)
        values (${ctx.projectId}, ${name}, ${period}::timestamptz::date, 1)
        on conflict (project_id, name, period) do update set used = c.used + 1 where c.used < ${max}
        returning used`,
  )
  if (row) return
  throw new ApiError('quota_exceeded', `This project has used up its ${what}.`, {
    headers: { 'retry-after': String(Math.ceil((next - now.getTime()) / 1000)) },
  })
}

/** Quotas of a day (UTC). */
const dailyQuotas = {
  submissions_day: { limit: (config: Config) => config.QUOTA_SUBMISSIONS_DAY },
}

/** Takes this many uses from today’s quota. If they exceed it, takes none and returns the limit and the current use. */
export async function takeQuota(
  ctx: Pick<Ctx, 'config' | 'clock' | 'db'> & { projectId: ProjectId },
  name: keyof typeof dailyQuotas,
  uses: number,
): Promise<{ limit: number; used: number } | null> {
  const limit = dailyQuotas[name].limit(ctx.config)
  if (limit === 0) return null
  const day = ctx.clock.now().toISOString().slice(0, 10)
  const row = await ctx.db.first(
    Used,
    sql`insert into usage_counters as c (project_id, name, period, used)
        select ${ctx.projectId}, ${name}, ${day}::date, ${uses} where ${uses} <= ${limit}
        on conflict (project_id, name, period) do update set used = c.used + excluded.used where c.used + excluded.used <= ${limit}
        returning used`,
  )
  if (row) return null
  const counted = await ctx.db.first(
    Used,
    sql`select used from usage_counters where project_id = ${ctx.projectId} and name = ${name} and period = ${day}::date`,
  )
  return { limit, used: counted?.used ?? 0 }
}

/** Deletes the counters of periods that began before `before`. */
export const deleteCounters = (ctx: InTx, before: Date, limit: number): Promise<number> =>
  ctx.db.run(
    sql`delete from usage_counters
        where project_id = ${ctx.projectId} and (name, period) in (
          select name, period from usage_counters
          where project_id = ${ctx.projectId} and period < ${before}::timestamptz::date
          order by period
          limit ${limit})`,
  )
