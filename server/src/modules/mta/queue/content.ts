/**
 * The content of an email in the queue, deflated (RFC 1950): most are written, read once within a second, and deleted, and a content of
 * 20 KB would be most of what a blast writes. Usual ones are deflated and inflated at once, because a thread of Node’s pool costs several times
 * what it does, even on the main thread; larger ones outside of the event loop.
 */
import { promisify } from 'node:util'
import { constants, createDeflate, deflateSync, inflate, inflateSync } from 'node:zlib'

export type StoredContent = {
  deflated: Buffer
  /** In bytes, as it is delivered. */
  size: number
}

/** An email of this size takes about a tenth of a millisecond. */
const AT_ONCE_BYTES_MAX = 65_536
const FAST = { level: constants.Z_BEST_SPEED }

const inflated = promisify<Buffer, Buffer>(inflate)

/** Where the pieces of usual ones are put together. */
const whole = Buffer.allocUnsafeSlow(AT_ONCE_BYTES_MAX)
/** Emails become at most this part of their size, most of them. What takes more is collected in several buffers. */
const DEFLATED_SHARE = 4
const DEFLATED_BYTES_MIN = 1024

/** Deflates the content of an email, which is in one or more pieces. */
export async function deflateContent(...pieces: Buffer[]): Promise<StoredContent> {
  const size = pieces.reduce((sum, { length }) => sum + length, 0)
  if (size > AT_ONCE_BYTES_MAX) return { deflated: await deflatedLarge(pieces), size }
  let filled = 0
  for (const piece of pieces) filled += piece.copy(whole, filled)
  const chunkSize = Math.max(DEFLATED_BYTES_MIN, Math.ceil(size / DEFLATED_SHARE))
  return { deflated: deflateSync(whole.subarray(0, size), { ...FAST, chunkSize }), size }
}

/** The pieces are not put together: the copy of a large email would take the main thread long. */
async function deflatedLarge(pieces: Buffer[]): Promise<Buffer> {
  const stream = createDeflate({ ...FAST, chunkSize: AT_ONCE_BYTES_MAX })
  for (const piece of pieces) stream.write(piece)
  stream.end()
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** More than is needed, so that all of it comes in one piece. */
const PIECE_MARGIN_BYTES = 64

/** Inflates stored content. `size` is the size of the result. */
export const inflateContent = async (stored: Buffer, size: number): Promise<Buffer> =>
  size <= AT_ONCE_BYTES_MAX ? inflateSync(stored, { chunkSize: size + PIECE_MARGIN_BYTES }) : inflated(stored)
