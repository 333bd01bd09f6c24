import fc from 'fast-check'
import { expect, test } from 'vitest'
import { pathOf, pathOfKey, withValuesAt } from './attribute-paths.ts'

test.each<[string, string[] | null]>([
  ['data.plan', ['plan']],
  ['data.address.city', ['address', 'city']],
  ['data.a\\.b', ['a.b']],
  ['data.a\\.b.c', ['a.b', 'c']],
  ['data.a\\\\.b', ['a\\', 'b']],
  ['data.a\\b', ['a\\b']],
  ['data.😀.\n', ['😀', '\n']],
  ['data. ', [' ']],
  ['data', null],
  ['data.', null],
  ['data..a', null],
  ['data.a.', null],
  ['plan', null],
  ['user.data.plan', null],
  [`data${'.a'.repeat(16)}`, Array(16).fill('a')],
  [`data${'.a'.repeat(17)}`, null],
  [`data.a.${'😀'.repeat(255)}`, ['a', '😀'.repeat(255)]],
  [`data.a.${'😀'.repeat(256)}`, null],
])('the keys of the path %j are %j', (attribute, keys) => expect(pathOf(attribute)).toEqual(keys))

test('the path of a key parses to that key', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (key) => {
      expect(pathOf(pathOfKey(key))).toEqual([key])
    }),
  )
})

type Data = Record<string, unknown>

const isObject = (value: unknown): value is Data => typeof value === 'object' && value !== null && !Array.isArray(value)

/** One path at a time, each with a copy of everything: what setting many at once must come to. */
function withOne(data: Data, [first = '', ...rest]: readonly string[], value: unknown): Data {
  const members = new Map(Object.entries(data))
  const inside = members.get(first)
  if (rest.length === 0 && value === null) members.delete(first)
  else if (rest.length === 0) members.set(first, value)
  else if (isObject(inside)) members.set(first, withOne(inside, rest, value))
  else if (value !== null) members.set(first, withOne({}, rest, value))
  return Object.fromEntries(members)
}

// Few keys, so that paths meet; numbers and the names of prototypes have an order and a meaning of their own.
const key = fc.constantFrom('a', 'b', '1', '0', '__proto__', 'constructor')
const { value } = fc.letrec<{ value: unknown; data: Data }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, fc.constantFrom(null, 1, 'x'), fc.array(tie('value'), { maxLength: 2 }), tie('data')),
  data: fc
    .uniqueArray(fc.tuple(key, tie('value')), { selector: ([name]) => name, maxLength: 4 })
    .map((members) => Object.fromEntries(members)),
}))
const data = fc.uniqueArray(fc.tuple(key, value), { selector: ([name]) => name }).map((members): Data => Object.fromEntries(members))
const values = fc.array(fc.tuple(fc.array(key, { minLength: 1, maxLength: 4 }), value), { maxLength: 12 })

test('values set at many paths come to what they come to one after the other, in the same order', () => {
  fc.assert(
    fc.property(data, values, (before, given) => {
      const original = JSON.stringify([before, given])
      const expected = given.reduce((after, [keys, one]) => withOne(after, keys, one), before)
      expect(JSON.stringify(withValuesAt(before, given))).toBe(JSON.stringify(expected))
      expect(JSON.stringify([before, given])).toBe(original)
    }),
  )
})
