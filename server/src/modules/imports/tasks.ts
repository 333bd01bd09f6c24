/** What worker threads do with files. */
import { task } from '../../infra/threads/task.ts'
import type { Fault } from '../../lib/errors.ts'
import type { Column } from './columns.ts'
import { unescapeFormula } from './failures.ts'
import { type Heading, type HeadingOptions, headingOf } from './heading.ts'
import { rowReader } from './items.ts'
import { type Read, type Reading, type Row, readRows } from './rows.ts'

/** Reads the header line from the first chunk of a file. */
export const readHeading = task({
  name: 'imports.readHeading',
  run: (_, __: null, { chunk, options }: { chunk: Uint8Array; options: HeadingOptions }): Heading | { faults: Fault[] } =>
    headingOf(bufferOf(chunk), options),
})

/** A row with what it means, or what is wrong with it. */
export type CheckedRow = { row: Row } & ReturnType<ReturnType<typeof rowReader>>

/** Reads and checks the next rows of a file. */
export const readNextRows = task({
  name: 'imports.readNextRows',
  run(_, __: null, { bytes, reading, columns }: { bytes: Uint8Array; reading: Reading; columns: Column[] }) {
    const { rows, ...read }: Read = readRows(bufferOf(bytes), reading)
    const readRow = rowReader(columns)
    const original = columns[0]?.added ? rows.map(({ line, cells }) => ({ line, cells: cells.map(unescapeFormula) })) : rows
    return { ...read, rows: original.map((row): CheckedRow => ({ row, ...readRow(row.cells) })) }
  },
})

// Buffers arrive as plain arrays of bytes.
const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, byteLength)
