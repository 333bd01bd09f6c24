/** Unicode white space, and lengths in code points instead of UTF-16 units. Everything here takes time linear in the text. */

/** Removes Unicode White_Space from both ends (D-VAL-3). `String.trim` also takes U+FEFF and leaves U+0085. */
export const trimWhiteSpace = (text: string) => trimMatching(text, WHITE_SPACE)

const WHITE_SPACE = /^\p{White_Space}$/u

/** Is this empty, or only Unicode White_Space? */
export const isBlank = (text: string): boolean => !/\P{White_Space}/u.test(text)

/** The text with U+FFFD instead of characters that PostgreSQL cannot store: U+0000 and halves of surrogate pairs. */
export const storableText = (text: string): string => text.replaceAll('\0', '\ufffd').toWellFormed()

/** A copy of a value of JSON in which each text, also each key, is storable. */
export function storable(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(storable)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [storableText(key), storable(inner)]))
}

/**
 * Removes characters that match from both ends. `one` is asked about one code point at a time: a regular expression that ends in
 * `+$` is quadratic, because it begins again at each character of a run inside the text.
 */
export function trimMatching(text: string, one: RegExp): string {
  let begin = 0
  while (begin < text.length) {
    const character = String.fromCodePoint(text.codePointAt(begin) as number)
    if (!one.test(character)) break
    begin += character.length
  }
  return trimEndMatching(text.slice(begin), one)
}

/** Removes characters that match from the end, as `trimMatching` does. */
export function trimEndMatching(text: string, one: RegExp): string {
  let end = text.length
  while (end > 0) {
    const character = lastCharacter(text, end)
    if (!one.test(character)) break
    end -= character.length
  }
  return text.slice(0, end)
}

/** The code point that ends before `end`. */
function lastCharacter(text: string, end: number): string {
  const pair = text.slice(Math.max(0, end - 2), end)
  return pair.length === 2 && (pair.codePointAt(0) as number) > 0xffff ? pair : text.slice(end - 1, end)
}

/** The length in code points; every limit of the API uses it. */
export function lengthOf(text: string): number {
  let length = 0
  for (const _ of text) length++
  return length
}

/** Whether a text has more code points than a limit. No text has more of them than UTF-16 units. */
export const isLongerThan = (text: string, max: number): boolean => text.length > max && lengthOf(text) > max

/** Returns the line of a position, counted from 1. Positions must ascend, because each part of the text is read once. */
export function lineCounter(text: string): (at: number) => number {
  let line = 1
  let next = text.indexOf('\n')
  return (at) => {
    for (; next !== -1 && next < at; next = text.indexOf('\n', next + 1)) line++
    return line
  }
}
