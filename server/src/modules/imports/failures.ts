/** The rows that could not be imported, as a file to be corrected: what was wrong, and the cells as they were. */
import { stringify } from 'csv-stringify/sync'
import type { Fault } from '../../lib/errors.ts'
import type { Row } from './rows.ts'

/** A row that was refused, as it is kept. */
export type Failure = { line: number; code: string; message: string; cells: string[] }

const MESSAGE_LENGTH_MAX = 500

/** What is kept of a row that was refused. */
export function failureOf({ line, cells }: Row, faults: Fault[]): Failure {
  const codes = new Set(faults.map(({ code }) => code))
  const message = faults.map(({ message }) => message).join(' ')
  return {
    line,
    code: codes.size === 1 ? ([...codes][0] as string) : 'validation_failed',
    message: message.slice(0, MESSAGE_LENGTH_MAX).toWellFormed(),
    cells: cells.map((cell) => cell.replaceAll('\0', '\ufffd')),
  }
}

/** The first line of the file. */
export const failureHeader = (headers: string[]): string => lines([['line', 'code', 'message', ...headers]])

/** Its other lines. */
export const failureLines = (failures: Failure[]): string =>
  lines(failures.map(({ line, code, message, cells }) => [String(line), code, message, ...cells]))

const lines = (rows: string[][]) =>
  stringify(
    rows.map((cells) => cells.map(escapeFormula)),
    { quoted_match: /[\r\n]/ },
  )

// A number with a sign, which a phone number is, computes nothing.
const FORMULA = /^[\t\r\n ]*[=@+\-\uff1d\uff20\uff0b\uff0d]|^[\t\r]/
const SIGNED_NUMBER = /^[+-][\d ().-]*$/

/** Spreadsheets run what begins like a formula; with an apostrophe before it, it is text to them. */
export const escapeFormula = (cell: string): string => (FORMULA.test(cell) && !SIGNED_NUMBER.test(cell) ? `'${cell}` : cell)
