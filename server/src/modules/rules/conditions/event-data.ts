/** Which events a tracker keeps, by what they carry. */
import { join, type Sql, sql } from '../../../infra/postgres/db.ts'
import type { EventTest } from '../rule.ts'
import { compileComparison } from './comparison.ts'
import type { Tracker } from './condition.ts'
import { pathOf, pathSql, sayName, valueAt } from './path.ts'

type CompiledTest = { passes(data: Record<string, unknown>, nowMs: number): boolean; sql: Sql; says: string }

// No test of an event may depend on the present, or events would have to be looked at again: `check.ts` refuses such operators.
const ANY_TIME = new Date(0)

function compileTest({ attribute, ...operator }: EventTest): CompiledTest {
  const path = pathOf(attribute) ?? []
  const read = valueAt(path)
  const { test, sql: testSql, says } = compileComparison(operator)
  return {
    passes: (data, nowMs) => test(read(data), nowMs),
    sql: testSql(sql`(${pathSql(sql`e.data`, path)})`, ANY_TIME),
    says: `${sayName(attribute.slice('data.'.length))} ${says}`,
  }
}

// A tracker is made once for a rule and asked about every event.
const compiled = new WeakMap<Tracker, CompiledTest[]>()

function testsOf(tracker: Tracker): CompiledTest[] {
  const known = compiled.get(tracker)
  if (known) return known
  const tests = tracker.where.map(compileTest)
  compiled.set(tracker, tests)
  return tests
}

/** Is everything so that a tracker asks of the data of an event? */
export function passesWhere(tracker: Tracker, data: Record<string, unknown>, nowMs: number): boolean {
  if (tracker.where.length === 0) return true
  for (const { passes } of testsOf(tracker)) if (!passes(data, nowMs)) return false
  return true
}

/** Does a tracker keep the event, in SQL, of `events e`: name, instants and data, but not the window. */
export function matchesEventSql(tracker: Tracker): Sql {
  const { names, sinceMs, untilMs } = tracker
  return join(
    [
      sql`e.name = any(${names}::text[])`,
      ...(sinceMs === null ? [] : [sql`e.created_at >= ${new Date(sinceMs)}`]),
      ...(untilMs === null ? [] : [sql`e.created_at < ${new Date(untilMs)}`]),
      ...testsOf(tracker).map((test) => test.sql),
    ],
    ' and ',
  )
}

/** The tests as the end of a sentence, empty when there are none. */
export function sayWhere(where: EventTest[] = []): string {
  const tests = where.map((test) => compileTest(test).says)
  if (tests.length === 0) return ''
  return tests.length === 1 ? ` where ${tests[0]}` : ` where (${tests.join(' and ')})`
}
