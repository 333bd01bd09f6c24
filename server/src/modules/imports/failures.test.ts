import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ADDED_COLUMNS, escapeFormula, failureHeader, failureLines, failureOf, unescapeFormula } from './failures.ts'
import { headingOf } from './heading.ts'
import { readRows } from './rows.ts'

test.each([
  ['=1+1', "'=1+1"],
  ['=HYPERLINK("http://x")', '\'=HYPERLINK("http://x")'],
  ['+cmd|calc', "'+cmd|calc"],
  ['-2+3+cmd', "'-2+3+cmd"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['\r', "'\r"],
  [' =1', "' =1"],
  ['＝1+1', "'＝1+1"],
  ['+61 412 345 678', '+61 412 345 678'],
  ['-12.5', '-12.5'],
  ['kim@example.com', 'kim@example.com'],
  ['', ''],
  ["'=1", "''=1"],
  ["'quoted'", "'quoted'"],
])('%j is written as %j', (cell, written) => expect(escapeFormula(cell)).toBe(written))

test('cells are written unchanged', () => {
  const cells = ['two\nlines', 'two\rlines', 'say "hi"', 'a,b', ' x ', '']
  const text = failureLines([{ line: 7, code: 'validation_failed', message: 'Too, long.', cells }])
  expect(parse(text, { record_delimiter: ['\r\n', '\n', '\r'] })).toEqual([['7', 'validation_failed', 'Too, long.', ...cells]])
})

test('a row with several faults has all messages, and characters that can be stored', () => {
  expect(
    failureOf({ line: 3, cells: ['a\0'] }, [
      { code: 'parameter_invalid_format', param: 'email', message: 'One.' },
      { code: 'validation_failed', param: 'locale', message: 'Two.' },
    ]),
  ).toEqual({ line: 3, code: 'validation_failed', message: 'One. Two.', cells: ['a\ufffd'] })
})

test('every cell and header of an error file is read back as it was', () => {
  const text = fc.string({
    unit: fc.constantFrom('=', '+', '-', '@', "'", '\t', '\r', '\n', ' ', '1', 'a', ';', ',', '"', '\uff1d'),
    maxLength: 5,
  })
  const rows = fc.array(fc.tuple(text, text, text), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(rows, (records) => {
      const failures = records.map((cells, index) => ({ line: index + 2, code: 'validation_failed', message: '=x', cells }))
      const file = Buffer.from(failureHeader(['email', '=a;b;c;d;e', 'f']) + failureLines(failures))
      const heading = headingOf(file, { mapping: {}, delimiter: undefined, guess: false, monthFirst: false })
      if ('faults' in heading) throw new Error(JSON.stringify(heading.faults))
      expect(heading.columns.map(({ header }) => header)).toEqual([...ADDED_COLUMNS, 'email', '=a;b;c;d;e', 'f'])
      const { delimiter, line, position } = heading
      const read = readRows(file.subarray(position), { delimiter, line, isLast: true, rowsMax: 100 })
      expect(read.rows.map(({ cells }) => cells.slice(ADDED_COLUMNS.length).map(unescapeFormula))).toEqual(records)
    }),
    { numRuns: 300 },
  )
})
