import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyText } from '../../test/arbitrary-text.ts'
import { type Cursor, decodeCursor, encodeCursor } from './cursor.ts'

const cursors = fc.record({
  resource: fc.constant('users'),
  sort: anyText,
  direction: fc.constantFrom('asc', 'desc'),
  position: fc.record({
    sortValue: fc.oneof(
      anyText.filter((text) => !text.includes('\0')),
      fc.maxSafeInteger(),
      fc.constant(null),
    ),
    id: fc.maxSafeNat(),
  }),
  inclusive: fc.boolean(),
  q: anyText,
})

test('a cursor decodes to what was encoded', () =>
  fc.assert(
    fc.property(cursors, (cursor) => {
      expect(decodeCursor(encodeCursor(cursor as Cursor), 'users')).toEqual(cursor)
    }),
  ))

test('a cursor of a first page without a search is short', () => {
  const cursor: Cursor = { resource: 'users', sort: 'id', direction: 'asc', position: { sortValue: 1, id: 1 }, inclusive: false, q: '' }
  const written = JSON.parse(Buffer.from(encodeCursor(cursor), 'base64url').toString())
  expect(written).toEqual({ v: 1, r: 'users', s: 'id', d: 'asc', k: [1, 1] })
})

test('any text decodes to a cursor or to null', () =>
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

describe('null is returned for', () => {
  const write = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  test.each([
    ['a cursor of another resource', write({ v: 1, r: 'keys', s: 'id', d: 'asc', k: [1, 1] })],
    ['a cursor of another version', write({ v: 2, r: 'users', s: 'id', d: 'asc', k: [1, 1] })],
    ['a position that is not a pair', write({ v: 1, r: 'users', s: 'id', d: 'asc', k: [1] })],
    ['an id that is negative', write({ v: 1, r: 'users', s: 'id', d: 'asc', k: [1, -1] })],
    ['a value with U+0000', write({ v: 1, r: 'users', s: 'id', d: 'asc', k: ['\0', 1] })],
    ['an object for a value', write({ v: 1, r: 'users', s: 'id', d: 'asc', k: [{}, 1] })],
    ['text that is not base64url', 'ü'],
    ['a cursor with another character in it', `${write({ v: 1, r: 'users', s: 'id', d: 'asc', k: [1, 1] })}=`],
    ['a cursor of more than 4096 characters', write({ v: 1, r: 'users', s: 'id', d: 'asc', k: ['x'.repeat(3100), 1] })],
    ['text that is not JSON', Buffer.from('{').toString('base64url')],
  ])('%s', (_, text) => expect(decodeCursor(text, 'users')).toBeNull())
})
