/** The refused rows as a CSV file to correct and upload again: the error, and the original cells. */
import { stringify } from 'csv-stringify/sync'
import type { Fault } from '../../lib/errors.ts'
import type { Row } from './rows.ts'

/** A refused row as it is stored. */
export type Failure = { line: number; code: string; message: string; cells: string[] }

const MESSAGE_LENGTH_MAX = 500

/** The failure of a refused row. */
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

/** The header line of the file. */
export const failureHeader = (headers: string[]): string => lines([['line', 'code', 'message', ...headers]])

/** The other lines of the file. */
export const failureLines = (failures: Failure[]): string =>
  lines(failures.map(({ line, code, message, cells }) => [String(line), code, message, ...cells]))

const lines = (rows: string[][]) =>
  stringify(
    rows.map((cells) => cells.map(escapeFormula)),
    { quoted_match: /[\r\n]/ },
  )

// A number with a sign, such as a phone number, is not a formula.
const FORMULA = /^[\t\r\n ]*[=@+\-\uff1d\uff20\uff0b\uff0d]|^[\t\r]/
const SIGNED_NUMBER = /^[+-][\d ().-]*$/

/** Spreadsheets run text that begins like a formula. An apostrophe before it prevents that. */
export const escapeFormula = (cell: string): string => (FORMULA.test(cell) && !SIGNED_NUMBER.test(cell) ? `'${cell}` : cell)
