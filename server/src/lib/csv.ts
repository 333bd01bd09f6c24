/** The lines and the delimiter of CSV (RFC 4180) in bytes. */

export const [LF, CR, QUOTE] = [10, 13, 34] as const

const DELIMITERS = [',', ';', '\t', '|']

/** The position after line breaks. */
export function skipEmptyLines(bytes: Buffer, from: number): number {
  let at = from
  while (bytes[at] === LF || bytes[at] === CR) at++
  return at
}

/** The most frequent delimiter of the first line, outside of quotation marks; a comma if it has none. */
export function guessDelimiter(bytes: Buffer): string {
  const counts = DELIMITERS.map(() => 0)
  let isQuoted = false
  for (let at = skipEmptyLines(bytes, 0); at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte === QUOTE) isQuoted = !isQuoted
    if (isQuoted) continue
    if (byte === LF || byte === CR) break
    const index = DELIMITERS.indexOf(String.fromCharCode(byte))
    if (index !== -1) counts[index] = (counts[index] as number) + 1
  }
  return DELIMITERS[counts.indexOf(Math.max(...counts))] as string
}
