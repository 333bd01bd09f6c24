/** CSV files as in RFC 4180. */

export type CsvCell = string | number | null | undefined

/** A column of a list, and what its cells have besides their text. Without a text it is not in the file. */
export type CsvColumn<T> = { label: string; text?: (row: T) => CsvCell; also?: { label: string; text: (row: T) => CsvCell }[] }

/** Excel reads a file as UTF-8 only if it begins with this. */
const BOM = '\uFEFF'

/** What a spreadsheet could take for a formula, and run. */
const FORMULA = /^[=+\-@\t\r]/
/** Phone numbers and negative numbers begin like a formula, and are none. */
const NUMBER = /^[+-]\d+(?:\.\d+)?$/

/** A cell, quoted where it must be. */
function cellOf(value: CsvCell): string {
  const text = typeof value === 'string' && FORMULA.test(value) && !NUMBER.test(value) ? `'${value}` : String(value ?? '')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The text of a file. The first row has the names of the columns. */
export const csvOf = (rows: CsvCell[][]): string => BOM + rows.map((row) => `${row.map(cellOf).join(',')}\r\n`).join('')

/** The rows as a file, with the columns that are shown. The second line of a cell is a column of its own. */
export function csvOfRows<T>(columns: CsvColumn<T>[], rows: T[]): string {
  const parts = columns.flatMap(({ label, text, also = [] }) => (text ? [{ label, text }, ...also] : []))
  return csvOf([parts.map(({ label }) => label), ...rows.map((row) => parts.map(({ text }) => text(row)))])
}
