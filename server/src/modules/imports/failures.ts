/** The refused rows as a CSV file to correct and upload again: the error, and the original cells. */
import { stringify } from 'csv-stringify/sync'
import type { Fault } from '../../lib/errors.ts'
import type { Row } from './rows.ts'

/** A refused row as it is stored. */
export type Failure = { line: number; code: string; message: string; cells: string[] }

const MESSAGE_LENGTH_MAX = 500

/** The failure of a refused row. The first cells of the row of an error file are left out, because its columns are added again. */
export function failureOf({ line, cells }: Row, faults: Fault[], added = 0): Failure {
  const codes = new Set(faults.map(({ code }) => code))
  const message = faults.map(({ message }) => message).join(' ')
  return {
    line,
    code: codes.size === 1 ? ([...codes][0] as string) : 'validation_failed',
    message: message.slice(0, MESSAGE_LENGTH_MAX).toWellFormed(),
    cells: cells.slice(added).map((cell) => cell.replaceAll('\0', '\ufffd')),
  }
}

/**
 * The failure as a caller may see it, who may not see the cells of some columns. In a row with more or fewer cells than the header, every cell
 * may be one of those.
 */
export function visibleFailure(failure: Failure, isHidden: boolean[]): Failure {
  if (!isHidden.includes(true)) return failure
  const { cells } = failure
  return { ...failure, cells: cells.map((cell, at) => (cells.length !== isHidden.length || isHidden[at] ? '' : cell)) }
}

/** The columns that the file has before those of the imported file. */
export const ADDED_COLUMNS = ['line', 'code', 'message']

/** Whether a file with these headers is an error file: it begins with the added columns, and the mapping does not refer to them. */
export const hasAddedColumns = (headers: string[], mapping: Record<string, unknown>): boolean =>
  ADDED_COLUMNS.every((name, index) => headers[index] === name) &&
  !ADDED_COLUMNS.some((name) => Object.hasOwn(mapping, name) && !headers.includes(name, ADDED_COLUMNS.length))

/** The header line of the file. Excel takes a file for UTF-8 only if it begins with a byte order mark. */
export const failureHeader = (headers: string[]): string => `\ufeff${lines([[...ADDED_COLUMNS, ...headers]])}`

/** The other lines of the file. */
export const failureLines = (failures: Failure[]): string =>
  lines(failures.map(({ line, code, message, cells }) => [String(line), code, message, ...cells]))

const lines = (rows: string[][]) =>
  stringify(
    rows.map((cells) => cells.map(escapeFormula)),
    // Delimiters of other files are quoted too, so that the delimiter of this file is detected.
    { quoted_match: /[\r\n;\t|]/ },
  )

// A number with a sign, such as a phone number, is not a formula.
const FORMULA = /^[\t\r\n ]*[=@+\-\uff1d\uff20\uff0b\uff0d]|^[\t\r]/
const SIGNED_NUMBER = /^[+-][\d ().-]*$/

/** Whether a spreadsheet would run the cell as a formula, apart from apostrophes before it. */
function isFormula(cell: string): boolean {
  const bare = withoutApostrophes(cell)
  return FORMULA.test(bare) && !SIGNED_NUMBER.test(bare)
}

/** Spreadsheets run text that begins like a formula. An apostrophe before it prevents that; text with apostrophes gets another one. */
export const escapeFormula = (cell: string): string => (isFormula(cell) ? `'${cell}` : cell)

/** The cell that `escapeFormula` wrote. */
export const unescapeFormula = (cell: string): string => (cell.startsWith("'") && isFormula(cell) ? cell.slice(1) : cell)

function withoutApostrophes(text: string): string {
  let begin = 0
  while (text[begin] === "'") begin++
  return text.slice(begin)
}
