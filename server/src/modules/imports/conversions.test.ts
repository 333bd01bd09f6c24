import { describe, expect, test } from 'vitest'
import { type Conversion, convert, formatsThatFit } from './conversions.ts'

const of = (type: 'number' | 'boolean' | 'date', format = ''): Conversion => ({ type, format })

test.each<[string, Conversion, unknown]>([
  ['1234.5', of('number'), 1234.5],
  ['1,234.5', of('number'), undefined],
  ['1,234.5', of('number', 'point'), 1234.5],
  ['-1,234,567', of('number', 'point'), -1234567],
  ['1,23', of('number', 'point'), undefined],
  ['.5', of('number', 'point'), 0.5],
  ['1.234,5', of('number', 'comma'), 1234.5],
  ['1 234,5', of('number', 'comma'), 1234.5],
  ['1\u202f234\u202f567,25', of('number', 'comma'), 1234567.25],
  ["1'234,5", of('number', 'comma'), 1234.5],
  ['-,5', of('number', 'comma'), -0.5],
  ['1234,5', of('number', 'comma'), 1234.5],
  ['1.5', of('number', 'comma'), undefined],
  ['', of('number', 'comma'), undefined],
  [',', of('number', 'comma'), undefined],
  ['2026-11-20T09:30:00Z', of('date'), '2026-11-20T09:30:00Z'],
  ['0001-01-01', of('date'), '0001-01-01'],
  ['1795229781', of('date'), '2026-11-21T02:56:21.000Z'],
  ['1795229781664', of('date'), '2026-11-21T02:56:21.664Z'],
  ['20261120', of('date'), undefined],
  ['2026', of('date'), undefined],
  ['86400', of('date', 'unix'), '1970-01-02T00:00:00.000Z'],
  ['-86400', of('date', 'unix'), '1969-12-31T00:00:00.000Z'],
  ['999999999999999', of('date', 'unix'), undefined],
  ['20.11.2026', of('date', 'dmy'), '2026-11-20'],
  ['1/2/1850', of('date', 'dmy'), '1850-02-01'],
  ['1/2/2026 9:05', of('date', 'dmy'), '2026-02-01T09:05:00'],
  ['31-12-1999 23:59:59.25', of('date', 'dmy'), '1999-12-31T23:59:59.25'],
  ['12/31/1999 12:30 AM', of('date', 'mdy'), '1999-12-31T00:30:00'],
  ['12/31/1999 12:30:15 p.m.', of('date', 'mdy'), '1999-12-31T12:30:15'],
  ['12/31/1999 13:30 PM', of('date', 'mdy'), undefined],
  ['31/12/1999', of('date', 'mdy'), undefined],
  ['30.2.2026', of('date', 'dmy'), undefined],
  ['1/2.2026', of('date', 'dmy'), undefined],
  ['1/2/26', of('date', 'dmy'), undefined],
  ['2026/1/2', of('date', 'ymd'), '2026-01-02'],
  ['20260102', of('date', 'ymd'), '2026-01-02'],
  ['20260102 9:05', of('date', 'ymd'), '2026-01-02T09:05:00'],
  ['202611', of('date', 'ymd'), undefined],
  ['2026115', of('date', 'ymd'), undefined],
  ['Yes', of('boolean'), true],
])('%j as %j is %j', (cell, conversion, value) => expect(convert(cell, conversion)).toBe(value))

describe('the formats that fit', () => {
  test.each<['number' | 'date', string[], string[]]>([
    ['number', ['1', '2.5'], ['', 'point']],
    ['number', ['1', '2'], ['', 'point', 'comma']],
    ['number', ['1.234', '2,5'], ['comma']],
    ['number', ['1,234', '2.5'], ['point']],
    ['number', ['x'], ['']],
    ['number', [], ['']],
    ['date', ['2026-01-02', '2026-11-20'], ['', 'ymd']],
    ['date', ['01/02/2026'], ['dmy', 'mdy']],
    ['date', ['13/02/2026', '01/13/2026', '25/12/2026'], ['dmy']],
    ['date', ['1795229781', '1795229782'], ['']],
    ['date', ['45250', '1984', '86400'], ['']],
  ])('%s cells %j are %j', (type, cells, formats) => expect(formatsThatFit(type, cells, false)).toEqual(formats))

  test('read ambiguous dates with the month first where that is usual', () => {
    expect(formatsThatFit('date', ['01/02/2026'], true)).toEqual(['mdy', 'dmy'])
    expect(formatsThatFit('date', ['2026-01-02'], true)).toEqual(['', 'ymd'])
  })
})
