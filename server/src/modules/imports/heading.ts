/** The beginning of a file: its delimiter and its columns. Pure. */
import type { Fault } from '../../lib/errors.ts'
import { type Column, columnsOf, type Mapping } from './columns.ts'
import { CHUNK_BYTES, guessDelimiter, readRows } from './rows.ts'

const UTF8_BOM = Buffer.from([0xef, 0xbb, 0xbf])

/** The delimiter and columns of a file, and the position of its first row. */
export type Heading = { delimiter: string; columns: Column[]; position: number; line: number }

export type HeadingOptions = { mapping: Mapping; delimiter: string | undefined }

/** Reads the header line from the first chunk of a file. */
export function headingOf(chunk: Buffer, { mapping, delimiter: given }: HeadingOptions): Heading | { faults: Fault[] } {
  const begin = chunk.subarray(0, UTF8_BOM.length).equals(UTF8_BOM) ? UTF8_BOM.length : 0
  const bytes = chunk.subarray(begin)
  const delimiter = given ?? guessDelimiter(bytes)
  const { rows, consumed, line, problem } = readRows(bytes, { delimiter, line: 1, isLast: chunk.length < CHUNK_BYTES, rowsMax: 1 })
  const [header] = rows
  if (!header) {
    const message = problem ?? 'The file has no header line. Add one with the names of the columns.'
    return { faults: [{ code: 'parameter_invalid_format', param: 'body', message }] }
  }
  const found = columnsOf(header.cells, mapping)
  return 'faults' in found ? found : { delimiter, columns: found.columns, position: begin + consumed, line }
}
