import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyText } from '../../test/arbitrary-text.ts'
import { rowWriter } from './written.ts'

test.each(['"', '\\', '\n', '\u0000', '\u001f', '\ud800', 'a\udfffb', '\u2028', '\u007f', '😀', 'plain'])(
  'the text %j is escaped as JSON',
  (name) => {
    expect(rowWriter({ name: 'text' })({ name })).toBe(JSON.stringify({ name }))
  },
)

test('a row is written as JSON.stringify would write its values', () => {
  const write = rowWriter({ id: 'as_is', name: 'text', data: 'as_is', is_open: 'as_is', at: 'instant' })
  const rows = fc.record({
    id: fc.maxSafeInteger(),
    name: fc.option(anyText),
    data: fc.dictionary(anyText, fc.jsonValue()),
    is_open: fc.boolean(),
    at: fc.option(fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })),
  })
  fc.assert(
    fc.property(rows, (row) => {
      const text = write({ ...row, data: JSON.stringify(row.data), at: row.at && asPostgresWrites(row.at) })
      expect(text).toBe(JSON.stringify(row))
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
