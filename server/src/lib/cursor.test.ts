import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Cursor, decodeCursor, encodeCursor } from './cursor.ts'

const cursors = fc.record({
  resource: fc.constant('users'),
  sort: fc.string({ unit: 'grapheme' }),
  direction: fc.constantFrom('asc', 'desc'),
  position: fc.record({
    sortValue: fc.oneof(
      fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
      fc.maxSafeInteger(),
      fc.constant(null),
    ),
    id: fc.maxSafeNat(),
  }),
  inclusive: fc.boolean(),
  q: fc.string({ unit: 'grapheme' }),
})

test('a cursor reads back as it was written', () =>
  fc.assert(
    fc.property(cursors, (cursor) => {
      expect(decodeCursor(encodeCursor(cursor as Cursor), 'users')).toEqual(cursor)
    }),
  ))

test('whatever somebody sends, it is a cursor or nothing', () =>
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json().map((json) => Buffer.from(json).toString('base64url')),
      ),
      (text) => {
        const read = decodeCursor(text, 'users')
        expect(read === null || read.resource === 'users').toBe(true)
      },
    ),
  ))

describe('is not a cursor', () => {
  const write = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  test.each([
    ['of another resource', write({ v: 1, r: 'keys', s: 'id', d: 'asc', k: [1, 1] })],
    ['of another version', write({ v: 2, r: 'users', s: 'id', d: 'asc', k: [1, 1] })],
    ['a position that is no pair', write({ v: 1, r: 'users', s: 'id', d: 'asc', k: [1] })],
    ['an id that is no id', write({ v: 1, r: 'users', s: 'id', d: 'asc', k: [1, -1] })],
    ['a value with U+0000', write({ v: 1, r: 'users', s: 'id', d: 'asc', k: ['\0', 1] })],
    ['an object for a value', write({ v: 1, r: 'users', s: 'id', d: 'asc', k: [{}, 1] })],
    ['not base64url', 'ü'],
    ['not JSON', Buffer.from('{').toString('base64url')],
  ])('%s', (_, text) => expect(decodeCursor(text, 'users')).toBeNull())
})
