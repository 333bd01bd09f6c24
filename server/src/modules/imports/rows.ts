/** Reads rows from bytes of CSV (RFC 4180), with their positions in the file, so that reading can continue after any row. */
import { parse } from 'csv-parse/sync'
import { CR, LF, QUOTE, skipEmptyLines } from '../../lib/csv.ts'

/** The length of the longest row, in bytes. At least as many bytes must be read at once. */
const ROW_BYTES_MAX = 262_144

/** A file is stored in chunks of this size. A batch reads two, so that every row that begins in the first one is complete. */
export const CHUNK_BYTES = ROW_BYTES_MAX

export type Row = {
  /** The line at which the row begins, from 1. */
  line: number
  cells: string[]
}

export type Reading = {
  delimiter: string
  /** The line at which the bytes begin. */
  line: number
  /** Whether the file ends with these bytes. */
  isLast: boolean
  rowsMax: number
}

export type Read = {
  /** Without rows whose cells are all empty. */
  rows: Row[]
  /** The number of bytes of the rows, and the line after them. */
  consumed: number
  line: number
  /** The reason why reading cannot continue, as a sentence. `rows` are the rows before it. */
  problem?: string
}

/** Reads complete rows. The bytes must start at the beginning of a row. */
export function readRows(bytes: Buffer, { delimiter, line: firstLine, isLast, rowsMax }: Reading): Read {
  const { records, isBroken } = recordsOf(bytes, delimiter, rowsMax)
  // A row at the end of the bytes may continue after them.
  const complete = isLast ? records : records.filter(({ end }) => end < bytes.length)
  let [at, line] = [0, firstLine]
  const rows: Row[] = []
  for (const { cells, end } of complete) {
    const begin = skipEmptyLines(bytes, at)
    const row = { line: line + lineBreaks(bytes, at, begin), cells }
    const unclosed = cells.some(mayBeUnclosed) ? unclosedIn(bytes.subarray(begin, end), delimiter) : undefined
    if (unclosed !== undefined) {
      if (rows.length > 0) break
      return { rows: [], consumed: 0, line, problem: problemAt(row.line + lineBreaks(bytes, begin, begin + unclosed), true) }
    }
    rows.push(row)
    line = row.line + lineBreaks(bytes, begin, end)
    at = end
  }
  const filled = rows.filter(({ cells }) => cells.some((cell) => cell.trim() !== ''))
  if (rows.length > 0) return { rows: filled, consumed: at, line }
  const rest = skipEmptyLines(bytes, 0)
  if (rest === bytes.length) return { rows: [], consumed: rest, line: line + lineBreaks(bytes, 0, rest) }
  return { rows: [], consumed: 0, line, problem: problemAt(line + lineBreaks(bytes, 0, rest), isBroken) }
}

type CsvRecord = { cells: string[]; end: number }

function recordsOf(bytes: Buffer, delimiter: string, rowsMax: number): { records: CsvRecord[]; isBroken: boolean } {
  const records: CsvRecord[] = []
  try {
    parse(bytes, {
      delimiter,
      to: rowsMax,
      record_delimiter: ['\r\n', '\n', '\r'],
      skip_empty_lines: true,
      // The number of cells is checked elsewhere. A quotation mark inside an unquoted cell is an ordinary character.
      relax_column_count: true,
      relax_quotes: true,
      on_record: (cells: string[], { bytes: end }) => {
        records.push({ cells, end })
        return null
      },
    })
    return { records, isBroken: false }
  } catch (error) {
    if ((error as { code?: string }).code !== 'CSV_QUOTE_NOT_CLOSED') throw error
    return { records, isBroken: true }
  }
}

/** The parser keeps the quotation mark of a cell whose quotation goes on after its end. */
const mayBeUnclosed = (cell: string) => cell.startsWith('"') && /[\r\n]/.test(cell)

/**
 * The position in a row of a quotation mark that was not closed: the next one, lines later, was meant to open a cell, so that neither a
 * delimiter nor the end of the row follows it. The parser would make one cell of all the rows between.
 */
function unclosedIn(row: Buffer, delimiter: string): number | undefined {
  const separator = delimiter.charCodeAt(0)
  const isEnd = (at: number) => at >= row.length || row[at] === separator || row[at] === LF || row[at] === CR
  let at = 0
  while (at < row.length) {
    const begin = at
    if (row[at] === QUOTE) {
      at = endOfQuotation(row, at)
      if (!isEnd(at) && lineBreaks(row, begin, at) > 0) return begin
    }
    while (!isEnd(at)) at++
    at++
  }
  return undefined
}

/** The position after the quotation that begins at a quotation mark. Two quotation marks stand for one. */
function endOfQuotation(row: Buffer, from: number): number {
  let at = from + 1
  while (at < row.length && (row[at] !== QUOTE || row[at + 1] === QUOTE)) at += row[at] === QUOTE ? 2 : 1
  return at + 1
}

const problemAt = (line: number, isBroken: boolean) =>
  isBroken
    ? `The quotation mark that opens on line ${line} is not closed.`
    : `The row on line ${line} is longer than ${ROW_BYTES_MAX / 1024} KiB.`

function lineBreaks(bytes: Buffer, from: number, to: number): number {
  let count = 0
  for (let at = from; at < to; at++) if (bytes[at] === LF || (bytes[at] === CR && bytes[at + 1] !== LF)) count++
  return count
}

const SEP_LINE = /^"?sep=([,;|\t])"?[,;|\t]*(?:\r\n|\r|\n)/i
const SEP_LINE_BYTES_MAX = 64

/** The line `sep=;` that tells Excel the delimiter, if the bytes begin with one, and its length. */
export function sepLineOf(bytes: Buffer): { delimiter: string; length: number } | undefined {
  const found = SEP_LINE.exec(bytes.toString('latin1', 0, SEP_LINE_BYTES_MAX))
  return found ? { delimiter: found[1] as string, length: found[0].length } : undefined
}
