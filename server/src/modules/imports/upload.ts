/** Converts a file to UTF-8 and cuts it into chunks of one size while it is received. Each chunk is processed before the next one is read. */
import type { BodyStream } from '../../infra/http/route.ts'
import { fault } from '../../lib/errors.ts'
import { type Converter, converterFrom, type Encoding, isWorkbook, NotText } from './encoding.ts'
import { CHUNK_BYTES } from './rows.ts'

/**
 * The text of the body as UTF-8 in chunks of `CHUNK_BYTES`; the last one may be shorter. Throws 400 for a workbook, and at the first byte
 * that is not text.
 */
export const chunksOf = (stream: BodyStream, encoding?: Encoding): AsyncGenerator<Buffer, void, undefined> =>
  // Pieces of one size are converted, so that the encoding that is detected does not depend on how the network divides the file.
  inChunks(converted(inChunks(stream), converterFrom(encoding)))

async function* inChunks(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  let size = 0
  for await (const bytes of stream) {
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
  if (size > 0) yield chunk.subarray(0, size)
}

async function* converted(pieces: AsyncIterable<Buffer>, convert: Converter): AsyncGenerator<Buffer, void, undefined> {
  let isFirst = true
  for await (const piece of pieces) {
    if (isFirst && isWorkbook(piece)) throw fault('parameter_invalid_format', 'body', WORKBOOK)
    isFirst = false
    yield textOf(convert, piece)
  }
  yield textOf(convert)
}

const WORKBOOK =
  'The file is a workbook or an archive, not CSV. In the spreadsheet program, choose “Save as” and “CSV UTF-8”, and upload that file.'

function textOf(convert: Converter, piece?: Buffer): Buffer {
  try {
    return convert(piece)
  } catch (error) {
    if (!(error instanceof NotText)) throw error
    throw fault(
      'parameter_invalid_format',
      'body',
      'The text of the file is damaged or in an unknown encoding. Save it again as “CSV UTF-8”.',
    )
  }
}
