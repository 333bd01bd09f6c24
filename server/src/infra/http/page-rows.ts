/** The rows of a page, which say in a column of their own whether there are rows before the cursor. */
import { type TSchema, Type } from 'typebox'

const shapes = new WeakMap<TSchema, TSchema>()

/** The shape of a row with the column `page_behind`. */
export function withBehind<S extends TSchema>(row: S): S {
  const known = shapes.get(row)
  if (known) return known as S
  const { properties } = row as { properties?: Record<string, TSchema> }
  const shape = { ...row, properties: { ...properties, page_behind: Type.Boolean() } }
  shapes.set(row, shape)
  return shape
}

export function withoutBehind<R extends Record<string, unknown>>({ page_behind: _, ...row }: R & { page_behind?: unknown }): R {
  return row as unknown as R
}
