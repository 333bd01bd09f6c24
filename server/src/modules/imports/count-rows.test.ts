import { describe, expect, test } from 'vitest'
import { rowCounter } from './count-rows.ts'

describe('rowCounter', () => {
  test.each<[string, string, number]>([
    ['no rows', '', 0],
    ['rows with and without a last line break', 'a,b\nc,d', 2],
    ['Windows line breaks', 'a,b\r\nc,d\r\n', 2],
    ['empty lines', 'a,b\n\n\nc,d\n\n', 2],
    ['line breaks in a cell', '"a\nb",c\nd,e\n', 2],
    ['doubled quotation marks', '"a ""b""\n",c\nd,"e""\n"\n', 2],
    ['a quotation mark inside an unquoted cell', '5" pipe,a\nb,6"\nc,d\n', 3],
    ['doubled quotation marks inside an unquoted cell', '5"" pipe,a\nc,d\n', 2],
    ['rows of delimiters and spaces, which are none', ',\na,b\n , \t\n\nc,d', 2],
    ['rows that begin with an empty cell', ',b\n ,c\n,"d\ne"\n', 3],
  ])('%s', (_, text, rows) => {
    expect(rowCounter(',')(Buffer.from(text))).toBe(rows)
    const bytewise = rowCounter(',')
    const counted = [...Buffer.from(text)].map((byte) => bytewise(Buffer.of(byte)))
    expect(counted.at(-1) ?? 0).toBe(rows)
  })
})
