/** Outputs that are marked, for texts in which the place of a value decides what it means, such as lists of addresses. */
import type { FilterImplOptions } from 'liquidjs'
import { type BudgetedContext, CountedEmitter } from './budget.ts'

type FilterHandler = Extract<FilterImplOptions, CallableFunction>

// Noncharacters, which Unicode leaves for use inside a program.
const [BEGIN, END] = ['\uFDD0', '\uFDD1']
const MARKED = /\uFDD0([^\uFDD0\uFDD1]*)\uFDD1/g
const MARKS = /[\uFDD0\uFDD1]/g

/** The character that stands for a value in the result of `splitMarked`. */
export const VALUE = BEGIN

/** The escaping of outputs that marks texts. Texts of letters, digits, spaces and the like cannot mean anything else and stay unmarked. */
export const marking: FilterHandler = function (this: ThisParameterType<FilterHandler>, value: unknown) {
  const { budget, storedDepth } = this.context as BudgetedContext
  if (storedDepth > 0 || (typeof value !== 'string' && !Array.isArray(value))) return value
  const emitter = new CountedEmitter(budget.memory)
  emitter.write(value)
  const text = emitter.buffer.replace(MARKS, '')
  return /[^\p{L}\p{M}\p{N} _-]/u.test(text) ? `${BEGIN}${text}${END}` : text
}

/** Splits a rendered text into the author's text, with `VALUE` in place of each value, and these values. Null if there are none. */
export function splitMarked(text: string): { authored: string; values: string[] } | null {
  const values = Array.from(text.matchAll(MARKED), ([, value = '']) => value)
  if (values.length === 0) return null
  // What the author wrote of these characters is left out.
  const pieces = text.split(MARKED).filter((_, at) => at % 2 === 0)
  return { authored: pieces.map((piece) => piece.replace(MARKS, '')).join(VALUE), values }
}
