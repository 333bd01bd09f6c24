/** Compiles functions that read rows of a statement as PostgreSQL sends them, instead of looking at each column of each row. */
import pg from 'pg'
import { int4At, textOf } from '../../lib/row-bytes.ts'

/** A column of a result, as far as reading it needs. */
export type Column = { name: string; dataTypeID: number }

/** Reads the row whose first value is at a position. */
export type RowReader = { names: readonly string[]; read: (bytes: Buffer, at: number) => Record<string, unknown> }

/** Reads a value from the bytes of its text. */
type Read = (bytes: Buffer, start: number, end: number) => unknown

const { BOOL, INT2, INT4, INT8 } = pg.types.builtins

/** So many characters of an integer are always safe. */
const SAFE_LENGTH = 15
const MINUS = 0x2d
const ZERO = 0x30

function integerOf(bytes: Buffer, start: number, end: number): number {
  const isNegative = bytes[start] === MINUS
  let value = 0
  for (let at = isNegative ? start + 1 : start; at < end; at++) value = value * 10 + (bytes[at] as number) - ZERO
  return isNegative ? -value : value
}

/** As the driver parses the texts of a type, without making a text where that is easy. */
function readOf({ dataTypeID }: Column): Read {
  if (dataTypeID === BOOL) return (bytes, start) => bytes[start] === 't'.charCodeAt(0)
  const parse = pg.types.getTypeParser(dataTypeID, 'text')
  const read: Read = (bytes, start, end) => parse(textOf(bytes, start, end))
  if (dataTypeID === INT2 || dataTypeID === INT4) return integerOf
  if (dataTypeID === INT8) return (bytes, start, end) => (end - start > SAFE_LENGTH ? read : integerOf)(bytes, start, end)
  return read
}

const readers = new Map<string, RowReader>()

/** The reader of rows with these columns. Statements with the same columns share it. */
export function rowReader(columns: Column[]): RowReader {
  const key = JSON.stringify(columns.map(({ name, dataTypeID }) => [name, dataTypeID]))
  const reader = readers.get(key) ?? { names: columns.map(({ name }) => name), read: compiled(columns) }
  readers.set(key, reader)
  return reader
}

/** The names are those of our statements, and quoted. */
function compiled(columns: Column[]): RowReader['read'] {
  const values = columns.map(
    (_, n) => `
      const length${n} = int4At(bytes, at)
      at += 4
      const value${n} = length${n} === -1 ? null : read[${n}](bytes, at, at + length${n})
      if (length${n} > 0) at += length${n}`,
  )
  // A name in brackets is slower, but would not set the prototype.
  const members = columns.map(({ name }, n) => `${name === '__proto__' ? '["__proto__"]' : JSON.stringify(name)}: value${n}`)
  const source = `return (bytes, at) => {
      ${values.join('')}
      return { ${members.join(', ')} }
    }`
  return new Function('read', 'int4At', source)(columns.map(readOf), int4At) as RowReader['read']
}
