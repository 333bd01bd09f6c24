/** Replies whose JSON is written from the texts of the database, without parsing values only to write them again. */

/** A reply as JSON. `T` is what it is the JSON of. */
export class Written<T> {
  declare readonly is: T
  readonly json: string
  constructor(json: string) {
    this.json = json
  }
}

/**
 * How a column is written: a `text` is quoted, an `instant` is a `timestamptz` in UTC as text, and numbers, booleans and JSON as text are taken
 * as they are.
 */
type ColumnKind = 'text' | 'instant' | 'as_is'

/** Compiles a function that writes rows as JSON objects with these columns, in their order. A null is written as null. */
export function rowWriter<K extends string>(columns: Record<K, ColumnKind>): (row: Record<K, unknown>) => string {
  const parts = Object.entries<ColumnKind>(columns).map(([name, kind], at) => ({
    name: name as K,
    head: `${at === 0 ? '{' : ','}${JSON.stringify(name)}:`,
    write: writers[kind],
  }))
  return (row) => {
    let json = ''
    for (const { name, head, write } of parts) {
      const value = row[name]
      json += head + (value === null ? 'null' : write(value as string))
    }
    return `${json}}`
  }
}

/** What JSON does not take as it is, and lone surrogates, which may be there. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes them.
const ESCAPED = /[\u0000-\u001f"\\\ud800-\udfff]/

const writers: Record<ColumnKind, (value: string) => string> = {
  // A test costs less than half of what `JSON.stringify` does.
  text: (value) => (ESCAPED.test(value) ? JSON.stringify(value) : `"${value}"`),
  instant: (value) => `"${isoOf(value)}"`,
  as_is: (value) => String(value),
}

/** An instant in UTC as PostgreSQL writes it, `2026-11-20 02:56:21.6+00`, in ISO 8601 with milliseconds. */
export const isoOf = (text: string): string =>
  text.length === ISO_LENGTH
    ? `${text.slice(0, 10)}T${text.slice(11, 23)}Z`
    : `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(3, '0')}Z`

/** With all three digits of the milliseconds. */
const ISO_LENGTH = '2026-11-20 02:56:21.664+00'.length
