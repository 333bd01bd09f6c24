/** A value compared: the one operator that a condition carries among its members, with its argument. */
import { type TSchema, Type } from 'typebox'
import type { Sql } from '../../../infra/postgres/db.ts'
import type { Fault } from '../../../lib/errors.ts'
import * as registry from '../operators/index.ts'
import type { Operator, Scalar, ValueKind } from '../operators/operator.ts'
import { insideOf, insideSql, turnsOf } from '../operators/span.ts'

const operators: Record<string, Operator> = registry

/** What is compared: a kind of value that is known beforehand, or `any`. */
export type ComparedKind = ValueKind | 'any'

const fits = (operator: Operator, kind: ComparedKind) => kind === 'any' || operator.kinds.includes(kind)

/** The members of a shape in which a value of this kind can be compared. */
export const comparisonMembers = (kind: ComparedKind): Record<string, TSchema> =>
  Object.fromEntries(
    Object.entries(operators)
      .filter(([, operator]) => fits(operator, kind))
      .map(([name, { args }]) => [name, Type.Optional(args)]),
  )

const namesIn = (condition: object) => Object.keys(condition).filter((name) => Object.hasOwn(operators, name))

/** What is wrong with the operators of a condition that has the right shape. `at` is where it stands, empty or `where[0].`. */
export function comparisonFaults(condition: object, kind: ComparedKind, at = ''): Fault[] {
  const [name, ...others] = namesIn(condition)
  const place = at === '' ? 'body' : at.slice(0, -1)
  if (name === undefined) {
    return [
      { code: 'parameter_missing', param: place, message: `In \`${place}\` an operator is missing, such as \`${exampleFor(kind)}\`.` },
    ]
  }
  if (others.length > 0) {
    return [
      { code: 'validation_failed', param: place, message: `In \`${place}\` there must be one operator only. Put others into \`all\`.` },
    ]
  }
  const operator = operators[name] as Operator
  const args = (condition as Record<string, unknown>)[name]
  const param = `${at}${name}`
  if (!fits(operator, kind)) {
    const fitting = Object.keys(comparisonMembers(kind)).map((one) => `\`${one}\``)
    return [{ code: 'validation_failed', param, message: `What is compared by \`${param}\` is ${A[kind]}. Use ${fitting.join(', ')}.` }]
  }
  const problem = operator.problem?.(args) ?? null
  if (problem) return [{ code: 'validation_failed', param, message: `The value of \`${param}\` ${problem}.` }]
  if (isTypedLike(operator, args, kind)) return []
  return [
    { code: 'parameter_invalid_format', param, message: `The value of \`${param}\` must be ${A[kind]}, like what it is compared with.` },
  ]
}

const A: Record<ComparedKind, string> = {
  string: 'a string',
  number: 'a number',
  boolean: 'a boolean',
  date: 'a date',
  array: 'an array',
  any: 'a value',
}

const exampleFor = (kind: ComparedKind) => (kind === 'date' ? 'within_last' : 'is')

/** Can it be equal at all? Asked of operators that take values of several kinds. */
function isTypedLike({ kinds }: Operator, args: unknown, kind: ComparedKind): boolean {
  if (kind === 'any' || kind === 'date' || !kinds.includes('boolean')) return true
  return ([args].flat() as Scalar[]).every((one) => typeof one === kind)
}

/** A comparison made ready to be asked about values as JSON has them. */
export type Compiled = {
  test(value: unknown, nowMs: number): boolean
  sql(value: Sql, now: Date): Sql
  /** How long after an instant that is compared the answer changes. */
  turns: readonly number[]
  says: string
}

export function compileComparison(condition: object): Compiled {
  const { operator, args } = operatorIn(condition)
  return {
    test: operator.test(args),
    sql: (value, now) => operator.sql(value, args, now),
    turns: operator.span ? turnsOf(operator.span(args)) : [],
    says: operator.says(args),
  }
}

/** A comparison of instants made ready, in milliseconds and as `timestamptz`. */
export type CompiledDates = {
  inside(atMs: number, nowMs: number): boolean
  insideSql(at: Sql, now: Date): Sql
  /** How long after an instant the answer about it changes. */
  turns: readonly number[]
}

export function compileDates(condition: object): CompiledDates {
  const { operator, args } = operatorIn(condition)
  if (!operator.span) throw new Error('Instants are compared by an operator that knows no spans.')
  const span = operator.span(args)
  return { inside: insideOf(span), insideSql: (at, now) => insideSql(span, at, now), turns: turnsOf(span) }
}

function operatorIn(condition: object): { operator: Operator; args: unknown } {
  const [name] = namesIn(condition)
  if (name === undefined) throw new Error('A condition that was checked has no operator.')
  return { operator: operators[name] as Operator, args: (condition as Record<string, unknown>)[name] }
}
