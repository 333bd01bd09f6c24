/** Lists as CSV files: their cells, their columns, and how many rows they have. */
import { describe, expect, test } from 'vitest'
import { type CsvCell, csvOf, csvOfRows } from '../src/parts/csv.ts'
import { queryOfAll, readAll } from '../src/parts/paging.ts'

const BOM = '\uFEFF'

test.each<[CsvCell, string]>([
  ['plain', 'plain'],
  [' kept ', ' kept '],
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\nlines', '"two\nlines"'],
  ['two\r\nlines', '"two\r\nlines"'],
  ['=1+1', "'=1+1"],
  ['+61491570110', '+61491570110'],
  ['-2.5', '-2.5'],
  ['+1+1', "'+1+1"],
  ['-2-A1', "'-2-A1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['\r=1', `"'\r=1"`],
  ['=HYPERLINK("x",1)', `"'=HYPERLINK(""x"",1)"`],
  ['1=1', '1=1'],
  [-2, '-2'],
  [0, '0'],
  ['', ''],
  [null, ''],
  [undefined, ''],
])('the cell %j is written as %j', (cell, written) => expect(csvOf([[cell]])).toBe(`${BOM}${written}\r\n`))

test('a file begins with the mark of UTF-8, and each of its lines ends with CR LF', () => {
  expect(csvOf([['a', 'ü'], [1]])).toBe(`${BOM}a,ü\r\n1\r\n`)
  expect(new TextEncoder().encode(csvOf([])).join()).toBe('239,187,191')
})

test('the columns are those of the table, with the second line of a cell after it, and without buttons', () => {
  type Row = { id: number; name: string | null }
  const csv = csvOfRows<Row>(
    [
      { label: 'Name', text: ({ name }) => name, also: [{ label: 'Id', text: ({ id }) => id }] },
      { label: 'Actions' },
      { label: '=Twice', text: ({ id }) => 2 * id },
    ],
    [
      { id: 1, name: 'Ana' },
      { id: 2, name: null },
    ],
  )
  expect(csv).toBe(`${BOM}Name,Id,'=Twice\r\nAna,1,2\r\n,2,4\r\n`)
})

/** Numbers in pages of three, whose cursors say where each begins. Notes which pages were read. */
function numbers(count: number, asked: (string | undefined)[] = []) {
  const all = Array.from({ length: count }, (_, index) => index)
  return async (cursor: string | undefined) => {
    asked.push(cursor)
    const begin = Number(cursor ?? 0)
    return { results: all.slice(begin, begin + 3), nextCursor: begin + 3 < count ? String(begin + 3) : null }
  }
}

describe('the pages of a list', () => {
  test('are all read, in their order', async () => {
    const asked: (string | undefined)[] = []
    expect(await readAll(numbers(7, asked))).toEqual({ rows: [0, 1, 2, 3, 4, 5, 6], isCut: false })
    expect(asked).toEqual([undefined, '3', '6'])
    expect(await readAll(numbers(0))).toEqual({ rows: [], isCut: false })
  })

  test('are read in an order that no change of a row alters', () => {
    const filters = { q: 'ana', archived: true }
    const paged = { ...filters, cursor: 'x', page: 'prev' }
    expect(queryOfAll({ ...paged, sort: 'updated_at', direction: 'desc' })).toEqual({ ...filters, sort: 'id', direction: 'desc' })
    expect(queryOfAll({ ...paged, sort: 'name' })).toEqual({ ...filters, sort: 'name' })
    expect(queryOfAll(paged)).toEqual(filters)
  })

  test.each([
    [6, 6, 6, false],
    [7, 6, 6, true],
    [5, 4, 4, true],
    [4, 4, 4, false],
    [30, 4, 4, true],
    [10_000, undefined, 10_000, false],
    [10_001, undefined, 10_000, true],
  ])('of %i rows, at most %s: %i are read; cut: %s', async (count, most, read, isCut) => {
    const asked: (string | undefined)[] = []
    const found = await readAll(numbers(count, asked), most)
    expect([found.rows.length, found.isCut]).toEqual([read, isCut])
    expect(found.rows.at(-1)).toBe(read - 1)
    expect(asked).toHaveLength(Math.ceil(read / 3))
  })
})
