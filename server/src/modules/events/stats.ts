/** Event counts, by name and day. They are kept as events are stored, so that reading them needs no events. */
import { type Static, Type } from 'typebox'
import type { Partition } from '../../infra/queue/partitions.ts'
import type { InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import { fault } from '../../lib/errors.ts'
import { Exact } from '../../lib/shapes.ts'
import { type CountedEvent, countDays, countNames, dayOf } from './counts.ts'
import { readRange } from './range.ts'
import * as queries from './reading.queries.ts'

const DAY_MS = 86_400_000
const DAYS_DEFAULT = 30
const DAYS_MAX = 366
const NAMES_MAX = 100

const DAY = '^\\d{4}-\\d\\d-\\d\\d$'
const Day = Type.String({ pattern: DAY, description: 'A day in UTC, such as `2026-11-23`.' })

export const EventStats = Exact({
  since: Day,
  until: Type.String({ pattern: DAY, description: 'The last day that is counted.' }),
  total: Type.Integer({ description: 'All events of these days.' }),
  names_total: Type.Integer({ description: 'How many names they have.' }),
  results: Type.Array(
    Exact({
      name: Type.String(),
      count: Type.Integer(),
      days: Type.Array(Exact({ day: Day, count: Type.Integer() }), { description: 'Days without an event are left out.' }),
    }),
    { description: `The names with the most events first, at most ${NAMES_MAX}.` },
  ),
})
type EventStats = Static<typeof EventStats>

/** Counts the events that this transaction stores, each on the day of its `created_at`. Events that are erased later stay counted. */
export async function countEvents(ctx: InTx, events: CountedEvent[], partition: Partition): Promise<void> {
  if (events.length > 0) await queries.addCounts(ctx, partition, countDays(events), countNames(events))
}

/** Events by name and day. Throws 422 when these are too many days. */
export async function readStats(
  ctx: ProjectCtx,
  { name, ...range }: { name?: string; since?: string; until?: string },
): Promise<EventStats> {
  const days = daysOf(readRange(range), ctx.clock.now())
  const rows = await queries.countsByDay(ctx, days, name, NAMES_MAX)
  const results = [...Map.groupBy(rows, ({ name }) => name)].map(([name, rows]) => ({
    name,
    count: rows[0]?.name_total ?? 0,
    days: rows.map(({ day, count }) => ({ day, count })),
  }))
  return { since: days.from, until: days.to, total: rows[0]?.total ?? 0, names_total: rows[0]?.names ?? 0, results }
}

/** The days that have a part in the range; the last 30 of it unless it has a beginning, up to today unless it has an end. */
function daysOf({ since, until }: { since?: Date; until?: Date }, now: Date): queries.Days {
  const last = until ? until.getTime() - 1 : Math.max(now.getTime(), since?.getTime() ?? 0)
  const first = since?.getTime() ?? last - (DAYS_DEFAULT - 1) * DAY_MS
  const days = Math.floor(last / DAY_MS) - Math.floor(first / DAY_MS) + 1
  if (days > DAYS_MAX) throw fault('validation_failed', since ? 'since' : 'until', `At most ${DAYS_MAX} days can be counted at once.`)
  return { from: dayOf(new Date(first)), to: dayOf(new Date(last)) }
}
