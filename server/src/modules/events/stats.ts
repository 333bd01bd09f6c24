/** Event counts by name and day. They are updated when events are stored, so reading them reads no events. */
import { type Static, Type } from 'typebox'
import type { Partition } from '../../infra/queue/partitions.ts'
import type { InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import { fault } from '../../lib/errors.ts'
import { Exact } from '../../lib/shapes.ts'
import { DAY_MS } from '../../lib/times.ts'
import { type CountedEvent, countDays, countNames, dayOf } from './counts.ts'
import { countFrequentNames, TOTAL_NAMES } from './frequent-names.ts'
import { readRange } from './range.ts'
import * as queries from './reading.queries.ts'

const DAYS_DEFAULT = 30
const DAYS_MAX = 366
const NAMES_MAX = 100
/** A batch with more names than this may be of a project with too many names to sum. */
const MANY_NAMES = 50

const DAY = '^\\d{4}-\\d\\d-\\d\\d$'
const Day = Type.String({ pattern: DAY, description: 'A day in UTC, such as `2026-11-23`.' })

export const EventStats = Exact({
  since: Day,
  until: Type.String({ pattern: DAY, description: 'The last day, inclusive.' }),
  total: Type.Integer({ description: 'The number of events on these days, across all names.' }),
  has_more: Type.Boolean({ description: 'Whether there are more names than those in `results`.' }),
  results: Type.Array(
    Exact({
      name: Type.String(),
      count: Type.Integer(),
      days: Type.Array(Exact({ day: Day, count: Type.Integer() }), { description: 'Days without events are left out.' }),
    }),
    { description: `At most ${NAMES_MAX} names, those with the most events first.` },
  ),
})
type EventStats = Static<typeof EventStats>

/** Counts the events that this transaction stores, each on the day of its `created_at`. Events that are erased later stay counted. */
export async function countEvents(ctx: InTx, events: CountedEvent[], partition: Partition): Promise<void> {
  if (events.length === 0) return
  const names = countNames(events)
  await queries.addCounts(ctx, partition, countDays(events), names)
  if (names.length > MANY_NAMES) ctx.wake(TOTAL_NAMES)
}

/** Counts events by name and day. Throws 422 when the range has too many days. */
export async function readStats(
  ctx: ProjectCtx,
  { name, ...range }: { name?: string; since?: string; until?: string },
): Promise<EventStats> {
  const days = daysOf(range, ctx.clock.now())
  const [rows, total] = await Promise.all([
    name === undefined ? countFrequentNames(ctx, days, NAMES_MAX + 1) : queries.countsByDay(ctx, days, [name], 1),
    name === undefined ? queries.countOfDays(ctx, days) : null,
  ])
  const found = [...Map.groupBy(rows, ({ name }) => name)].map(([name, rows]) => ({
    name,
    count: rows[0]?.name_total ?? 0,
    days: rows.map(({ day, count }) => ({ day, count })),
  }))
  return {
    since: days.from,
    until: days.to,
    total: total ?? found[0]?.count ?? 0,
    has_more: found.length > NAMES_MAX,
    results: found.slice(0, NAMES_MAX),
  }
}

/** The days that the range overlaps: without a start its last 30 days, without an end up to today. Throws 422 when they are too many. */
export function daysOf(range: { since?: string; until?: string }, now: Date): queries.Days {
  const { since, until } = readRange(range)
  const last = until ? until.getTime() - 1 : Math.max(now.getTime(), since?.getTime() ?? 0)
  const first = since?.getTime() ?? last - (DAYS_DEFAULT - 1) * DAY_MS
  const days = Math.floor(last / DAY_MS) - Math.floor(first / DAY_MS) + 1
  if (days > DAYS_MAX) throw fault('validation_failed', since ? 'since' : 'until', `The range may have at most ${DAYS_MAX} days.`)
  return { from: dayOf(new Date(first)), to: dayOf(new Date(last)) }
}
