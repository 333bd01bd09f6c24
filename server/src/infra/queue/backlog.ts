/**
 * The size of the ingest queue, estimated by a few lookups however large it is, and the limit on it: further requests get 429 before
 * memory or disk run out.
 */
import { type Static, Type } from 'typebox'
import { ApiError } from '../../lib/errors.ts'
import type { ProjectId } from '../../lib/ids.ts'
import { Flag, Instant, Nullable } from '../../lib/shapes.ts'
import { sql } from '../postgres/db.ts'
import type { Config } from '../runtime/config.ts'
import type { Ctx, ProjectCtx } from '../runtime/ctx.ts'

/** The number of newest positions that are all looked up. */
const NEWEST = 128
/** The number of positions that are looked up in each earlier range. */
const PROBES = 32
const DOUBLINGS = 40
const MEASURED_EVERY_MS = 1000
const RETRY_AFTER_MAX_S = 60
/** `Retry-After` is the time until the backlog is down to this part of the limit, so that retries succeed. */
const ROOMY = 0.9

const Backlog = Type.Object({ requests: Type.Integer(), items: Type.Integer(), bytes: Type.Integer(), oldest: Nullable(Instant) })
export type Backlog = Static<typeof Backlog>

const NOTHING: Backlog = { requests: 0, items: 0, bytes: 0, oldest: null }

/**
 * Estimates the backlog from a sample of positions. Positions have gaps, because projects are applied at different speeds: most of those
 * between the first and the last may be free. All of the newest positions are looked up, and some of each range before them; every range
 * is twice as long as the next newer one. One old entry that is stuck hardly changes the result.
 */
export async function measureBacklog(ctx: Ctx): Promise<Backlog> {
  const measured = await ctx.db.first(
    Backlog,
    sql`with ends as materialized (
          select (select position from queue_entries order by position limit 1) as first,
                 (select position from queue_entries order by position desc limit 1) as last
        ), strata as materialized (
          select e.last - r.start as top, r.size, least(r.size, case when r.start = 0 then ${NEWEST}::bigint else ${PROBES}::bigint end) as probes
          from ends e
          cross join generate_series(0, ${DOUBLINGS}::int) as step
          cross join lateral (select case step when 0 then 0 else ${NEWEST}::bigint << (step - 1) end as start) s
          cross join lateral (select s.start, least(${NEWEST}::bigint << step, e.last - e.first + 1) - s.start as size) r
          where r.size > 0
        ), found as materialized (
          select s.size::float8 / s.probes as weight, a.items, a.bytes
          from strata s
          cross join lateral generate_series(0, s.probes - 1) as probe
          cross join lateral (select s.top - floor((probe + random()) * s.size / s.probes)::bigint as position) p
          cross join lateral (select items, octet_length(body) as bytes from queue_entries where position = p.position) a
        )
        select coalesce((select sum(weight) from found), 0)::bigint as requests,
               coalesce((select sum(weight * items) from found), 0)::bigint as items,
               coalesce((select sum(weight * bytes) from found), 0)::bigint as bytes,
               (select received_at from queue_entries order by position limit 1) as oldest`,
  )
  return measured ?? NOTHING
}

/** The last measurement, and how fast the backlog shrank since the one before, in parts of the limit per second. */
type Gauge = { at: number; fullness: number; shrinking: number; measuring: boolean }

/** One for each server: each has its own configuration. */
const gauges = new WeakMap<Config, Gauge>()

function gaugeOf(config: Config): Gauge {
  const known = gauges.get(config)
  if (known) return known
  const gauge = { at: Number.NEGATIVE_INFINITY, fullness: 0, shrinking: 0, measuring: false }
  gauges.set(config, gauge)
  return gauge
}

/**
 * Throws 429 while the backlog is at BACKLOG_ITEMS_MAX or BACKLOG_BYTES_MAX. Call it before each append. One caller a second measures,
 * and the others use the last measurement: if they waited, they could take all the connections.
 */
