/**
 * Joins bytes in memory that threads share. As an argument of a task they cost nothing, whereas the main thread takes longer to copy a large email
 * for a thread than to hash it.
 */
export function sharedBytes(...pieces: Uint8Array[]): Buffer {
  const bytes = Buffer.from(new SharedArrayBuffer(pieces.reduce((sum, { length }) => sum + length, 0)))
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}
