/**
 * How much the log of accepted requests holds, told at the price of a few look-ups however much that is, and the refusal of
 * more when it is too much: senders are told to come back before memory or disk suffer.
 */
import { type Static, Type } from 'typebox'
import { ApiError } from '../../lib/errors.ts'
import type { ProjectId } from '../../lib/ids.ts'
import { Instant, Nullable } from '../../lib/shapes.ts'
import { sql } from '../postgres/db.ts'
import type { Config } from '../runtime/config.ts'
import type { Ctx } from '../runtime/ctx.ts'

/** So many of the newest requests are all counted, … */
const NEWEST = 128
/** … and of every range before them so many are looked for. */
const PROBES = 32
const DOUBLINGS = 40
const MEASURED_EVERY_MS = 1000
const RETRY_AFTER_MAX_S = 60
/** Callers come back when there is some room, not at the very bound. */
const ROOMY = 0.9

const Backlog = Type.Object({ requests: Type.Integer(), items: Type.Integer(), bytes: Type.Integer(), oldest: Nullable(Instant) })
export type Backlog = Static<typeof Backlog>

const NOTHING: Backlog = { requests: 0, items: 0, bytes: 0, oldest: null }

/**
 * Positions have holes: projects are applied at their own pace, and what lies between the first position and the last may be
 * empty for the most part. So positions are looked up here and there, and what is found stands for what lies around: all of the
 * newest, and of the range before them, which doubles at each step, a few. One old request that is stuck weighs next to nothing.
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

/** What was measured last, and how fast it went down since the time before, in parts of the bound per second. */
type Gauge = { at: number; fullness: number; shrinking: number; measuring: boolean }

/** One for each server, which has one configuration. */
const gauges = new WeakMap<Config, Gauge>()

function gaugeOf(config: Config): Gauge {
  const known = gauges.get(config)
  if (known) return known
  const gauge = { at: Number.NEGATIVE_INFINITY, fullness: 0, shrinking: 0, measuring: false }
  gauges.set(config, gauge)
  return gauge
}

/**
 * Throws 429 while the log holds as much as BACKLOG_ITEMS_MAX or BACKLOG_BYTES_MAX allow. To be asked before each append.
 * One caller a second measures; the others go by what was measured last, so that nobody waits for a connection that those hold
 * who wait for the measure.
 */
export async function requireRoom(ctx: Ctx): Promise<void> {
  const { config, clock } = ctx
  if (config.BACKLOG_ITEMS_MAX === 0 && config.BACKLOG_BYTES_MAX === 0) return
  const gauge = gaugeOf(config)
  const now = clock.now().getTime()
  // A clock that went back makes the measure look younger than it is; the difference bounds that too.
  if (!gauge.measuring && Math.abs(now - gauge.at) >= MEASURED_EVERY_MS) await measure(ctx, gauge, now)
  if (gauge.fullness < 1) return
  ctx.metrics.rateLimited('backlog')
  const seconds = retryAfter(gauge)
  throw new ApiError(
    'rate_limited',
    `More has been accepted than is processed yet. Retry after ${seconds} second${seconds === 1 ? '' : 's'}.`,
    {
      headers: { 'retry-after': String(seconds) },
    },
  )
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

/** The part of the bound that is used up; a bound of 0 is none. */
function fullnessOf({ items, bytes }: Pick<Backlog, 'items' | 'bytes'>, config: Config): number {
  const part = (used: number, max: number) => (max === 0 ? 0 : used / max)
  return Math.max(part(items, config.BACKLOG_ITEMS_MAX), part(bytes, config.BACKLOG_BYTES_MAX))
}

/** Seconds until there is room at the speed of the last measure; the longest when nothing moves. */
export function retryAfter({ fullness, shrinking }: { fullness: number; shrinking: number }): number {
  if (shrinking <= 0) return RETRY_AFTER_MAX_S
  return Math.min(RETRY_AFTER_MAX_S, Math.max(1, Math.ceil((fullness - ROOMY) / shrinking)))
}

const Oldest = Type.Object({ received_at: Instant })

/** How long the oldest accepted request of a project has waited to be applied: what can wait gives way to it. */
export async function oldestEntryAgeMs(ctx: Ctx, projectId: ProjectId): Promise<number> {
  const oldest = await ctx.db.first(
    Oldest,
    sql`select received_at from queue_entries where project_id = ${projectId} order by position limit 1`,
  )
  return oldest ? ctx.clock.now().getTime() - oldest.received_at.getTime() : 0
}
