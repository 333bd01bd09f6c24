import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyText } from '../../test/arbitrary-text.ts'
import { packed, textIn } from './row-bytes.ts'
import { isoOf, rowsWriter } from './written.ts'

const written = (write: ReturnType<typeof rowsWriter>, rows: ReturnType<typeof packed>, starts = rows.starts) =>
  write(rows, starts, '[', ']')

test.each([
  '"',
  '\\',
  '\n',
  '\u0001',
  '\u001f',
  'a"b',
  '\u2028',
  '\u007f',
  'Zoë',
  '😀',
  '',
  'plain',
  '"'.repeat(100_000),
  'é'.repeat(100_000),
])('the text %j is escaped as JSON, and what follows it is whole', (text) => {
  const rows = packed(
    ['name', 'more'],
    Array.from({ length: 3 }, () => [text, text]),
  )
  const write = rowsWriter({ name: 'text', more: 'text' })
  expect(written(write, rows)).toBe(JSON.stringify(Array.from({ length: 3 }, () => ({ name: text, more: text }))))
})

/** Text that PostgreSQL can hold. */
const storedText = anyText.map((text) => text.toWellFormed().replaceAll('\0', ''))
const columns = ['is_open', 'other', 'id', 'name', 'data', 'at', 'nick']

test('rows are written as JSON.stringify would write their values, those that are asked for, in any order of the columns', () => {
  const write = rowsWriter<string>({ id: 'as_is', name: 'text', data: 'as_is', is_open: 'boolean', at: 'instant', nick: { or: ['name'] } })
  const row = fc.record({
    id: fc.maxSafeInteger(),
    name: fc.option(storedText),
    data: fc.option(fc.dictionary(storedText, fc.jsonValue())),
    is_open: fc.boolean(),
    at: fc.option(fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })),
    nick: fc.option(storedText),
  })
  fc.assert(
    fc.property(fc.array(row, { maxLength: 5 }), fc.boolean(), (found, reversed) => {
      const rows = packed(
        columns,
        found.map(({ id, name, data, is_open, at, nick }) => [
          is_open ? 't' : 'f',
          'not asked for',
          String(id),
          name,
          data && JSON.stringify(data),
          at && asPostgresWrites(at),
          nick,
        ]),
      )
      const expected = found.map((row) => ({ ...row, nick: row.nick ?? row.name ?? '' }))
      const starts = reversed ? rows.starts.toReversed() : rows.starts
      expect(written(write, rows, starts)).toBe(JSON.stringify(reversed ? expected.reverse() : expected))
      for (const [n, { name, at }] of found.entries()) {
        expect(textIn(rows, rows.starts[n] as number, 'name')).toBe(name)
        const instant = textIn(rows, rows.starts[n] as number, 'at')
        expect(instant === null ? null : isoOf(instant)).toBe(at === null ? null : at.toISOString())
      }
    }),
  )
})

/** Without the zeros at the end of a fraction. */
const asPostgresWrites = (at: Date): string =>
  `${at
    .toISOString()
    .replace('T', ' ')
    .slice(0, -1)
    .replace(/\.?0{1,3}$/, '')}+00`
