/** Conditions on when something happened for the first or the last time. */
import { sql } from '../../../infra/postgres/db.ts'
import { nextTurnOf, nextTurnSql } from '../operators/span.ts'
import type { Comparison } from '../rule.ts'
import { compileDates } from './comparison.ts'
import type { CompiledCondition, Tracker, UserFacts } from './condition.ts'
import { instantOfMs, matchingUsers, ofTimes } from './counted.ts'

/** The first time is the one that an earliest-first tracker keeps, the last that of a latest-first one. It never having happened is false. */
export function compileFirstOrLast(tracker: Tracker, comparison: Comparison, index: number): Omit<CompiledCondition, 'mentions'> {
  const { inside, insideSql, turns } = compileDates(comparison)
  const hasTurns = turns.length > 0
  const edge = tracker.keep === 'earliest' ? sql`min(e.created_at)` : sql`max(e.created_at)`
  const nextTurn = (facts: UserFacts, nowMs: number) => {
    const at = facts.times(index)[0]
    return at === undefined ? Number.POSITIVE_INFINITY : nextTurnOf(turns, at, nowMs)
  }
  return {
    tracker,
    holds: (facts, nowMs) => {
      const at = facts.times(index)[0]
      return at !== undefined && inside(at, nowMs)
    },
    ...(hasTurns && { nextTurn }),
    seen: (facts) => {
      const at = facts.times(index)[0]
      return { time: at === undefined ? null : new Date(at).toISOString() }
    },
    sql: (scope) => {
      if (scope.source.from === 'events') {
        return { holds: matchingUsers(tracker, scope, sql`true`, insideSql(edge, scope.now)) }
      }
      const at = instantOfMs(ofTimes(scope, index, sql`t.times[1]`))
      return { holds: sql`coalesce(${insideSql(at, scope.now)}, false)`, ...(hasTurns && { turn: nextTurnSql(turns, at, scope.now) }) }
    },
  }
}
