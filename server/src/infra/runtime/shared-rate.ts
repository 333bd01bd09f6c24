/** Rates that all processes share, in the database. `lib/token-bucket.ts` is for rates of one process. */
import { Type } from 'typebox'
import { MINUTE_MS } from '../../lib/times.ts'
import { type Sql, sql } from '../postgres/db.ts'
import type { ProjectCtx } from './ctx.ts'

/** At most `limit` uses in any interval, wherever it begins (D-CAMP-6). */
export type SharedRate = { limit: number; intervalMs: number }

/** A rate by its name. */
export type NamedRate = { name: string; rate: SharedRate }

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

/** A grant that is further ahead is one of before the clock was set back, and counts no more. */
const aheadMs = ({ intervalMs }: SharedRate): number => Math.max(intervalMs, MINUTE_MS)

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
          where (g ->> 0)::bigint > ${atMs - intervalMs}::bigint and (g ->> 0)::bigint <= ${atMs + aheadMs(rate)}::bigint
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

const Bucket = Type.Object({ name: Type.String(), grants: Row.properties.grants })

/**
 * How many uses all of these rates have room for, without taking them; or, if one has room for less than a quarter of its limit, when it
 * will: callers need not come back for every single use.
 */
export async function readRoom(ctx: ProjectCtx, rates: NamedRate[]): Promise<{ uses: number; atMs: number }> {
  const nowMs = ctx.clock.now().getTime()
  const names = rates.map(({ name }) => name)
  const buckets =
    names.length === 0
      ? []
      : await ctx.db.many(Bucket, sql`select name, grants from rate_buckets where project_id = ${ctx.projectId} and name = any(${names})`)
  let uses = Number.POSITIVE_INFINITY
  let atMs = nowMs
  for (const { name, rate } of rates) {
    const all = buckets.find((bucket) => bucket.name === name)?.grants ?? []
    const grants = all.filter(([at]) => at > nowMs - rate.intervalMs && at <= nowMs + aheadMs(rate))
    const free = rate.limit - grants.reduce((sum, [, used]) => sum + used, 0)
    let missing = quarterOf(rate) - free
    for (const [at, used] of grants) {
      if (missing <= 0) break
      missing -= used
      atMs = Math.max(atMs, at + rate.intervalMs)
    }
    uses = Math.min(uses, free)
  }
  return { uses: atMs > nowMs ? 0 : uses, atMs }
}

const quarterOf = ({ limit }: SharedRate): number => Math.max(1, Math.floor(limit / 4))

/**
 * When each of `wanted` further uses becomes available. The first ones wait for a quarter of the limit, so that callers do not come back
 * for every single use.
 */
export function availableFrom(grants: readonly Grant[], rate: SharedRate, wanted: number): number[] {
  if (wanted <= 0) return []
  const { limit, intervalMs } = rate
  const excess = grants.reduce((sum, [, uses]) => sum + uses, 0) - limit
  // Uses beyond a limit that was lowered are not available again.
  const freed = grants.flatMap(([atMs, uses]) => Array.from({ length: uses }, () => atMs + intervalMs)).slice(Math.max(0, excess))
  const first = freed[Math.min(wanted, quarterOf(rate), freed.length) - 1] ?? 0
  return Array.from({ length: wanted }, (_, index) => {
    const rounds = Math.floor(index / Math.max(1, freed.length))
    return Math.max(first, (freed[index % Math.max(1, freed.length)] ?? 0) + rounds * intervalMs)
  })
}

/** Uses that were granted at a time. */
export type Uses = { uses: number; grantedAtMs: number }

/** Lets uses count from a later time, because that is when they were made. */
export const postponeUses = (ctx: ProjectCtx, name: string, rate: SharedRate, { atMs, ...granted }: Uses & { atMs: number }) =>
  replaceUses(ctx, name, rate, granted, sql`select ${atMs}::bigint, ${granted.uses}::bigint`)

/** Gives back uses that were not made. */
export const returnUses = (ctx: ProjectCtx, name: string, rate: SharedRate, granted: Uses) =>
  replaceUses(ctx, name, rate, granted, sql`select null::bigint, 0::bigint`)

const replaceUses = (ctx: ProjectCtx, name: string, { intervalMs }: SharedRate, { uses, grantedAtMs }: Uses, by: Sql) =>
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
          ${by}
        ), kept as (
          select max(at_ms) as at_ms, sum(uses)::bigint as uses from moved where uses > 0 group by div(at_ms * ${SLICES}, ${intervalMs})
        )
        update rate_buckets b
        set grants = coalesce((select jsonb_agg(jsonb_build_array(at_ms, uses) order by at_ms) from kept), '[]')
        where b.project_id = ${ctx.projectId} and b.name = ${name}`,
  )
