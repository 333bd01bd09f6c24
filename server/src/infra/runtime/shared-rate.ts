/** Rates that all processes share, in the database. `lib/token-bucket.ts` is for rates of one process. */
import { Type } from 'typebox'
import { sql } from '../postgres/db.ts'
import type { ProjectCtx } from './ctx.ts'

/** At most `limit` uses in any interval, wherever it begins (D-CAMP-6). */
export type SharedRate = { limit: number; intervalMs: number }

/** A time in milliseconds, and how many uses count from then on. Sorted by time. */
export type Grant = readonly [atMs: number, uses: number]

export type Taken = {
  granted: number
  atMs: number
  /** For each use that was not granted, in order, when it will be available if no other caller takes it. */
  availableAtMs: number[]
}

const Row = Type.Object({ granted: Type.Integer(), grants: Type.Unsafe<Grant[]>({ type: 'array' }) })

/** Grants are kept in so many slices of an interval. A slice counts until an interval after its last grant. */
const SLICES = 60

/**
 * Takes up to `wanted` uses of a rate of the project. A use counts for a whole interval: a bucket that is refilled meanwhile would grant
 * almost twice the limit in the first one.
 */
export async function takeUses(ctx: ProjectCtx, name: string, rate: SharedRate, wanted: number): Promise<Taken> {
  const { limit, intervalMs } = rate
  const now = ctx.clock.now()
  const atMs = now.getTime()
  await ctx.db.run(
    sql`insert into rate_buckets (project_id, name, tokens, refilled_at) values (${ctx.projectId}, ${name}, ${limit}, ${now})
        on conflict (project_id, name) do nothing`,
  )
  const row = await ctx.db.first(
    Row,
    sql`with held as materialized (
          select grants from rate_buckets where project_id = ${ctx.projectId} and name = ${name} for update
        ), counted as materialized (
          select (g ->> 0)::bigint as at_ms, (g ->> 1)::bigint as uses
          from held
          cross join lateral jsonb_array_elements(held.grants) g
          where (g ->> 0)::bigint > ${atMs - intervalMs}::bigint
        ), granted as materialized (
          select least(${wanted}::bigint, greatest(0, ${limit}::bigint - coalesce(sum(uses), 0)))::bigint as uses from counted
        ), kept as (
          select max(at_ms) as at_ms, sum(uses)::bigint as uses
          from (select at_ms, uses from counted union all select ${atMs}::bigint, uses from granted where uses > 0) grants
          group by div(at_ms * ${SLICES}, ${intervalMs})
        )
        update rate_buckets b
        set grants = coalesce((select jsonb_agg(jsonb_build_array(at_ms, uses) order by at_ms) from kept), '[]')
        from granted
        where b.project_id = ${ctx.projectId} and b.name = ${name}
        returning granted.uses as granted, b.grants`,
  )
  const { granted, grants } = row ?? { granted: 0, grants: [] }
  return { granted, atMs, availableAtMs: availableFrom(grants, rate, wanted - granted) }
}

/**
 * When each of `wanted` further uses becomes available. The first ones wait for a quarter of the limit, so that callers do not come back
 * for every single use.
 */
export function availableFrom(grants: readonly Grant[], { limit, intervalMs }: SharedRate, wanted: number): number[] {
  if (wanted <= 0) return []
  const excess = grants.reduce((sum, [, uses]) => sum + uses, 0) - limit
  // Uses beyond a limit that was lowered are not available again.
  const freed = grants.flatMap(([atMs, uses]) => Array.from({ length: uses }, () => atMs + intervalMs)).slice(Math.max(0, excess))
  const first = freed[Math.min(wanted, Math.max(1, Math.floor(limit / 4)), freed.length) - 1] ?? 0
  return Array.from({ length: wanted }, (_, index) => {
    const rounds = Math.floor(index / Math.max(1, freed.length))
    return Math.max(first, (freed[index % Math.max(1, freed.length)] ?? 0) + rounds * intervalMs)
  })
}

/** Lets uses that were granted at `grantedAtMs` count from a later time, because that is when they were made. */
export const postponeUses = (
  ctx: ProjectCtx,
  name: string,
  { intervalMs }: SharedRate,
  { uses, grantedAtMs, atMs }: { uses: number; grantedAtMs: number; atMs: number },
) =>
  ctx.db.run(
    sql`with held as materialized (
          select grants from rate_buckets where project_id = ${ctx.projectId} and name = ${name} for update
        ), counted as materialized (
          select (g ->> 0)::bigint as at_ms, (g ->> 1)::bigint as uses from held cross join lateral jsonb_array_elements(held.grants) g
        ), moved as (
          select at_ms,
                 case when div(at_ms * ${SLICES}, ${intervalMs}) = div(${grantedAtMs}::bigint * ${SLICES}, ${intervalMs})
                      then uses - ${uses}::bigint else uses end as uses
          from counted
          union all
          select ${atMs}::bigint, ${uses}::bigint
        ), kept as (
          select max(at_ms) as at_ms, sum(uses)::bigint as uses from moved where uses > 0 group by div(at_ms * ${SLICES}, ${intervalMs})
        )
        update rate_buckets b
        set grants = coalesce((select jsonb_agg(jsonb_build_array(at_ms, uses) order by at_ms) from kept), '[]')
        where b.project_id = ${ctx.projectId} and b.name = ${name}`,
  )
