const CR = 0x0d
const LF = 0x0a
const NUL = 0x00

/**
 * Checks the bytes of an SMTP connection, chunk by chunk: a line ends with CR LF, and neither of them nor NUL is anywhere else. Two servers that
 * disagree on what ends a line disagree on where an email ends, and the rest of it is another email for one of them (SMTP smuggling, D-MTA-55).
 * Returns whether the bytes are sound so far.
 */
export function createLineCheck(): (chunk: Uint8Array) => boolean {
  let afterCr = false
  return (chunk) => {
    for (const byte of chunk) {
      if (afterCr !== (byte === LF) || byte === NUL) return false
      afterCr = byte === CR
    }
    return true
  }
}
