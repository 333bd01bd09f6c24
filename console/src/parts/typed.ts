/** What typed text is as a value. Pure. */
import type { FieldSchema } from './schema-fields.ts'

/** A number as it is usually written: `007` is not one. */
const NUMBER = /^-?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)$/

/** The number that is typed in a field for numbers; undefined as long as it is none. */
export function numberIn(typed: number | string): number | undefined {
  const number = typeof typed === 'number' || typed.trim() === '' ? typed : Number(typed)
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

/**
 * Whole numbers of which none is lower than the one before, separated by commas or spaces; null if it is anything else. `1.000` is a thousand.
 * In `1,500, 5,000`, which is four numbers, they fall.
 */
export function risingNumbersIn(text: string): number[] | null {
  const words = text.split(/[\s,;]+/).filter((word) => word !== '')
  const numbers = words.map((word) => (/^\d{1,3}(?:\.\d{3})+$/.test(word) ? Number(word.replaceAll('.', '')) : Number(word)))
  const isRising = numbers.every((number, at) => at === 0 || number >= Number(numbers[at - 1]))
  return isRising && numbers.every(Number.isInteger) ? numbers : null
}

/** Typed texts as values. One that was a value before is the same again. */
export const typedValues = (texts: string[], before: unknown[], schema: FieldSchema, types: string[]): unknown[] =>
  texts.map((text) => before.find((value) => String(value) === text) ?? typedValue(text, schema, types))

/** Typed text as a value: a number or a truth value where the attribute has such values, or where its type is not known. */
export function typedValue(text: string, schema: FieldSchema, types: string[]): unknown {
  const takes = (type: string) => [schema.type].flat().includes(type) && (types.length === 0 || types.includes(type))
  if (text === '' || (types.length > 0 && takes('string'))) return text
  if (takes('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  const isNumber = takes('number') && (types.length > 0 || NUMBER.test(text))
  return (isNumber ? numberIn(text) : undefined) ?? text
}