export async function requireRoom(ctx: Ctx): Promise<void> {
  const gauge = await currentGauge(ctx)
  if (gauge === null || gauge.fullness < 1) return
  ctx.metrics.rateLimited('backlog')
  const seconds = retryAfter(gauge)
  throw new ApiError('rate_limited', `The server has a large backlog. Retry after ${seconds} second${seconds === 1 ? '' : 's'}.`, {
    headers: { 'retry-after': String(seconds) },
  })
}

/** Whether the backlog is below the limits. */
export async function hasRoom(ctx: Ctx): Promise<boolean> {
  const gauge = await currentGauge(ctx)
  return gauge === null || gauge.fullness < 1
}

/** The measurement of this second. Null without a limit. */
async function currentGauge(ctx: Ctx): Promise<Gauge | null> {
  const { config, clock } = ctx
  if (config.BACKLOG_ITEMS_MAX === 0 && config.BACKLOG_BYTES_MAX === 0) return null
  const gauge = gaugeOf(config)
  const now = clock.now().getTime()
  // When the clock was set back, the last measurement lies in the future: it is replaced as well.
  if (!gauge.measuring && Math.abs(now - gauge.at) >= MEASURED_EVERY_MS) await measure(ctx, gauge, now)
  return gauge
}

async function measure(ctx: Ctx, gauge: Gauge, now: number): Promise<void> {
  gauge.measuring = true
  try {
    const { items, bytes } = await measureBacklog(ctx)
    ctx.metrics.backlog(items, bytes)
    const fullness = fullnessOf({ items, bytes }, ctx.config)
    const elapsedS = (now - gauge.at) / 1000
    gauge.shrinking = elapsedS > 0 && Number.isFinite(elapsedS) ? (gauge.fullness - fullness) / elapsedS : 0
    Object.assign(gauge, { at: now, fullness })
  } finally {
    gauge.measuring = false
  }
}

/** The used part of the limit. A limit of 0 means no limit. */
function fullnessOf({ items, bytes }: Pick<Backlog, 'items' | 'bytes'>, config: Config): number {
  const part = (used: number, max: number) => (max === 0 ? 0 : used / max)
  return Math.max(part(items, config.BACKLOG_ITEMS_MAX), part(bytes, config.BACKLOG_BYTES_MAX))
}

/** The number of seconds until there is room, at the speed of the last measurement; the maximum if the backlog does not shrink. */
export function retryAfter({ fullness, shrinking }: { fullness: number; shrinking: number }): number {
  if (shrinking <= 0) return RETRY_AFTER_MAX_S
  return Math.min(RETRY_AFTER_MAX_S, Math.max(1, Math.ceil((fullness - ROOMY) / shrinking)))
}

const OfProject = Type.Object({ waiting_since: Nullable(Instant), parked: Type.Integer() })

/** Since when the oldest accepted request of the project has been waiting, and how many items are parked, counted up to a thousand. */
export const backlogOf = (ctx: ProjectCtx) =>
  ctx.db.one(
    OfProject,
    sql`select (select received_at from queue_entries where project_id = ${ctx.projectId} order by position limit 1) as waiting_since,
               (select count(*) from (select 1 from parked_items where project_id = ${ctx.projectId} limit 1000) p) as parked`,
  )

const Oldest = Type.Object({ received_at: Instant })

/** The age of the oldest accepted request of a project that is not applied yet. Work that can wait lets it go first. */
export async function oldestEntryAgeMs(ctx: Ctx, projectId: ProjectId): Promise<number> {
  const oldest = await ctx.db.first(
    Oldest,
    sql`select received_at from queue_entries where project_id = ${projectId} order by position limit 1`,
  )
  return oldest ? ctx.clock.now().getTime() - oldest.received_at.getTime() : 0
}

/** Are more than this many items of a project waiting? */
export const hasBacklogOver = (ctx: Ctx, projectId: ProjectId, itemsMax: number): Promise<boolean> =>
  ctx.db.value(
    Flag,
    sql`select coalesce(sum(items), 0) > ${itemsMax} as is_over
        from (select items from queue_entries where project_id = ${projectId} order by position limit ${itemsMax + 1}) waiting`,
  )
