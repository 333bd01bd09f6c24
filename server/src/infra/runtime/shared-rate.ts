/** Rates that all processes share: token buckets in the database. `lib/token-bucket.ts` is for rates of one process. */
import { Type } from 'typebox'
import { sql } from '../postgres/db.ts'
import type { ProjectCtx } from './ctx.ts'

/** `limit` uses per interval. A bucket holds `limit` tokens and is refilled evenly. */
export type SharedRate = { limit: number; intervalMs: number }

const Bucket = Type.Object({ available: Type.Number(), granted: Type.Integer() })

/**
 * Takes up to `wanted` tokens from a bucket of the project. Returns how many were granted and, if they were fewer, how long to wait
 * until the rest, or a quarter of the limit, is available.
 */
export async function takeTokens(
  ctx: ProjectCtx,
  name: string,
  { limit, intervalMs }: SharedRate,
  wanted: number,
): Promise<{ granted: number; waitMs: number }> {
  const now = ctx.clock.now()
  await ctx.db.run(
    sql`insert into rate_buckets (project_id, name, tokens, refilled_at) values (${ctx.projectId}, ${name}, ${limit}, ${now})
        on conflict (project_id, name) do nothing`,
  )
  const row = await ctx.db.first(
    Bucket,
    sql`with held as materialized (
          select least(${limit}::float8, tokens + greatest(0, extract(epoch from ${now}::timestamptz - refilled_at)) * 1000 * ${limit} / ${intervalMs}) as available
          from rate_buckets
          where project_id = ${ctx.projectId} and name = ${name}
          for update
        )
        update rate_buckets b
        set tokens = held.available - least(floor(held.available), ${wanted}), refilled_at = greatest(b.refilled_at, ${now})
        from held
        where b.project_id = ${ctx.projectId} and b.name = ${name}
        returning held.available, least(floor(held.available), ${wanted})::bigint as granted`,
  )
  const { available, granted } = row ?? { available: 0, granted: 0 }
  const missing = Math.min(wanted - granted, limit)
  const waitMs = missing === 0 ? 0 : Math.ceil(((Math.min(missing, Math.max(1, limit / 4)) - (available - granted)) * intervalMs) / limit)
  return { granted, waitMs: Math.max(0, waitMs) }
}
