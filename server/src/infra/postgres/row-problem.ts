import type { TSchema } from 'typebox'
import { matches } from '../../lib/validate.ts'

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
