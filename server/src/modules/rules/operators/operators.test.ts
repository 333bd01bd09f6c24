import fc from 'fast-check'
import { Type } from 'typebox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anyText } from '../../../../test/arbitrary-text.ts'
import { type World, world } from '../../../../test/world.ts'
import { join, sql } from '../../../infra/postgres/db.ts'
import { parseDate } from '../../../lib/times.ts'
import { matches } from '../../../lib/validate.ts'
import { describeDuration, durationMs, durationProblem } from './duration.ts'
import * as registry from './index.ts'
import { declaredInstantOf, EXAMPLE_NOW, json, type Operator, opposite } from './operator.ts'
import { changeOffsetsOf, insideOf, nextChangeOf } from './span.ts'

const operators: [string, Operator][] = Object.entries(registry)

const examples = operators.flatMap(([name, operator]) =>
  operator.examples.map(([value, args, expected]) => ({ name, operator, value, args, expected })),
)

let w: World
beforeAll(async () => {
  w = await world()
})
afterAll(() => w[Symbol.asyncDispose]())

describe('an operator', () => {
  test.each(examples)('$name with $args is $expected for $value', ({ operator, value, args, expected }) => {
    expect(operator.test(args)(value, EXAMPLE_NOW.getTime())).toBe(expected)
  })

  test('has the same results in SQL', async () => {
    const Row = Type.Object({ index: Type.Integer(), holds: Type.Unsafe<boolean | null>({}) })
    const rows = examples.map(({ operator, value, args }, index) => {
      const holds = operator.sql(sql`v.value`, args, EXAMPLE_NOW)
      return sql`select ${index}::int as index, ${holds} as holds from (select ${value === undefined ? sql`null::jsonb` : json(value)} as value offset 0) v`
    })
    const found = await w.db.many(Row, join(rows, ' union all '))
    const results = new Map(found.map(({ index, holds }) => [index, holds]))
    const wrong = examples.filter(({ expected }, index) => results.get(index) !== expected)
    expect(wrong.map(({ name, value, args }) => ({ name, value, args }))).toEqual([])
    expect(found).toHaveLength(examples.length)
  })

  test.each(operators)('%s has examples of both results, of valid arguments and of missing values', (_, { args, examples, problem }) => {
    const check = matches(args)
    for (const [, argument] of examples) {
      expect(check(argument)).toBeNull()
      expect(problem?.(argument) ?? null).toBeNull()
    }
    expect(new Set(examples.map(([, , expected]) => expected))).toEqual(new Set([true, false]))
    for (const missing of [null, undefined]) expect(examples.some(([value]) => value === missing)).toBe(true)
  })
})

test('each operator accepts the types of attributes that it is for', () => {
  const dates = ['after', 'before', 'more_than_ago', 'within_last', 'within_next'].map((name) => [name, ['date']])
  const numbers = ['at_least', 'at_most', 'between', 'greater_than', 'less_than'].map((name) => [name, ['number']])
  expect(Object.fromEntries(operators.map(([name, { kinds }]) => [name, kinds]))).toEqual({
    ...Object.fromEntries([...dates, ...numbers]),
    contains: ['string', 'array'],
    contains_any: ['array'],
    does_not_contain: ['string', 'array'],
    ends_with: ['string'],
    is: ['string', 'number', 'boolean'],
    is_not: ['string', 'number', 'boolean'],
    is_set: ['string', 'array'],
    not_one_of: ['string', 'number', 'boolean'],
    one_of: ['string', 'number', 'boolean'],
    starts_with: ['string'],
  })
})

test('the opposite of an operator refuses the same arguments', () => {
  const { between } = registry
  const outside = opposite(between, { label: 'is outside', describe: () => 'is outside', examples: [[5, [1, 9], false]] })
  for (const { args, problem } of [between, outside]) {
    for (const wrong of [[1], [1, 2, 3], ['1', 2]]) expect(matches(args)(wrong)).not.toBeNull()
    expect(problem?.([9, 1])).toBe('must have the smaller number first')
  }
})

