/** The beginning of a file: its delimiter and its columns, and for a dry run the formats of its columns (D-IMP-2). Pure. */

import { guessDelimiter } from '../../lib/csv.ts'
import type { Fault } from '../../lib/errors.ts'
import { isBlank } from '../../lib/text.ts'
import { type Column, columnsOf, type Mapping, targetOf } from './columns.ts'
import { formatsThatFit } from './conversions.ts'
import { CHUNK_BYTES, type Row, readRows, sepLineOf } from './rows.ts'

const UTF8_BOM = Buffer.from([0xef, 0xbb, 0xbf])
/** The rows that formats are guessed from. */
const GUESSED_ROWS_MAX = 1000

/** The delimiter and columns of a file, and the position of its first row. */
export type Heading = { delimiter: string; columns: Column[]; position: number; line: number }

export type HeadingOptions = {
  mapping: Mapping
  delimiter: string | undefined
  /** Whether to guess the formats of columns that have none. Ambiguous dates are read with the month first if `monthFirst`. */
  guess: boolean
  monthFirst: boolean
}

/** Reads the header line from the first chunk of a file. */
export function headingOf(chunk: Buffer, { mapping, delimiter: given, guess, monthFirst }: HeadingOptions): Heading | { faults: Fault[] } {
  const bom = chunk.subarray(0, UTF8_BOM.length).equals(UTF8_BOM) ? UTF8_BOM.length : 0
  const sep = sepLineOf(chunk.subarray(bom))
  const begin = bom + (sep?.length ?? 0)
  const bytes = chunk.subarray(begin)
  const delimiter = given ?? sep?.delimiter ?? guessDelimiter(bytes)
  const reading = { delimiter, line: sep ? 2 : 1, isLast: chunk.length < CHUNK_BYTES }
  const { rows, consumed, line, problem } = readRows(bytes, { ...reading, rowsMax: 1 })
  const [header] = rows
  if (!header) {
    const message = problem ?? 'The file has no header line. Add one with the names of the columns.'
    return { faults: [{ code: 'parameter_invalid_format', param: 'body', message }] }
  }
  const found = columnsOf(header.cells, mapping)
  if ('faults' in found) return found
  const heading = { delimiter, columns: found.columns, position: begin + consumed, line }
  if (!guess) return heading
  const first = readRows(bytes.subarray(consumed), { ...reading, rowsMax: GUESSED_ROWS_MAX }).rows
  return { ...heading, columns: found.columns.map((column, index) => withFormat(column, cellsAt(first, index), monthFirst)) }
}

const cellsAt = (rows: Row[], index: number): string[] =>
  rows.flatMap(({ cells }) => (isBlank(cells[index] ?? '') ? [] : [cells[index] as string]))

/** A column of numbers or dates whose format was not given, in the format that fits its cells. */
function withFormat(column: Column, cells: string[], monthFirst: boolean): Column {
  const target = column.field === null ? undefined : targetOf(column.field)
  if (!target || !('keys' in target) || target.conversion === 'text' || target.conversion.format !== '') return column
  const { type } = target.conversion
  const guesses = formatsThatFit(type, cells, monthFirst).map((format) => `${target.path}:${type}${format === '' ? '' : `(${format})`}`)
  return { ...column, field: guesses[0] as string, guesses }
}
