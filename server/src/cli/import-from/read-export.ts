/** Reads the rows of an export: CSV, JSON lines, or JSON with a list of objects. */
import { createReadStream } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { parse } from 'csv-parse'
import { CommandError } from '../command.ts'
import type { Row } from './product.ts'

const HEAD_BYTES = 65_536
/** Larger files in JSON must have one object in each line. */
const JSON_BYTES_MAX = 256 * 1024 * 1024

/** The rows of a file in order, each with its number from 1. Throws `CommandError` if the file cannot be read. */
export async function* rowsOf(path: string): AsyncGenerator<{ row: Row; number: number }> {
  let number = 0
  for await (const row of rowsIn(path, await headOf(path))) yield { row, number: ++number }
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

function rowsIn(path: string, head: string): AsyncIterable<Row> {
  if (!/^[[{]/.test(head)) return csvRows(path)
  const first = parsed(head.split('\n', 1)[0] ?? '')
  // An object that holds a list of objects is the reply of an API, not a user.
  const isLines =
    isObject(first) && !Object.values(first).some((value) => Array.isArray(value) && value.every(isObject) && 'email' in (value[0] ?? {}))
  return isLines ? jsonLines(path) : jsonRows(path)
}

async function* csvRows(path: string): AsyncGenerator<Row> {
  const parser = createReadStream(path).pipe(
    parse({ columns: true, bom: true, skip_empty_lines: true, relax_column_count: true, relax_quotes: true, delimiter: [',', ';', '\t'] }),
  )
  try {
    for await (const row of parser) yield row as Row
  } catch (error) {
    throw new CommandError(`${path} is not a valid CSV file: ${(error as Error).message}`)
  }
}

async function* jsonLines(path: string): AsyncGenerator<Row> {
  let line = 0
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    line++
    if (text.trim() === '') continue
    const row = parsed(text)
    if (!isObject(row)) throw new CommandError(`Line ${line} of ${path} is not a JSON object.`)
    yield row
  }
}

async function* jsonRows(path: string): AsyncGenerator<Row> {
  const bytes = await readFile(path)
  if (bytes.length > JSON_BYTES_MAX) throw new CommandError(`${path} is too large. Write one object on each line.`)
  const content = parsed(bytes.toString('utf8'))
  const rows = Array.isArray(content) ? content : Object.values(isObject(content) ? content : {}).find(Array.isArray)
  if (!rows) throw new CommandError(`${path} does not contain a list of objects.`)
  for (const row of rows) if (isObject(row)) yield row
}

const isObject = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value)

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
