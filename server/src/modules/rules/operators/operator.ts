/** What an operator has to say: which argument it takes, what it is true of, here and in SQL, and how it reads. */
import { type Static, type TSchema, Type } from 'typebox'
import { type Sql, sql } from '../../../infra/postgres/db.ts'
import { parseTime } from '../../../lib/times.ts'
import { Duration, durationProblem } from './duration.ts'
import { insideOf, insideSql, type Span } from './span.ts'

export type ValueKind = 'string' | 'number' | 'boolean' | 'date' | 'array'

export type Operator<A = unknown> = {
  /** What people call it. */
  label: string
  args: TSchema
  /** The values that it makes sense for. About any other, and about none, it has its answer too: see the examples. */
  kinds: readonly ValueKind[]
  /** What is wrong with an argument of the right shape, as the end of a sentence, or null. */
  problem?(args: A): string | null
  /** The operator with its argument, to be asked about values as JSON has them; undefined is no value. */
  test(args: A): (value: unknown, nowMs: number) => boolean
  /** The same in SQL, of a `jsonb` that may be null: a boolean that never is. */
  sql(value: Sql, args: A, now: Date): Sql
  /** Of an operator on dates: which ones. */
  span?(args: A): Span
  /** The end of a sentence that begins with the value. */
  says(args: A): string
  /** Its truth table: a value, an argument, and the answer at `EXAMPLE_NOW`. */
  examples: readonly (readonly [value: unknown, args: A, expected: boolean])[]
}

/** When the examples are looked at. */
export const EXAMPLE_NOW = new Date('2026-11-23T09:00:00.000Z')

type Definition<S extends TSchema> = Omit<Operator<Static<S>>, 'args' | 'span'> & { args: S }

/** Declares an operator on values. */
export const operator = <S extends TSchema>(definition: Definition<S>): Operator => definition

/** Declares the opposite of an operator, which is true of everything that the other is false of, missing values included. */
export const opposite = (
  { args, kinds, problem, test, sql: positive }: Operator,
  own: Pick<Operator, 'label' | 'says' | 'examples'>,
): Operator => ({
  ...own,
  args,
  kinds,
  ...(problem && { problem }),
  test: (args) => {
    const holds = test(args)
    return (value, nowMs) => !holds(value, nowMs)
  },
  sql: (value, args, now) => sql`not ${positive(value, args, now)}`,
})

/** Declares a comparison of numbers; anything else compares as false. `compares` gets both as `numeric`. */
export const numberOperator = <S extends TSchema>({
  holds,
  compares,
  ...own
}: Omit<Definition<S>, 'kinds' | 'test' | 'sql'> & {
  holds(value: number, args: Static<S>): boolean
  compares(value: Sql, args: Static<S>): Sql
}): Operator =>
  operator({
    ...own,
    kinds: ['number'],
    test: (args) => (value) => typeof value === 'number' && holds(value, args),
    sql: (value, args) => sql`case when jsonb_typeof(${value}) = 'number' then ${compares(sql`(${value})::numeric`, args)} else false end`,
  })

/** Declares an operator on dates, by the span that they must be in. Text that is no time is as if it were missing. */
export const dateOperator = <S extends TSchema>(
  definition: Omit<Definition<S>, 'kinds' | 'test' | 'sql'> & { span(args: Static<S>): Span },
): Operator => {
  const { span } = definition
  const own: Operator<Static<S>> = {
    ...definition,
    kinds: ['date'],
    test: (args) => {
      const inside = insideOf(span(args))
      return (value, nowMs) => {
        const at = instantOf(value)
        return at !== null && inside(at, nowMs)
      }
    },
    sql: (value, args, now) => sql`coalesce(${insideSql(span(args), instantSql(value), now)}, false)`,
  }
  return own
}

/** The instant that a value names, in milliseconds, or null. */
export const instantOf = (value: unknown): number | null => (typeof value === 'string' ? (parseTime(value)?.getTime() ?? null) : null)

/** The same in SQL, of a `jsonb`. The text of a value that is no string never names one. */
export const instantSql = (value: Sql): Sql => sql`instant_of(${value} #>> '{}')`

const TEXT_LENGTH_MAX = 1000
const SCALARS_MAX = 100

export type Scalar = string | number | boolean

export const Scalar = Type.Unsafe<Scalar>({ type: ['string', 'number', 'boolean'], maxLength: TEXT_LENGTH_MAX })
export const Scalars = Type.Unsafe<Scalar[]>({ type: 'array', items: Scalar, minItems: 1, maxItems: SCALARS_MAX })
export const Text = Type.String({ minLength: 1, maxLength: TEXT_LENGTH_MAX })
export const Time = Type.String({ format: 'time', description: 'ISO 8601.' })

/** What operators that take a duration have in common. */
export const ofDuration = { args: Duration, problem: durationProblem }

/** A scalar within a sentence. */
export const quoted = (value: Scalar): string => (typeof value === 'string' ? `“${value}”` : String(value))

/** The parameter for a number, as `numeric`. */
export const numeric = (value: number): Sql => sql`${String(value)}::numeric`

/** The parameter for anything that JSON can say. */
export const json = (value: unknown): Sql => sql`${JSON.stringify(value)}::jsonb`
