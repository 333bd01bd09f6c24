import { parse } from 'csv-parse/sync'
import { expect, test } from 'vitest'
import { escapeFormula, failureLines, failureOf } from './failures.ts'

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
