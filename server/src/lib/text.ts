/** Unicode white space, and lengths in code points instead of UTF-16 units. */

/** Removes Unicode White_Space from both ends (D-VAL-3). `String.trim` also takes U+FEFF and leaves U+0085. */
export const trimWhiteSpace = (text: string) => text.replace(/^\p{White_Space}+|\p{White_Space}+$/gu, '')

/** The length in code points; every limit of the API uses it. */
export function lengthOf(text: string): number {
  let length = 0
  for (const _ of text) length++
  return length
}

/** Returns the line of a position, counted from 1. Positions must ascend, because each part of the text is read once. */
export function lineCounter(text: string): (at: number) => number {
  let line = 1
  let next = text.indexOf('\n')
  return (at) => {
    for (; next !== -1 && next < at; next = text.indexOf('\n', next + 1)) line++
    return line
  }
}
