/** Conditions on the time of the first or last event. */
import { sql } from '../../../infra/postgres/db.ts'
import { nextChangeOf, nextChangeSql } from '../operators/span.ts'
import type { Comparison } from '../rule.ts'
import { compileDates } from './comparison.ts'
import type { CompiledCondition, Tracker, UserFacts } from './condition.ts'
import { countFuture, instantOfMs, matchingUsers, ofTimes } from './counted.ts'

/** The tracker keeps the earliest or the latest time. Without any event the condition does not hold. */
export function compileFirstOrLast(tracker: Tracker, comparison: Comparison, index: number): Omit<CompiledCondition, 'dependencies'> {
  const { inside, insideSql, changeOffsets } = compileDates(comparison)
  const edge = tracker.keep === 'earliest' ? sql`min(e.created_at)` : sql`max(e.created_at)`
  /** The time of the first or last event up to now. The earliest time of all is the first one, or there is none yet. */
  const edgeOf = (facts: UserFacts, nowMs: number) => {
    const times = facts.times(index)
    return times[countFuture(times, nowMs)]
  }
  const nextChangeAt = (facts: UserFacts, nowMs: number) => {
    const times = facts.times(index)
    const future = countFuture(times, nowMs)
    const at = times[future]
    const next = future > 0 ? Math.min(times[0] as number, times[future - 1] as number) : Number.POSITIVE_INFINITY
    return at === undefined ? next : Math.min(next, nextChangeOf(changeOffsets, at, nowMs))
  }
  return {
    tracker,
    needsTimes: true,
    holds: (facts, nowMs) => {
      const at = edgeOf(facts, nowMs)
      return at !== undefined && inside(at, nowMs)
    },
    nextChangeAt,
    evidence: (facts, nowMs) => {
      const at = edgeOf(facts, nowMs)
      return { time: at === undefined ? null : new Date(at).toISOString() }
    },
    sql: (scope) => {
      if (scope.source.from === 'events') {
        return { holds: matchingUsers(tracker, scope, sql`true`, insideSql(edge, scope.now)) }
      }
      const at = instantOfMs(ofTimes(scope, index, (times) => sql`${times}[1]`))
      const next = instantOfMs(ofTimes(scope, index, (_, next) => next))
      return {
        holds: sql`coalesce(${insideSql(at, scope.now)}, false)`,
        nextChangeAt: changeOffsets.length === 0 ? next : sql`least(${next}, ${nextChangeSql(changeOffsets, at, scope.now)})`,
      }
    },
  }
}
