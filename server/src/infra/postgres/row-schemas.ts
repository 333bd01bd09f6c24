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

type RowCheck = ReturnType<typeof matches>

const checks = new WeakMap<TSchema, RowCheck>()
/** By the text of the schema, because many tests make a schema for each statement. */
const checksByText = new Map<string, RowCheck>()

/** What is wrong with a row of a statement, or null. For tests. */
export function rowProblem(row: TSchema, found: unknown): string | null {
  const check = checks.get(row) ?? checkOf(row)
  return check(found)
}

function checkOf(row: TSchema): RowCheck {
  const text = JSON.stringify(row)
  const check = checksByText.get(text) ?? matches(row)
  checksByText.set(text, check)
  checks.set(row, check)
  return check
}
