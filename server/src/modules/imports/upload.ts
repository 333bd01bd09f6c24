/** A file as it comes: cut into pieces of one size, each looked at before the next is asked for. */
import type { BodyStream } from '../../infra/http/route.ts'
import { fault, faultsError } from '../../lib/errors.ts'
import { type Column, columnsOf } from './columns.ts'
import type { ImportOptions } from './options.ts'
import { guessDelimiter, ROW_BYTES_MAX, readRows } from './rows.ts'

/** A batch reads two pieces, so that a row that begins in the first is whole. */
export const CHUNK_BYTES = ROW_BYTES_MAX

const UTF8_BOM = Buffer.from([0xef, 0xbb, 0xbf])

/** What the beginning of a file says. */
export type Heading = { delimiter: string; columns: Column[]; position: number; line: number }

/** The header line, in the first piece of the file. Throws 422, or 400 when there is none. */
export function headingOf(chunk: Buffer, { mapping, delimiter: given }: Pick<ImportOptions, 'mapping' | 'delimiter'>): Heading {
  const begin = chunk.subarray(0, UTF8_BOM.length).equals(UTF8_BOM) ? UTF8_BOM.length : 0
  const bytes = chunk.subarray(begin)
  const delimiter = given ?? guessDelimiter(bytes)
  const { rows, consumed, line, problem } = readRows(bytes, { delimiter, line: 1, isLast: chunk.length < CHUNK_BYTES, rowsMax: 1 })
  const [header] = rows
  if (!header)
    throw fault(
      'parameter_invalid_format',
      'body',
      problem ?? 'The first line of the file must be the header line, which names the columns.',
    )
  const found = columnsOf(header.cells, mapping)
  if ('faults' in found) throw faultsError(found.faults)
  return { delimiter, columns: found.columns, position: begin + consumed, line }
}

/** The body in pieces of `CHUNK_BYTES`, the last one shorter. Throws 400 at the first byte that is no UTF-8. */
export async function* piecesOf(stream: BodyStream): AsyncGenerator<Buffer, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let piece = Buffer.allocUnsafe(CHUNK_BYTES)
  let size = 0
  for await (const bytes of stream) {
    checkText(decoder, bytes)
    for (let at = 0; at < bytes.length; ) {
      const taken = bytes.copy(piece, size, at)
      at += taken
      size += taken
      if (size < CHUNK_BYTES) continue
      yield piece
      piece = Buffer.allocUnsafe(CHUNK_BYTES)
      size = 0
    }
  }
  checkText(decoder)
  if (size > 0) yield piece.subarray(0, size)
}

function checkText(decoder: InstanceType<typeof TextDecoder>, bytes?: Buffer): void {
  try {
    decoder.decode(bytes, { stream: bytes !== undefined })
  } catch {
    throw fault('parameter_invalid_format', 'body', 'The file is not UTF-8. Open it where it was made and save it as “CSV UTF-8”.')
  }
}
