/** Bytes of CSV (RFC 4180) to rows with their place in the file, so that reading can begin again behind any of them. */
import { parse } from 'csv-parse/sync'

/** The longest row, in bytes. Bytes that are read at once must be at least as many. */
export const ROW_BYTES_MAX = 262_144

export type Row = {
  /** Where it begins, counted from one. */
  line: number
  cells: string[]
}

export type Reading = {
  delimiter: string
  /** The line at which the bytes begin. */
  line: number
  /** Does the file end with these bytes? */
  isLast: boolean
  rowsMax: number
}

export type Read = {
  /** Without those that have nothing in any cell. */
  rows: Row[]
  /** How many bytes the rows took, and the line behind them. */
  consumed: number
  line: number
  /** Why there is no reading on, as a sentence. What is in `rows` was read before. */
  problem?: string
}

/** Reads whole rows from the beginning of the bytes, which must be that of a row. */
export function readRows(bytes: Buffer, { delimiter, line: firstLine, isLast, rowsMax }: Reading): Read {
  const { records, isBroken } = recordsOf(bytes, delimiter, rowsMax)
  // What ends with the bytes may go on behind them.
  const whole = isLast ? records : records.filter(({ end }) => end < bytes.length)
  let [at, line] = [0, firstLine]
  const rows = whole.map(({ cells, end }) => {
    const begin = behindEmptyLines(bytes, at)
    const row = { line: line + lineBreaks(bytes, at, begin), cells }
    line = row.line + lineBreaks(bytes, begin, end)
    at = end
    return row
  })
  const filled = rows.filter(({ cells }) => cells.some((cell) => cell.trim() !== ''))
  if (rows.length > 0) return { rows: filled, consumed: at, line }
  const rest = behindEmptyLines(bytes, 0)
  if (rest === bytes.length) return { rows: [], consumed: rest, line: line + lineBreaks(bytes, 0, rest) }
  return { rows: [], consumed: 0, line, problem: problemAt(line + lineBreaks(bytes, 0, rest), isBroken) }
}

type Rec = { cells: string[]; end: number }

function recordsOf(bytes: Buffer, delimiter: string, rowsMax: number): { records: Rec[]; isBroken: boolean } {
  const records: Rec[] = []
  try {
    parse(bytes, {
      delimiter,
      to: rowsMax,
      record_delimiter: ['\r\n', '\n', '\r'],
      skip_empty_lines: true,
      // How many cells a row should have is for others to say; a quotation mark inside an unquoted cell is one.
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

const problemAt = (line: number, isBroken: boolean) =>
  isBroken
    ? `On line ${line} a quotation mark is opened and not closed again.`
    : `The row on line ${line} is longer than ${ROW_BYTES_MAX / 1024} KiB.`

const [LF, CR] = [10, 13]

function behindEmptyLines(bytes: Buffer, from: number): number {
  let at = from
  while (bytes[at] === LF || bytes[at] === CR) at++
  return at
}

function lineBreaks(bytes: Buffer, from: number, to: number): number {
  let count = 0
  for (let at = from; at < to; at++) if (bytes[at] === LF || (bytes[at] === CR && bytes[at + 1] !== LF)) count++
  return count
}

const DELIMITERS = [',', ';', '\t', '|']
const QUOTE = 34

/** The delimiter that the first line has most of, outside of quotation marks; a comma when it has none. */
export function guessDelimiter(bytes: Buffer): string {
  const counts = DELIMITERS.map(() => 0)
  let isQuoted = false
  for (let at = behindEmptyLines(bytes, 0); at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte === QUOTE) isQuoted = !isQuoted
    if (isQuoted) continue
    if (byte === LF || byte === CR) break
    const index = DELIMITERS.indexOf(String.fromCharCode(byte))
    if (index !== -1) counts[index] = (counts[index] as number) + 1
  }
  return DELIMITERS[counts.indexOf(Math.max(...counts))] as string
}
