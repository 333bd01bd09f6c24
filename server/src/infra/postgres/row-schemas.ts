/** Schemas of rows, compiled once, because compiling one takes longer than a statement. */
import { type TSchema, Type } from 'typebox'
import { matches } from '../../lib/validate.ts'

const rows = new WeakMap<TSchema, TSchema>()

/** The schema of a row with one column of any name. */
export function rowOf(value: TSchema): TSchema {
  const row = rows.get(value) ?? Type.Record(Type.String(), value)
  rows.set(value, row)
  return row
}

const shapes = new WeakMap<TSchema, (value: unknown) => string | null>()

/** What does not match the schema of a row, if something does not. */
export function problemIn(row: TSchema, found: unknown): string | null {
  const check = shapes.get(row) ?? matches(row)
  shapes.set(row, check)
  return check(found)
}
