/** Conditions on the number of events: in memory on tracked times, in SQL on tracked times or on the events. */
import { join, raw, type Sql, sql } from '../../../infra/postgres/db.ts'
import { whenLater } from '../operators/span.ts'
import type { CompiledCondition, SqlScope, Tracker, UserFacts } from './condition.ts'
import { matchesEventSql } from './event-data.ts'

/** From `least` to `most`, both inclusive; null means no upper limit. */
export type Count = { least: number; most: number | null }

/** How many of the latest times are needed to check a count. */
export const timesNeeded = ({ least, most }: Count): number => (most === null ? least : most + 1)

export function compileCount(tracker: Tracker, { least, most }: Count, index: number): Omit<CompiledCondition, 'dependencies'> {
  const { withinMs } = tracker
  const windowMs = withinMs ?? Number.POSITIVE_INFINITY
  /** Whether there were at least `count` events, of which the first `future` have not come yet. */
  const reached = (times: readonly number[], future: number, count: number, nowMs: number) =>
    count === 0 || (times.length >= future + count && (times[future + count - 1] as number) > nowMs - windowMs)
  return {
    tracker,
    needsTimes: least > 0,
    holds: (facts, nowMs) => {
      const times = facts.times(index)
      const future = countFuture(times, nowMs)
      return reached(times, future, least, nowMs) && (most === null || !reached(times, future, most + 1, nowMs))
    },
    nextChangeAt: nextCountChange(windowMs, least, most, index),
    evidence: (facts, nowMs) => {
      const times = facts.times(index).filter((time) => time > nowMs - windowMs && time <= nowMs)
      return { count: times.length, times: times.map((time) => new Date(time).toISOString()) }
    },
    sql: (scope) =>
      scope.source.from === 'events'
        ? { holds: fromEvents(tracker, { least, most }, scope) }
        : fromTimes(tracker, { least, most }, scope, index),
  }
}

/** How many of the times, the latest first, are after now. Such an event counts from its instant. */
export function countFuture(times: readonly number[], nowMs: number): number {
  let count = 0
  while (count < times.length && (times[count] as number) > nowMs) count++
  return count
}

/**
 * The count changes when the instant of an event comes, or when an event leaves the window: the one that made it sufficient, or the one
 * that exceeded the limit.
 */
function nextCountChange(windowMs: number, least: number, most: number | null, index: number) {
  const first = least - 1
  const second = most ?? -1
  return (facts: UserFacts, nowMs: number): number => {
    const times = facts.times(index)
    const future = countFuture(times, nowMs)
    let next = future > 0 ? (times[future - 1] as number) : Number.POSITIVE_INFINITY
    const one = first >= 0 ? times[future + first] : undefined
    if (one !== undefined && one + windowMs > nowMs && one + windowMs < next) next = one + windowMs
    const other = second >= 0 ? times[future + second] : undefined
    if (other !== undefined && other + windowMs > nowMs && other + windowMs < next) next = other + windowMs
    return next
  }
}

function fromEvents(tracker: Tracker, { least, most }: Count, scope: SqlScope): Sql {
  const window = tracker.withinMs === null ? sql`true` : sql`e.created_at > ${new Date(scope.now.getTime() - tracker.withinMs)}`
  if (least === 0) return sql`not ${matchingUsers(tracker, scope, window, sql`count(*) > ${most}`)}`
  const enough = most === null ? sql`count(*) >= ${least}` : sql`count(*) between ${least} and ${most}`
  return matchingUsers(tracker, scope, window, enough)
}

/** Whether the user’s events pass. Events stored under the id of a merged user count for the remaining user. */
export const matchingUsers = (tracker: Tracker, { projectId, now, tables }: SqlScope, also: Sql, having: Sql): Sql =>
  sql`(u.id in (select coalesce(m.merged_into, e.user_id)
                from ${tables.events} e
                left join ${tables.users} m on m.project_id = ${projectId} and m.id = e.user_id and m.merged_into is not null
                where e.project_id = ${projectId} and ${matchesEventSql(tracker)} and e.created_at <= ${now} and ${also}
                group by 1
                having ${having}))`

function fromTimes(tracker: Tracker, { least, most }: Count, scope: SqlScope, index: number): { holds: Sql; nextChangeAt: Sql } {
  const { withinMs } = tracker
  const nowMs = scope.now.getTime()
  const holds = ofTimes(scope, index, (times) => {
    const reached = (count: number) =>
      withinMs === null ? sql`cardinality(${times}) >= ${count}` : sql`coalesce(${times}[${count}::int] > ${nowMs - withinMs}, false)`
    const enough = least === 0 ? sql`true` : reached(least)
    return most === null ? enough : sql`(${enough} and not ${reached(most + 1)})`
  })
  const found = sql`coalesce(${holds}, ${least === 0})`
  if (withinMs === null) return { holds: found, nextChangeAt: instantOfMs(ofTimes(scope, index, (_, next) => next)) }
  const deciding = [...(least === 0 ? [] : [least]), ...(most === null ? [] : [most + 1])]
  const nextChange = ofTimes(scope, index, (times, next) => {
    const changes = deciding.map((count) => whenLater(sql`${times}[${count}::int] + ${withinMs}`, sql`${nowMs}::bigint`))
    return sql`least(${join([next, ...changes], ', ')})`
  })
  return { holds: found, nextChangeAt: instantOfMs(nextChange) }
}

/**
 * An expression over the user’s tracked `times` up to now, the latest first, and the `next` one after now; null or the value for no times if
 * there are none. Times after now are rare, so the array is mostly read as it is stored, without a subquery for each user.
 */
export function ofTimes({ now }: SqlScope, index: number, expression: (times: Sql, next: Sql) => Sql): Sql {
  const stored = sql`${timesOf(index)}.times`
  const nowMs = sql`${now.getTime()}::bigint`
  return sql`(case when ${stored}[1] > ${nowMs}
                   then (select ${expression(sql`t.times`, sql`t.next`)}
                         from (select array(select x.ms from unnest(${stored}) as x(ms) where x.ms <= ${nowMs} order by x.ms desc) as times,
                                      (select min(x.ms) from unnest(${stored}) as x(ms) where x.ms > ${nowMs}) as next
                               offset 0) t)
                   else ${expression(stored, sql`null::bigint`)} end)`
}

/** The name of the joined tracked times of a tracker. */
const timesOf = (index: number): Sql => raw(`k${index}`)

/**
 * For `from users u`: joins the tracked times that `ofTimes` reads, which is much faster than a look-up for each user. Users without those of
 * the trackers `required` are left out.
 */
export function joinedTimes({ projectId, source, tables }: SqlScope, required: ReadonlySet<number>): Sql {
  if (source.from === 'events') return raw('')
  const { trackerIds, after, last } = source
  return join(
    trackerIds.map((id, index) => {
      const row = timesOf(index)
      return sql` ${required.has(index) ? sql`join` : sql`left join`} ${tables.trackedTimes} ${row} on ${row}.project_id = ${projectId} and ${row}.tracker_id = ${id}
                    and ${row}.user_id = u.id and ${row}.user_id > ${after} and ${row}.user_id <= ${last}`
    }),
    '',
  )
}

/** Converts milliseconds to `timestamptz` without rounding. */
export const instantOfMs = (ms: Sql): Sql => sql`('epoch'::timestamptz + ${ms} * interval '1 millisecond')`
