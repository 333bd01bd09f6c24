import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyText } from '../../test/arbitrary-text.ts'
import { instantOf, integerOf, type RowBytes, textOf, valueIn } from './row-bytes.ts'
import { rowsWriter } from './written.ts'

const written = (write: ReturnType<typeof rowsWriter>, rows: RowBytes, starts = rows.starts) => write(rows, starts, '[', ']')

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
  const write = rowsWriter<string>({ id: 'integer', name: 'text', data: 'json', is_open: 'boolean', at: 'instant', nick: { or: ['name'] } })
  const row = fc.record({
    id: fc.oneof(fc.maxSafeInteger(), fc.integer()),
    name: fc.option(storedText),
    data: fc.option(fc.dictionary(storedText, fc.jsonValue())),
    is_open: fc.boolean(),
    at: fc.option(fc.date({ min: new Date('-000050-01-01'), max: new Date('+020000-12-31'), noInvalidDate: true })),
    nick: fc.option(storedText),
  })
  fc.assert(
    fc.property(fc.array(row, { maxLength: 5 }), fc.boolean(), (found, reversed) => {
      const rows = packed(
        columns,
        found.map(({ id, name, data, is_open, at, nick }) => [
          is_open,
          'not asked for',
          id,
          name,
          data && Buffer.from(`\u0001${JSON.stringify(data)}`),
          at,
          nick,
        ]),
      )
      const expected = found.map((row) => ({ ...row, nick: row.nick ?? row.name ?? '' }))
      const starts = reversed ? rows.starts.toReversed() : rows.starts
      expect(written(write, rows, starts)).toBe(JSON.stringify(reversed ? expected.reverse() : expected))
      for (const [n, { id, name, at }] of found.entries()) {
        const start = rows.starts[n] as number
        expect(valueIn(rows, start, 'name', textOf)).toBe(name)
        expect(valueIn(rows, start, 'id', integerOf)).toBe(id)
        expect(valueIn(rows, start, 'at', instantOf)).toBe(at === null ? null : at.getTime())
      }
    }),
  )
})

test.each([
  ['an integer of four bytes', 'integer', Buffer.from('fffffffe', 'hex'), '-2'],
  ['an integer that is not safe', 'integer', Buffer.from('7fffffffffffffff', 'hex'), '9223372036854775807'],
  ['the last millisecond of a year', 'instant', microseconds(Date.UTC(2025, 11, 31, 23, 59, 59, 999)), '"2025-12-31T23:59:59.999Z"'],
  ['microseconds, which are left out', 'instant', microseconds(Date.UTC(2026, 0, 1), 999n), '"2026-01-01T00:00:00.000Z"'],
  ['microseconds long ago', 'instant', microseconds(Date.UTC(1500, 0, 1), 1n), '"1500-01-01T00:00:00.000Z"'],
  ['microseconds before 2000', 'instant', microseconds(Date.UTC(1969, 11, 31, 23, 59, 59, 998), 1n), '"1969-12-31T23:59:59.998Z"'],
] as const)('%s', (_, kind, bytes, json) => {
  expect(written(rowsWriter<string>({ value: kind }), packed(['value'], [[bytes]]))).toBe(`[{"value":${json}}]`)
})

function microseconds(ms: number, more = 0n): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(BigInt(ms - Date.UTC(2000)) * 1000n + more)
  return bytes
}

function bytesOf(value: string | number | boolean | Date | Buffer): Buffer {
  if (typeof value === 'string') return Buffer.from(value)
  if (typeof value === 'boolean') return Buffer.from([value ? 1 : 0])
  if (Buffer.isBuffer(value)) return value
  if (value instanceof Date) return microseconds(value.getTime())
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(BigInt(value))
  return bytes
}

/** Rows of these values, as PostgreSQL sends them. */
function packed(names: string[], rows: (string | number | boolean | Date | Buffer | null)[][]): RowBytes {
  let bytes = Buffer.alloc(0)
  const starts = rows.map((row) => {
    const start = bytes.length
    for (const value of row) {
      const length = Buffer.alloc(4)
      const own = value === null ? Buffer.alloc(0) : bytesOf(value)
      length.writeInt32BE(value === null ? -1 : own.length)
      bytes = Buffer.concat([bytes, length, own])
    }
    return start
  })
  return { names, bytes, starts, release: () => undefined }
}
