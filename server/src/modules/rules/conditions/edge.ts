/** Conditions on the time of the first or last event. */
import { sql } from '../../../infra/postgres/db.ts'
import { nextChangeOf, nextChangeSql } from '../operators/span.ts'
import type { Comparison } from '../rule.ts'
import { compileDates } from './comparison.ts'
import type { CompiledCondition, Tracker, UserFacts } from './condition.ts'
import { instantOfMs, matchingUsers, ofTimes } from './counted.ts'

/** The tracker keeps the earliest or the latest time. Without any event the condition does not hold. */
export function compileFirstOrLast(tracker: Tracker, comparison: Comparison, index: number): Omit<CompiledCondition, 'dependencies'> {
  const { inside, insideSql, changeOffsets } = compileDates(comparison)
  const canChange = changeOffsets.length > 0
  const edge = tracker.keep === 'earliest' ? sql`min(e.created_at)` : sql`max(e.created_at)`
  const nextChangeAt = (facts: UserFacts, nowMs: number) => {
    const at = facts.times(index)[0]
    return at === undefined ? Number.POSITIVE_INFINITY : nextChangeOf(changeOffsets, at, nowMs)
  }
  return {
    tracker,
    holds: (facts, nowMs) => {
      const at = facts.times(index)[0]
      return at !== undefined && inside(at, nowMs)
    },
    ...(canChange && { nextChangeAt }),
    evidence: (facts) => {
      const at = facts.times(index)[0]
      return { time: at === undefined ? null : new Date(at).toISOString() }
    },
    sql: (scope) => {
      if (scope.source.from === 'events') {
        return { holds: matchingUsers(tracker, scope, sql`true`, insideSql(edge, scope.now)) }
      }
      const at = instantOfMs(ofTimes(scope, index, sql`t.times[1]`))
      return {
        holds: sql`coalesce(${insideSql(at, scope.now)}, false)`,
        ...(canChange && { nextChangeAt: nextChangeSql(changeOffsets, at, scope.now) }),
      }
    },
  }
}
