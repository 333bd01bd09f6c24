import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Read, readRows } from './rows.ts'

const read = (text: string, options: Partial<Parameters<typeof readRows>[1]> = {}): Read =>
  readRows(Buffer.from(text), { delimiter: ',', line: 1, isLast: true, rowsMax: 100, ...options })

describe('rows', () => {
  test.each([
    [
      'a,b\nc,d\n',
      [
        [1, 'a', 'b'],
        [2, 'c', 'd'],
      ],
    ],
    [
      'a,b\r\nc,d',
      [
        [1, 'a', 'b'],
        [2, 'c', 'd'],
      ],
    ],
    [
      'a,b\rc,d\r',
      [
        [1, 'a', 'b'],
        [2, 'c', 'd'],
      ],
    ],
    [
      'a,b\r\nc,d\ne,f',
      [
        [1, 'a', 'b'],
        [2, 'c', 'd'],
        [3, 'e', 'f'],
      ],
    ],
    [
      '"a\nb",c\nd,e',
      [
        [1, 'a\nb', 'c'],
        [3, 'd', 'e'],
      ],
    ],
    [
      '"a\r\nb\r\n",c\r\nd,e',
      [
        [1, 'a\r\nb\r\n', 'c'],
        [4, 'd', 'e'],
      ],
    ],
    [
      '\n\na,b\n\n\nc,d\n\n',
      [
        [3, 'a', 'b'],
        [6, 'c', 'd'],
      ],
    ],
    [
      'a,b\n,\n  ,\t\nc,d',
      [
        [1, 'a', 'b'],
        [4, 'c', 'd'],
      ],
    ],
    ['"say ""hi""",b', [[1, 'say "hi"', 'b']]],
    ['5" pipe,b', [[1, '5" pipe', 'b']]],
    [
      'a\nb,c,d',
      [
        [1, 'a'],
        [2, 'b', 'c', 'd'],
      ],
    ],
    ['Zoë,🙂\n', [[1, 'Zoë', '🙂']]],
    ['"",x', [[1, '', 'x']]],
    ['', []],
    ['\n\n', []],
  ])('of %j', (text, expected) => {
    const { rows, consumed, problem } = read(text)
    expect(rows.map(({ line, cells }) => [line, ...cells])).toEqual(expected)
    expect(Buffer.from(text).subarray(consumed).toString().trim()).toBe('')
    expect(problem).toBeUndefined()
  })

  test('that may continue after the bytes are left for the next read', () => {
    expect(read('a,b\nc,d', { isLast: false })).toMatchObject({ rows: [{ line: 1, cells: ['a', 'b'] }], consumed: 4, line: 2 })
    expect(read('a,b\n"c\n', { isLast: false })).toMatchObject({ rows: [{ line: 1, cells: ['a', 'b'] }], consumed: 4, line: 2 })
    expect(read('a,b\nc,d\r', { isLast: false })).toMatchObject({ consumed: 4, line: 2 })
  })

  test('are at most as many as requested', () => {
    expect(read('a\nb\nc\nd', { rowsMax: 2 })).toMatchObject({ rows: [{ cells: ['a'] }, { cells: ['b'] }], consumed: 4, line: 3 })
  })

  test('without an end are a problem with its line, after the rows before them were read', () => {
    const first = read('a,b\n\n"c,d\ne,f\n', { line: 7 })
    expect(first).toMatchObject({ rows: [{ line: 7 }], line: 8 })
    expect(first.problem).toBeUndefined()
    expect(read('\n"c,d\ne,f\n', { line: 8 })).toMatchObject({
      rows: [],
      consumed: 0,
      problem: 'The quotation mark that opens on line 9 is not closed.',
    })
    expect(read('x'.repeat(1000), { isLast: false }).problem).toBe('The row on line 1 is longer than 256 KiB.')
  })

  test.each<[string, string, number]>([
    ['at the next one that was meant to open a cell', '1,"Ana\n2,Kim\n3,"Lee"\n4,Max\n', 1],
    ['in a row that has other quotations', '1,"a\nb","Ana\n2,"Kim"\n', 2],
    ['at the end of the file', '1,"Ana\n2,Kim\n3,"Lee', 1],
  ])('with a quotation that was not closed are a problem %s', (_, text, line) => {
    expect(read(`0,x\n${text}`)).toMatchObject({ rows: [{ cells: ['0', 'x'] }], consumed: 4, line: 2 })
    expect(read(text)).toMatchObject({ rows: [], consumed: 0, problem: `The quotation mark that opens on line ${line} is not closed.` })
  })

  test.each([
    ['"""a\nb",c\n', ['"a\nb', 'c']],
    ['"""a\nb""",c\n', ['"a\nb"', 'c']],
    ['"5" pipe,"a\nb"\n', ['"5" pipe', 'a\nb']],
  ])('%j has no quotation that was not closed', (text, cells) => {
    expect(read(text)).toMatchObject({ rows: [{ cells }], consumed: text.length })
  })

  const cell = fc.string({ unit: fc.constantFrom('a', 'é', '🙂', '"', ',', '\n', '\r\n', ' ', ';'), maxLength: 6 })
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`

  test('are the same however the file is cut and however often reading continues', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(cell, cell, fc.constantFrom('\n', '\r\n')), { maxLength: 12 }),
        fc.integer({ min: 60, max: 90 }),
        fc.integer({ min: 1, max: 4 }),
        (records, window, rowsMax) => {
          const bytes = Buffer.from(records.map(([a, b, end]) => `${quoted(a)},${quoted(b)}${end}`).join(''))
          const whole = readRows(bytes, { delimiter: ',', line: 1, isLast: true, rowsMax: 1000 })
          const expected = records.map(([a, b]) => [a, b]).filter((cells) => cells.some((text) => text.trim() !== ''))
          expect(whole.rows.map(({ cells }) => cells)).toEqual(expected)
          expect(inPieces(bytes, window, rowsMax)).toEqual(whole.rows)
        },
      ),
      { numRuns: 500 },
    )
  })
})

function inPieces(bytes: Buffer, window: number, rowsMax: number) {
  const rows = []
  let [at, line] = [0, 1]
  while (at < bytes.length) {
    const piece = bytes.subarray(at, at + window)
    const found = readRows(piece, { delimiter: ',', line, isLast: at + piece.length === bytes.length, rowsMax })
    if (found.problem) throw new Error(found.problem)
    rows.push(...found.rows)
    at += found.consumed
    line = found.line
  }
  return rows
}
