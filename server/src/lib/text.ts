/** Text as people write it: Unicode white space and code points, not UTF-16 units. */

/** Removes Unicode White_Space from both ends (D-VAL-3). `String.trim` also takes U+FEFF and leaves U+0085. */
export const trimWhiteSpace = (text: string) => text.replace(/^\p{White_Space}+|\p{White_Space}+$/gu, '')

/** Length in code points, as every limit of the interface counts it. */
export function lengthOf(text: string): number {
  let length = 0
  for (const _ of text) length++
  return length
}
