/** Reads the rows of an export: CSV, JSON lines, or JSON with a list of objects. */
import { createReadStream } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { parse } from 'csv-parse'
import { guessDelimiter } from '../../lib/csv.ts'
import { CommandError } from '../command.ts'
import type { Row } from './product.ts'

const HEAD_BYTES = 65_536
/** Larger files in JSON must have one object in each line. */
const JSON_BYTES_MAX = 256 * 1024 * 1024

/** A row, or why its cells cannot be told apart. */
type Read = { row: Row } | { problem: string }

/** The rows of a file in order, each with its number from 1. Throws `CommandError` if the file cannot be read. */
export async function* rowsOf(path: string): AsyncGenerator<Read & { number: number }> {
  let number = 0
  for await (const read of rowsIn(path, await headOf(path))) yield { ...read, number: ++number }
}

async function headOf(path: string): Promise<string> {
  try {
    await using file = await open(path)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    return buffer
      .toString('utf8', 0, bytesRead)
      .replace(/^\uFEFF/, '')
      .trimStart()
  } catch (error) {
    throw new CommandError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

async function* rowsIn(path: string, head: string): AsyncGenerator<Read> {
  if (head.startsWith('[')) yield* jsonRows(path)
  else if (!head.startsWith('{')) yield* csvRows(path, guessDelimiter(Buffer.from(head)))
  else yield* (await isJsonLines(path)) ? jsonLines(path) : jsonRows(path)
}

/** Whether the first line is a row: it can be longer than the part of the file that was read. */
async function isJsonLines(path: string): Promise<boolean> {
  const first = parsed(await firstLine(path))
  // An object that holds a list of objects is the reply of an API, not a user.
  return (
    isObject(first) && !Object.values(first).some((value) => Array.isArray(value) && value.every(isObject) && 'email' in (value[0] ?? {}))
  )
}

/** The first line that is not empty, or so much of it as a file without lines may have. */
async function firstLine(path: string): Promise<string> {
  const input = createReadStream(path, { end: JSON_BYTES_MAX })
  try {
    for await (const line of linesOf(input)) if (line.trim() !== '') return line
    return ''
  } finally {
    input.destroy()
  }
}

const linesOf = (input: NodeJS.ReadableStream) => createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })

async function* csvRows(path: string, delimiter: string): AsyncGenerator<Read> {
  const parser = createReadStream(path).pipe(
    // A row with another number of cells is refused by itself.
    parse({ bom: true, skip_empty_lines: true, relax_column_count: true, relax_quotes: true, delimiter }),
  )
  let header: string[] | undefined
  try {
    for await (const cells of parser as AsyncIterable<string[]>) {
      if (header) yield readCells(header, cells)
      else header = cells
    }
  } catch (error) {
    throw new CommandError(`${path} is not a valid CSV file: ${(error as Error).message}`)
  }
}

/** A surplus or missing cell, such as one with a delimiter that is not quoted, moves those after it into other columns. */
function readCells(header: string[], cells: string[]): Read {
  return cells.length === header.length
    ? { row: Object.fromEntries(header.map((name, at) => [name, cells[at]])) }
    : { problem: `The row has ${cells.length} cells, but the header has ${header.length}. Correct the row.` }
}

async function* jsonLines(path: string): AsyncGenerator<Read> {
  let line = 0
  for await (const text of linesOf(createReadStream(path))) {
    line++
    if (text.trim() === '') continue
    const row = parsed(text)
    if (!isObject(row)) throw new CommandError(`Line ${line} of ${path} is not a JSON object.`)
    yield { row }
  }
}

async function* jsonRows(path: string): AsyncGenerator<Read> {
  const bytes = await readFile(path)
  if (bytes.length > JSON_BYTES_MAX) throw new CommandError(`${path} is too large. Write one object on each line.`)
  const content = parsed(bytes.toString('utf8'))
  const rows = Array.isArray(content) ? content : Object.values(isObject(content) ? content : {}).find(Array.isArray)
  if (!rows) throw new CommandError(`${path} does not contain a list of objects.`)
  for (const row of rows) if (isObject(row)) yield { row }
}

const isObject = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value)

/** A file, and so its first line, can begin with a byte order mark. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text)
  } catch {
    return undefined
  }
}
