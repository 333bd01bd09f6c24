/** Allowances that renew with the calendar month (D-RATE-3), counted per project. */
import { Type } from 'typebox'
import { ApiError } from '../../lib/errors.ts'
import type { ProjectId } from '../../lib/ids.ts'
import { sql } from '../postgres/db.ts'
import type { Config } from './config.ts'
import type { Ctx } from './ctx.ts'

export type QuotaName = keyof typeof quotas

const quotas = {
  ext_calls_month: { limit: (config: Config) => config.QUOTA_EXT_CALLS_MONTH, what: 'monthly utility allowance' },
}

const Used = Type.Object({ used: Type.Integer() })

/** Counts one use; throws 429 with the seconds to the next month when the allowance is used up. Organisation keys have none. */
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
  throw new ApiError('quota_exceeded', `The ${what} of this project is used up.`, {
    headers: { 'retry-after': String(Math.ceil((next - now.getTime()) / 1000)) },
  })
}
