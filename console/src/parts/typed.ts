/** What typed text is as a value. Pure. */
import type { FieldSchema } from './schema-fields.ts'

/** A number as it is usually written: `007` is not one. */
const NUMBER = /^-?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)$/

/** The number that is typed in a field for numbers; undefined as long as it is none. */
export function numberIn(typed: number | string): number | undefined {
  const number = typeof typed === 'number' || typed.trim() === '' ? typed : Number(typed)
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

/** Typed text as a value: a number or a truth value where the attribute has such values, or where its type is not known. */
export function typedValue(text: string, schema: FieldSchema, types: string[]): unknown {
  const takes = (type: string) => [schema.type].flat().includes(type) && (types.length === 0 || types.includes(type))
  if (text === '' || (types.length > 0 && takes('string'))) return text
  if (takes('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  const isNumber = takes('number') && (types.length > 0 || NUMBER.test(text))
  return (isNumber ? numberIn(text) : undefined) ?? text
}
