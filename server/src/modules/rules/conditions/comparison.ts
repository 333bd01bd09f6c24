/** Comparisons: the operator that a condition has among its members, with its argument. */
import { type TSchema, Type } from 'typebox'
import type { Sql } from '../../../infra/postgres/db.ts'
import type { Fault } from '../../../lib/errors.ts'
import { Exact, OneOf } from '../../../lib/shapes.ts'
import * as registry from '../operators/index.ts'
import type { Operator, Scalar, ValueKind } from '../operators/operator.ts'
import { changeOffsetsOf, insideOf, insideSql } from '../operators/span.ts'

const operators: Record<string, Operator> = registry

/** The kind of the compared value: a known kind, or `any`. */
export type ComparedKind = ValueKind | 'any'

const fits = (operator: Operator, kind: ComparedKind) => kind === 'any' || operator.kinds.includes(kind)

/** An object with these members and an operator that can compare this kind of value. `comparisonFaults` checks that it is one. */
export function Comparing<P extends Record<string, TSchema>>(members: P, kind: ComparedKind) {
  const operators = comparisonMembers(kind)
  return Exact({ ...members, ...operators }, { exactlyOne: Object.keys(operators) })
}

const comparisonMembers = (kind: ComparedKind): Record<string, TSchema> =>
  Object.fromEntries(
    Object.entries(operators)
      .filter(([, operator]) => fits(operator, kind))
      .map(([name, { args }]) => [name, Type.Optional(args)]),
  )

/** The member that declares the values of an attribute. */
export const As = Type.Optional(
  OneOf(['date'], {
    description:
      'Declares that the values of the attribute are dates. A Unix timestamp is then treated as a date too, in seconds or milliseconds, as a number or as text of 9, 10, 12 or 13 digits.',
  }),
)

const namesIn = (condition: object) => Object.keys(condition).filter((name) => Object.hasOwn(operators, name))

/** The faults of the operators of a condition whose shape is correct. `at` is its prefix: empty, or such as `where[0].`. */
export function comparisonFaults(condition: object, kind: ComparedKind, at = ''): Fault[] {
  const [name, ...others] = namesIn(condition)
  const place = at === '' ? 'body' : at.slice(0, -1)
  if (name === undefined) {
    return [
      {
        code: 'parameter_missing',
        param: place,
        message: `The condition \`${place}\` must have an operator, such as \`${exampleFor(kind)}\`.`,
      },
    ]
  }
  if (others.length > 0) {
    return [
      {
        code: 'validation_failed',
        param: place,
        message: `The condition \`${place}\` can have only one operator. Combine several with \`all\`.`,
      },
    ]
  }
  const operator = operators[name] as Operator
  const args = (condition as Record<string, unknown>)[name]
  const param = `${at}${name}`
  if (!fits(operator, kind)) {
    const fitting = Object.keys(comparisonMembers(kind)).map((one) => `\`${one}\``)
    return [
      {
        code: 'validation_failed',
        param,
        message: `The operator \`${param}\` cannot compare ${A[kind]}. Use one of ${fitting.join(', ')}.`,
      },
    ]
  }
  const problem = operator.problem?.(args) ?? null
  if (problem) return [{ code: 'validation_failed', param, message: `The value of \`${param}\` ${problem}.` }]
  if (isTypedLike(operator, args, kind)) return []
  return [
    { code: 'parameter_invalid_format', param, message: `The value of \`${param}\` must be ${A[kind]}, because the attribute is one.` },
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

/** Whether the argument has the type of the attribute. For operators that accept several types; with others it could never be equal. */
function isTypedLike({ kinds }: Operator, args: unknown, kind: ComparedKind): boolean {
  if (kind === 'any' || kind === 'date' || !kinds.includes('boolean')) return true
  return ([args].flat() as Scalar[]).every((one) => typeof one === kind)
}

/** A compiled comparison of JSON values. */
export type Compiled = {
  test(value: unknown, nowMs: number): boolean
  /** `text` as for an operator. */
  sql(value: Sql, now: Date, text?: Sql): Sql
  /** How long after a compared instant the result changes, in milliseconds. */
  changeOffsets: readonly number[]
  description: string
}

export function compileComparison(condition: object): Compiled {
  const { operator, args } = operatorIn(condition)
  return {
    test: operator.test(args),
    sql: (value, now, text) => operator.sql(value, args, now, text),
    changeOffsets: operator.span ? changeOffsetsOf(operator.span(args)) : [],
    description: operator.describe(args),
  }
}

/** A compiled comparison of instants, in milliseconds and as `timestamptz`. */
export type CompiledDates = {
  inside(atMs: number, nowMs: number): boolean
  insideSql(at: Sql, now: Date): Sql
  /** How long after a compared instant the result changes, in milliseconds. */
  changeOffsets: readonly number[]
}

export function compileDates(condition: object): CompiledDates {
  const { operator, args } = operatorIn(condition)
  if (!operator.span) throw new Error('The operator has no span, so it cannot compare instants.')
  const span = operator.span(args)
  return { inside: insideOf(span), insideSql: (at, now) => insideSql(span, at, now), changeOffsets: changeOffsetsOf(span) }
}

function operatorIn(condition: object): { operator: Operator; args: unknown } {
  const { name, args } = comparedBy(condition)
  return { operator: operators[name] as Operator, args }
}

/** The operator of a checked comparison, by its name, and its argument. */
export function comparedBy(condition: object): { name: keyof typeof registry; args: unknown } {
  const [name] = namesIn(condition)
  if (name === undefined) throw new Error('A checked condition has no operator.')
  return { name: name as keyof typeof registry, args: (condition as Record<string, unknown>)[name] }
}
