/** Schemas of rows, compiled once, because compiling one takes longer than a statement. */
import { type TSchema, Type } from 'typebox'
import { matches } from '../../lib/validate.ts'
import { type Sql, summaryOf } from './sql.ts'

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

/** Throws if a row of a statement does not match its schema. For tests. */
export function requireRow(row: TSchema, found: unknown, statement: Sql): void {
  const check = checks.get(row) ?? checkOf(row)
  const problem = check(found)
  if (problem) throw new Error(`A row does not match its schema: ${problem} in ${summaryOf(statement)}`)
}

function checkOf(row: TSchema): RowCheck {
  const text = JSON.stringify(row)
  const check = checksByText.get(text) ?? matches(row)
  checksByText.set(text, check)
  checks.set(row, check)
  return check
}
