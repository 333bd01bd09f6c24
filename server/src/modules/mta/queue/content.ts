/**
 * The content of an email in the queue, deflated (RFC 1950): most are written, read once within a second, and deleted, and a content of
 * 20 KB would be most of what a blast writes. It is deflated and inflated outside of the event loop.
 */
import { promisify } from 'node:util'
import { constants, deflate, inflate } from 'node:zlib'

export type StoredContent = {
  deflated: Buffer
  /** In bytes, as it is delivered. */
  size: number
}

const deflated = promisify<Buffer, object, Buffer>(deflate)
const inflated = promisify<Buffer, Buffer>(inflate)

export async function deflateContent(content: Buffer): Promise<StoredContent> {
  return { deflated: await deflated(content, { level: constants.Z_BEST_SPEED }), size: content.length }
}

export const inflateContent = (stored: Buffer): Promise<Buffer> => inflated(stored)
