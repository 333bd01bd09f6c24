import fc from 'fast-check'
import { expect, test } from 'vitest'
import { pathOf, pathOfKey } from './attribute-paths.ts'

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
