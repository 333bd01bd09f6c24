/** Conditions on the number of events: in memory on tracked times, in SQL on tracked times or on the events. */
import { join, type Sql, sql } from '../../../infra/postgres/db.ts'
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
  /** Whether there were at least `count` events. */
  const reached = (times: readonly number[], count: number, nowMs: number) =>
    count === 0 || (times.length >= count && (times[count - 1] as number) > nowMs - windowMs)
  return {
    tracker,
    holds: (facts, nowMs) => {
      const times = facts.times(index)
      return reached(times, least, nowMs) && (most === null || !reached(times, most + 1, nowMs))
    },
    ...(withinMs !== null && { nextChangeAt: nextWindowEnd(withinMs, least, most, index) }),
    evidence: (facts, nowMs) => {
      const times = facts.times(index).filter((time) => time > nowMs - windowMs)
      return { count: times.length, times: times.map((time) => new Date(time).toISOString()) }
    },
    sql: (scope) =>
      scope.source.from === 'events'
        ? { holds: fromEvents(tracker, { least, most }, scope) }
        : fromTimes(tracker, { least, most }, scope, index),
  }
}

/** The count changes when an event leaves the window: the one that made it sufficient, or the one that exceeded the limit. */
function nextWindowEnd(withinMs: number, least: number, most: number | null, index: number) {
  const first = least - 1
  const second = most ?? -1
  return (facts: UserFacts, nowMs: number): number => {
    const times = facts.times(index)
    let next = Number.POSITIVE_INFINITY
    const one = first >= 0 ? times[first] : undefined
    if (one !== undefined && one + withinMs > nowMs) next = one + withinMs
    const other = second >= 0 ? times[second] : undefined
    if (other !== undefined && other + withinMs > nowMs && other + withinMs < next) next = other + withinMs
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
export const matchingUsers = (tracker: Tracker, { projectId, tables }: SqlScope, also: Sql, having: Sql): Sql =>
  sql`(u.id in (select coalesce(m.merged_into, e.user_id)
                from ${tables.events} e
                left join ${tables.users} m on m.project_id = ${projectId} and m.id = e.user_id and m.merged_into is not null
                where e.project_id = ${projectId} and ${matchesEventSql(tracker)} and ${also}
                group by 1
                having ${having}))`

function fromTimes(tracker: Tracker, { least, most }: Count, scope: SqlScope, index: number): { holds: Sql; nextChangeAt?: Sql } {
  const { withinMs } = tracker
  const nowMs = scope.now.getTime()
  const reached = (count: number) =>
    withinMs === null ? sql`cardinality(t.times) >= ${count}` : sql`coalesce(t.times[${count}::int] > ${nowMs - withinMs}, false)`
  const enough = least === 0 ? sql`true` : reached(least)
  const holds = most === null ? enough : sql`${enough} and not ${reached(most + 1)}`
  const found = sql`coalesce(${ofTimes(scope, index, holds)}, ${least === 0})`
  if (withinMs === null) return { holds: found }
  const deciding = [...(least === 0 ? [] : [least]), ...(most === null ? [] : [most + 1])]
  const changes = deciding.map((count) => whenLater(sql`t.times[${count}::int] + ${withinMs}`, sql`${nowMs}::bigint`))
  return { holds: found, nextChangeAt: instantOfMs(ofTimes(scope, index, sql`least(${join(changes, ', ')})`)) }
}

/** An expression over the user’s tracked `times`; null if there are none. */
export function ofTimes({ projectId, source, tables }: SqlScope, index: number, expression: Sql): Sql {
  const trackerId = source.from === 'times' ? source.trackerIds[index] : undefined
  if (trackerId === undefined) throw new Error('A tracker of the rule has no id.')
  return sql`(select ${expression} from ${tables.trackedTimes} t
              where t.project_id = ${projectId} and t.tracker_id = ${trackerId} and t.user_id = u.id)`
}

/** Converts milliseconds to `timestamptz` without rounding. */
export const instantOfMs = (ms: Sql): Sql => sql`('epoch'::timestamptz + ${ms} * interval '1 millisecond')`
