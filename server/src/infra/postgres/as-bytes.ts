/** Rows as bytes, also from connections where they are read by the driver. */
import type pg from 'pg'
import { packed, type RowBytes } from '../../lib/row-bytes.ts'

/** Asks for rows as bytes, and the driver for texts. */
export const AS_BYTES = { asBytes: true, rowMode: 'array', types: { getTypeParser: () => (text: string) => text } } as const

/** The rows of a statement that was asked for them so. */
export function bytesOf({ rows, fields }: pg.QueryResult): RowBytes {
  const [first] = rows as (RowBytes | (string | null)[])[]
  if (first && 'starts' in first) return first
  return packed(
    fields.map(({ name }) => name),
    rows,
  )
}
