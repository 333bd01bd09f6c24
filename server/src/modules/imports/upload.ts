/** Cuts a file into chunks of one size while it is received. Each chunk is processed before the next one is read. */
import type { BodyStream } from '../../infra/http/route.ts'
import { fault } from '../../lib/errors.ts'
import { CHUNK_BYTES } from './rows.ts'

/** The body in chunks of `CHUNK_BYTES`; the last one may be shorter. Throws 400 at the first byte that is not valid UTF-8. */
export async function* chunksOf(stream: BodyStream): AsyncGenerator<Buffer, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  let size = 0
  for await (const bytes of stream) {
    checkText(decoder, bytes)
    for (let at = 0; at < bytes.length; ) {
      const taken = bytes.copy(chunk, size, at)
      at += taken
      size += taken
      if (size < CHUNK_BYTES) continue
      yield chunk
      chunk = Buffer.allocUnsafe(CHUNK_BYTES)
      size = 0
    }
  }
  checkText(decoder)
  if (size > 0) yield chunk.subarray(0, size)
}

function checkText(decoder: InstanceType<typeof TextDecoder>, bytes?: Buffer): void {
  try {
    decoder.decode(bytes, { stream: bytes !== undefined })
  } catch {
    throw fault('parameter_invalid_format', 'body', 'The file is not UTF-8. Export it again as “CSV UTF-8”.')
  }
}
