/** Conditions on how many events there were: in memory from the times that are kept, in SQL from these or from the events. */
import { join, type Sql, sql } from '../../../infra/postgres/db.ts'
import { whenLater } from '../operators/span.ts'
import type { CompiledCondition, SqlScope, Tracker, UserFacts } from './condition.ts'
import { matchesEventSql } from './event-data.ts'

/** From `least` to `most`, both included; null is any number. */
export type Count = { least: number; most: number | null }

/** How many of the latest times tell whether a count is right. */
export const timesNeeded = ({ least, most }: Count): number => (most === null ? least : most + 1)

export function compileCount(tracker: Tracker, { least, most }: Count, index: number): Omit<CompiledCondition, 'mentions'> {
  const { withinMs } = tracker
  const windowMs = withinMs ?? Number.POSITIVE_INFINITY
  /** Were there so many at least? */
  const reached = (times: readonly number[], count: number, nowMs: number) =>
    count === 0 || (times.length >= count && (times[count - 1] as number) > nowMs - windowMs)
  return {
    tracker,
    holds: (facts, nowMs) => {
      const times = facts.times(index)
      return reached(times, least, nowMs) && (most === null || !reached(times, most + 1, nowMs))
    },
    ...(withinMs !== null && { nextTurn: nextChangeAt(withinMs, least, most, index) }),
    seen: (facts, nowMs) => {
      const times = facts.times(index).filter((time) => time > nowMs - windowMs)
      return { count: times.length, times: times.map((time) => new Date(time).toISOString()) }
    },
    sql: (scope) =>
      scope.source.from === 'events'
        ? { holds: fromEvents(tracker, { least, most }, scope) }
        : fromTimes(tracker, { least, most }, scope, index),
  }
}

/** A window closes behind an event: the one that made it enough, or the one that made it too many. */
function nextChangeAt(withinMs: number, least: number, most: number | null, index: number) {
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

/** Is the person one of those whose events are so? What was stored under an id that was merged away counts for the survivor. */
export const matchingUsers = (tracker: Tracker, { projectId, tables }: SqlScope, also: Sql, having: Sql): Sql =>
  sql`(u.id in (select coalesce(m.merged_into, e.user_id)
                from ${tables.events} e
                left join ${tables.users} m on m.project_id = ${projectId} and m.id = e.user_id and m.merged_into is not null
                where e.project_id = ${projectId} and ${matchesEventSql(tracker)} and ${also}
                group by 1
                having ${having}))`

function fromTimes(tracker: Tracker, { least, most }: Count, scope: SqlScope, index: number): { holds: Sql; turn?: Sql } {
  const { withinMs } = tracker
  const nowMs = scope.now.getTime()
  const reached = (count: number) =>
    withinMs === null ? sql`cardinality(t.times) >= ${count}` : sql`coalesce(t.times[${count}::int] > ${nowMs - withinMs}, false)`
  const enough = least === 0 ? sql`true` : reached(least)
  const holds = most === null ? enough : sql`${enough} and not ${reached(most + 1)}`
  const found = sql`coalesce(${ofTimes(scope, index, holds)}, ${least === 0})`
  if (withinMs === null) return { holds: found }
  const deciding = [...(least === 0 ? [] : [least]), ...(most === null ? [] : [most + 1])]
  const turns = deciding.map((count) => whenLater(sql`t.times[${count}::int] + ${withinMs}`, sql`${nowMs}::bigint`))
  return { holds: found, turn: instantOfMs(ofTimes(scope, index, sql`least(${join(turns, ', ')})`)) }
}

/** An expression over the `times` that a tracker keeps of the person; null when there are none. */
export function ofTimes({ projectId, source, tables }: SqlScope, index: number, expression: Sql): Sql {
  const trackerId = source.from === 'times' ? source.trackerIds[index] : undefined
  if (trackerId === undefined) throw new Error('A tracker of the rule has no id.')
  return sql`(select ${expression} from ${tables.trackedTimes} t
              where t.project_id = ${projectId} and t.tracker_id = ${trackerId} and t.user_id = u.id)`
}

/** Milliseconds as `timestamptz`, exactly. */
export const instantOfMs = (ms: Sql): Sql => sql`('epoch'::timestamptz + ${ms} * interval '1 millisecond')`
