/** Filters events by their data. */
import { join, type Sql, sql } from '../../../infra/postgres/db.ts'
import { pathOf, valueAt } from '../../../lib/attribute-paths.ts'
import { declaredInstantOf, declaredInstantSql } from '../operators/operator.ts'
import { instantParam } from '../operators/span.ts'
import type { EventTest } from '../rule.ts'
import { compileComparison, compileDates } from './comparison.ts'
import type { Tracker } from './condition.ts'
import { describeName, pathSql, pathTextSql } from './path.ts'

type CompiledTest = { passes(data: Record<string, unknown>, nowMs: number): boolean; sql: Sql; description: string }

// Tests of event data must not depend on the current time, because events are not evaluated again. `check.ts` refuses such operators.
const ANY_TIME = new Date(0)

function compileTest({ attribute, as, ...operator }: EventTest): CompiledTest {
  const path = pathOf(attribute) ?? []
  const read = valueAt(path)
  const value = sql`(${pathSql(sql`e.data`, path)})`
  const { test, sql: testSql, description: words } = compileComparison(operator)
  const description = `${describeName(attribute.slice('data.'.length))} ${words}`
  if (as === undefined)
    return { passes: (data, nowMs) => test(read(data), nowMs), sql: testSql(value, ANY_TIME, pathTextSql(sql`e.data`, path)), description }
  const { inside, insideSql } = compileDates(operator)
  return {
    passes: (data, nowMs) => {
      const at = declaredInstantOf(read(data))
      return at !== null && inside(at, nowMs)
    },
    sql: sql`coalesce(${insideSql(declaredInstantSql(value), ANY_TIME)}, false)`,
    description,
  }
}

// Keyed by the tracker, which is created once for a rule and evaluated on every event.
const compiled = new WeakMap<Tracker, CompiledTest[]>()

function testsOf(tracker: Tracker): CompiledTest[] {
  const known = compiled.get(tracker)
  if (known) return known
  const tests = tracker.where.map(compileTest)
  compiled.set(tracker, tests)
  return tests
}

/** Whether the data of an event passes all tests of a tracker. */
export function passesWhere(tracker: Tracker, data: Record<string, unknown>, nowMs: number): boolean {
  if (tracker.where.length === 0) return true
  for (const { passes } of testsOf(tracker)) if (!passes(data, nowMs)) return false
  return true
}

/** Whether a tracker counts an event of `events e`: by name, source, instants and data, without the window. */
export function matchesEventSql(tracker: Tracker): Sql {
  const { names, systemOnly, sinceMs, untilMs } = tracker
  return join(
    [
      // To compare with one text takes less time than to look in an array.
      names.length === 1 ? sql`e.name = ${names[0]}` : sql`e.name = any(${names}::text[])`,
      ...(systemOnly ? [sql`e.source = 'system'`] : []),
      ...(sinceMs === null ? [] : [sql`e.created_at >= ${instantParam(sinceMs)}`]),
      ...(untilMs === null ? [] : [sql`e.created_at < ${instantParam(untilMs)}`]),
      ...testsOf(tracker).map((test) => test.sql),
    ],
    ' and ',
  )
}

/** The tests in words, as the end of a sentence; empty if there are none. */
export function describeWhere(where: EventTest[] = []): string {
  const tests = where.map((test) => compileTest(test).description)
  if (tests.length === 0) return ''
  return tests.length === 1 ? ` where ${tests[0]}` : ` where (${tests.join(' and ')})`
}
