/** Unicode white space, and lengths in code points instead of UTF-16 units. */

/** Removes Unicode White_Space from both ends (D-VAL-3). `String.trim` also takes U+FEFF and leaves U+0085. */
export const trimWhiteSpace = (text: string) => text.replace(/^\p{White_Space}+|\p{White_Space}+$/gu, '')

/** The length in code points; every limit of the API uses it. */
export function lengthOf(text: string): number {
  let length = 0
  for (const _ of text) length++
  return length
}