test('a date changes nothing after the last instant that can be stored', () => {
  const last = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
  expect([last - 1, last, last + 1].map((at) => nextChangeOf([0], at, 0))).toEqual([last - 1, Infinity, Infinity])
})

test('the result for a date changes only at its change offsets', () => {
  const bound = fc.oneof(
    fc.constant(null),
    fc.record({ at: fc.integer({ min: -5, max: 5 }) }),
    fc.record({ fromNow: fc.integer({ min: -5, max: 5 }) }),
  )
  const spans = fc.record({ after: bound, upTo: bound })
  fc.assert(
    fc.property(spans, fc.integer({ min: -9, max: 9 }), fc.integer({ min: -9, max: 9 }), (span, at, start) => {
      const inside = insideOf(span)
      const next = nextChangeOf(changeOffsetsOf(span), at, start)
      for (let now = start; now < Math.min(next, 30); now++) expect(inside(at, now)).toBe(inside(at, start))
    }),
  )
})

describe('instant_of in SQL', () => {
  const Instants = Type.Object({ at: Type.Unsafe<Date | null>({}) })
  const readBySql = async (texts: string[]) =>
    (
      await w.db.many(
        Instants,
        sql`select instant_of(i.text) as at from unnest(${texts}::text[]) with ordinality i(text, place) order by i.place`,
      )
    ).map(({ at }) => at?.toISOString() ?? null)
  const readByServer = (texts: string[]) => texts.map((text) => parseDate(text)?.toISOString() ?? null)

  test.each([
    ['the first and last years', ['0001-01-01T00:00Z', '0000-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999999999Z', '0099-02-28']],
    ['offsets that cross them', ['0000-12-31T23:00-02:00', '0001-01-01T00:00+00:01', '0001-01-01T00:01+00:01', '9999-12-31T23:59-00:01']],
    ['offsets less than an hour', ['2026-11-20T09:30-00:30', '2026-11-20T09:30+00:30', '2026-11-20T09:30-00:00', '2026-11-20T09:30+23:59']],
    ['invalid offsets', ['2026-11-20T09:30+24:00', '2026-11-20T09:30-24:00', '2026-11-20T09:30+10:60', '2026-11-20T09:30+1000']],
    ['days of February', ['2024-02-29', '2026-02-29', '2000-02-29', '2100-02-29', '2026-02-30', '2026-02-28']],
    ['invalid days', ['2026-04-31', '2026-01-00', '2026-13-01', '2026-00-10', '0000-01-01', '9999-12-31', '2026-01-99']],
    ['invalid times of day', ['2026-11-20T24:00', '2026-11-20T09:60', '2026-11-20T09:30:60', '2026-11-20T23:59:59']],
    ['fractions', ['2026-11-20T09:30:15.1', '2026-11-20T09:30:15.9999999', '2026-11-20T09:30:15.', '2026-11-20T09:30:15.1234567890']],
    ['other digits', ['٢٠٢٦-١١-٢٠', '２０２６-11-20', '2026-11-2０']],
    ['white space', ['2026-11-20\n', '\n2026-11-20', ' 2026-11-20', '2026-11-20 09:30', '']],
    ['other words', ['infinity', 'now', 'epoch', 'today', 'null', '2026-W01', '20261120', '2026-11-20t09:30z']],
  ])('reads %s as the server does', async (_, texts) => expect(await readBySql(texts)).toEqual(readByServer(texts)))

  test('reads any text as the server does', async () => {
    const two = fc.oneof(
      fc.constantFrom('00', '01', '02', '12', '13', '23', '24', '28', '29', '30', '31', '59', '60'),
      fc.stringMatching(/^[0-9]{2}$/),
    )
    const year = fc.constantFrom('1969', '1900', '1972', '2000', '2023', '2024', '2026', '2100', '9999', '0000', '0001', '0004', '0099')
    const or = (arbitrary: fc.Arbitrary<string>) => fc.oneof({ weight: 1, arbitrary: fc.constant('') }, { weight: 3, arbitrary })
    const written = fc
      .tuple(
        fc.tuple(year, two, two).map((parts) => parts.join('-')),
        or(
          fc
            .tuple(
              fc.tuple(two, two).map((parts) => `T${parts.join(':')}`),
              or(fc.tuple(two, or(fc.stringMatching(/^\.[0-9]{0,10}$/))).map((parts) => `:${parts.join('')}`)),
              or(
                fc.oneof(
                  fc.constant('Z'),
                  fc.tuple(fc.constantFrom('+', '-'), two, two).map(([sign, hours, minutes]) => `${sign}${hours}:${minutes}`),
                ),
              ),
            )
            .map((parts) => parts.join('')),
        ),
      )
      .map((parts) => parts.join(''))
    const valid = fc
      .date({ min: new Date('0000-12-31'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
      .map((date) => date.toISOString())
    const any = anyText.filter((text) => !text.includes('\0') && text.isWellFormed())
    const texts = fc.array(fc.oneof(written, valid, any), { minLength: 400, maxLength: 600 })
    let read = 0
    await fc.assert(
      fc.asyncProperty(texts, async (some) => {
        const expected = readByServer(some)
        read += expected.filter((at) => at !== null).length
        expect(await readBySql(some)).toEqual(expected)
      }),
      { numRuns: 15 },
    )
    expect(read).toBeGreaterThan(500)
  })
})

describe('declared_instant_of in SQL', () => {
  const Instants = Type.Object({ at: Type.Unsafe<Date | null>({}) })
  const edges = [0, -1, 1, 99_999_999_999, 100_000_000_000, -62_135_596_800, -62_135_596_801, 253_402_300_799_999, 253_402_300_800_000]
  const fractions = [0.001, 0.0005, 1.0005, -0.0015, 1795229781.664, 0.1 + 0.2, 1e-7, 1e300, -1e300, 1e21]
  const texts = ['1795229781', '1795229781664', '999999999', '20261120', '2026', '17952297816', '-1795229781', '1e9', ' 1795229781', '']

  test('reads values as the server does', async () => {
    const number = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer({ min: -1e12, max: 3e14 }).map((ms) => ms / 1000),
    )
    const values = fc.array(fc.oneof(number, fc.maxSafeInteger(), fc.constantFrom(...texts, null, true, [1], {}, '2026-11-20')), {
      maxLength: 200,
    })
    const check = async (some: unknown[]) => {
      const found = await w.db.many(
        Instants,
        sql`select declared_instant_of(i.value) as at
            from jsonb_array_elements(${JSON.stringify(some)}::jsonb) with ordinality i(value, place) order by i.place`,
      )
      expect(found.map(({ at }) => at?.getTime() ?? null)).toEqual(some.map((value) => declaredInstantOf(value)))
    }
    await check([...edges, ...fractions, ...texts])
    await fc.assert(fc.asyncProperty(values, check), { numRuns: 20 })
  })
})

test.each([
  ['90m', 5_400_000, '90 minutes', '90 minutes'],
  ['1h', 3_600_000, '1 hour', 'hour'],
  ['1d', 86_400_000, '1 day', 'day'],
  ['2w', 1_209_600_000, '2 weeks', '2 weeks'],
  ['1y', 31_557_600_000, '1 year', 'year'],
  ['18y', 568_036_800_000, '18 years', '18 years'],
])('the duration %s in milliseconds and in words', (text, ms, words, alone) => {
  expect(durationMs(text)).toBe(ms)
  expect(describeDuration(text)).toBe(words)
  expect(describeDuration(text, true)).toBe(alone)
})

test.each([
  ['73050d', null],
  ['73051d', 'must be at most 200 years'],
  ['200y', null],
  ['201y', 'must be at most 200 years'],
  ['105192000m', null],
  ['105192001m', 'must be at most 200 years'],
])('the duration %s has the problem: %s', (text, problem) => expect(durationProblem(text)).toBe(problem))
