/**
 * The content of an email in the queue, deflated (RFC 1950): most are written, read once within a second, and deleted, and a content of
 * 20 KB would be most of what a blast writes. Usual ones are deflated and inflated at once, because a thread of Node’s pool costs several times
 * what it does, even on the main thread; larger ones outside of the event loop.
 */
import { promisify } from 'node:util'
import { constants, deflate, deflateSync, inflate, inflateSync } from 'node:zlib'

export type StoredContent = {
  deflated: Buffer
  /** In bytes, as it is delivered. */
  size: number
}

/** An email of this size takes about a tenth of a millisecond. */
const AT_ONCE_BYTES_MAX = 65_536
const FAST = { level: constants.Z_BEST_SPEED }

const deflated = promisify<Buffer, object, Buffer>(deflate)
const inflated = promisify<Buffer, Buffer>(inflate)

export async function deflateContent(content: Buffer): Promise<StoredContent> {
  const isUsual = content.length <= AT_ONCE_BYTES_MAX
  return { deflated: isUsual ? deflateSync(content, FAST) : await deflated(content, FAST), size: content.length }
}

/** Inflates what has this size. */
export const inflateContent = async (stored: Buffer, size: number): Promise<Buffer> =>
  size <= AT_ONCE_BYTES_MAX ? inflateSync(stored) : inflated(stored)
