/** What each operator implements: its argument, its evaluation in memory and in SQL, its description, and its truth table. */
import { type Static, type TSchema, Type } from 'typebox'
import { type Sql, sql } from '../../../infra/postgres/db.ts'
import { parseDate, parseDeclaredDate } from '../../../lib/times.ts'
import { duration, durationProblem } from './duration.ts'
import { insideOf, insideSql, type Span } from './span.ts'

export const VALUE_KINDS = ['string', 'number', 'boolean', 'date', 'array'] as const
export type ValueKind = (typeof VALUE_KINDS)[number]

export type Operator<A = unknown> = {
  /** The name for display. */
  label: string
  args: TSchema
  /** The kinds of values that it is for. It has a result for other and missing values too: see the examples. */
  kinds: readonly ValueKind[]
  /** The problem of an argument whose shape is correct, as the end of a sentence; null if there is none. */
  problem?(args: A): string | null
  /** The test with its argument, for JSON values; undefined means no value. */
  test(args: A): (value: unknown, nowMs: number) => boolean
  /**
   * The same in SQL, for a `jsonb` that may be null: a boolean that is never null. `text` is the text of a value that is a string, as `->>` has it, if
   * there is a faster way to it than through the `jsonb`.
   */
  sql(value: Sql, args: A, now: Date, text?: Sql): Sql
  /** The span of an operator on dates. */
  span?(args: A): Span
  /** The operator and its argument in words, to follow the name of the value. */
  describe(args: A): string
  /** The truth table at `EXAMPLE_NOW`. The argument of the first row is the example in the API. */
  examples: readonly [Example<A>, ...Example<A>[]]
}

type Example<A> = readonly [value: unknown, args: A, expected: boolean]

/** The current time of the examples. */
export const EXAMPLE_NOW = new Date('2026-11-23T09:00:00.000Z')

type Definition<S extends TSchema> = Omit<Operator<Static<S>>, 'args' | 'span'> & { args: S }

/** Declares an operator on values. */
export const operator = <S extends TSchema>(definition: Definition<S>): Operator => definition

/** Declares the opposite of an operator: it holds whenever the other does not, missing values included. */
export const opposite = (
  { args, kinds, problem, test, sql: positive }: Operator,
  own: Pick<Operator, 'label' | 'describe' | 'examples'>,
): Operator => ({
  ...own,
  args,
  kinds,
  ...(problem && { problem }),
  test: (args) => {
    const holds = test(args)
    return (value, nowMs) => !holds(value, nowMs)
  },
  sql: (value, args, now, text) => sql`not ${positive(value, args, now, text)}`,
})

/** Declares a comparison of numbers. It is false for other values. `compares` gets both sides as `numeric`. */
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

/** How a value compares with the number of the argument. */
type Compared = 'less' | 'equal' | 'greater' | 'not a number'

type Comparing = readonly [value: unknown, args: number, is: Compared]

const COMPARED: readonly [Comparing, ...Comparing[]] = [
  [51, 50, 'greater'],
  [50, 50, 'equal'],
  [49.99, 50, 'less'],
  [-1, -2, 'greater'],
  [1e300, 1e21, 'greater'],
  [0.30000000000000004, 0.3, 'greater'],
  ['50', 50, 'not a number'],
  ['51', 50, 'not a number'],
  ['49', 50, 'not a number'],
  [true, 1, 'not a number'],
  [[50], 50, 'not a number'],
  [null, 50, 'not a number'],
  [undefined, 50, 'not a number'],
]

/**
 * Declares a comparison with one number. `holdsFor` lists how a value may compare with the number for the operator to hold; the examples
 * follow from it.
 */
export const comparison = ({
  label,
  holdsFor,
  holds,
  compares,
}: {
  label: string
  holdsFor: Compared[]
  holds(value: number, args: number): boolean
  compares(value: Sql, args: Sql): Sql
}): Operator => {
  const exampleOf = ([value, args, is]: Comparing): Example<number> => [value, args, holdsFor.includes(is)]
  const [first, ...others] = COMPARED
  return numberOperator({
    label,
    args: Type.Number(),
    holds,
    compares: (value, args) => compares(value, numeric(args)),
    describe: (args) => `${label} ${args}`,
    examples: [exampleOf(first), ...others.map(exampleOf)],
  })
}

/** Declares an operator on dates by the span that they must be in. Text that is not a time counts as missing. */
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

/** The instant of a value, in milliseconds; null if it is not a time. */
export const instantOf = (value: unknown): number | null => (typeof value === 'string' ? (parseDate(value)?.getTime() ?? null) : null)

/** The same in SQL, for a `jsonb`. The text of a value that is not a string is never a time. */
export const instantSql = (value: Sql): Sql => sql`instant_of(${value} #>> '{}')`

/** The instant of a value that is declared a date, which may be a Unix timestamp. */
export const declaredInstantOf = (value: unknown): number | null => parseDeclaredDate(value)?.getTime() ?? null

/** The same in SQL, for a `jsonb`. */
export const declaredInstantSql = (value: Sql): Sql => sql`declared_instant_of(${value})`

const TEXT_LENGTH_MAX = 1000
const SCALARS_MAX = 100

export type Scalar = string | number | boolean

export const Scalar = Type.Unsafe<Scalar>({ type: ['string', 'number', 'boolean'], maxLength: TEXT_LENGTH_MAX })
export const Scalars = Type.Unsafe<Scalar[]>({ type: 'array', items: Scalar, minItems: 1, maxItems: SCALARS_MAX })
export const Text = Type.String({ minLength: 1, maxLength: TEXT_LENGTH_MAX })
export const Time = Type.String({ format: 'date-or-time', description: 'An ISO 8601 time in the years 1 to 9999.' })

/** The members that operators with a duration share. */
export const ofDuration = { args: duration(), problem: durationProblem }

/** A scalar for use in a sentence. */
export const quoted = (value: Scalar): string => (typeof value === 'string' ? `“${value}”` : String(value))

/** A number as a parameter of the type `numeric`. */
export const numeric = (value: number): Sql => sql`${String(value)}::numeric`

/**
 * Whether a value is a string whose text passes `holds`. PostgreSQL compares texts in half of the time that it takes for a `jsonb`, so the
 * kind of the value is looked at only after that.
 */
export const isString = (value: Sql, text: Sql | undefined, holds: (text: Sql) => Sql): Sql =>
  sql`coalesce(${holds(sql`(${text ?? sql`${value} #>> '{}'`}) collate "C"`)} and jsonb_typeof(${value}) = 'string', false)`

/** Any JSON value as a parameter of the type `jsonb`. */
export const json = (value: unknown): Sql => sql`${JSON.stringify(value)}::jsonb`
