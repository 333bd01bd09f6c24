/** Cuts a file into chunks of one size while it is received. Each chunk is processed before the next one is read. */
import type { BodyStream } from '../../infra/http/route.ts'
import { fault, faultsError } from '../../lib/errors.ts'
import { type Column, columnsOf } from './columns.ts'
import type { ImportOptions } from './options.ts'
import { guessDelimiter, ROW_BYTES_MAX, readRows } from './rows.ts'

/** A batch reads two chunks, so that every row that begins in the first one is complete. */
export const CHUNK_BYTES = ROW_BYTES_MAX

const UTF8_BOM = Buffer.from([0xef, 0xbb, 0xbf])

/** The delimiter and columns of a file, and the position of its first row. */
export type Heading = { delimiter: string; columns: Column[]; position: number; line: number }

/** Reads the header line from the first chunk of a file. Throws 422, or 400 if there is none. */
export function readHeading(chunk: Buffer, { mapping, delimiter: given }: Pick<ImportOptions, 'mapping' | 'delimiter'>): Heading {
  const begin = chunk.subarray(0, UTF8_BOM.length).equals(UTF8_BOM) ? UTF8_BOM.length : 0
  const bytes = chunk.subarray(begin)
  const delimiter = given ?? guessDelimiter(bytes)
  const { rows, consumed, line, problem } = readRows(bytes, { delimiter, line: 1, isLast: chunk.length < CHUNK_BYTES, rowsMax: 1 })
  const [header] = rows
  if (!header)
    throw fault('parameter_invalid_format', 'body', problem ?? 'The file has no header line. Add one with the names of the columns.')
  const found = columnsOf(header.cells, mapping)
  if ('faults' in found) throw faultsError(found.faults)
  return { delimiter, columns: found.columns, position: begin + consumed, line }
}

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
