/**
 * Statements that a connection has prepared take one message, in one write, which does not ask again for the columns of their rows: those of a
 * prepared statement never change. Rows are read from the bytes that arrive. All other statements are left to the driver.
 */
import type { EventEmitter } from 'node:events'
import type { Writable } from 'node:stream'
import pg from 'pg'
import { serialize } from 'pg-protocol'
import { Parser } from 'pg-protocol/dist/parser.js'
import { CollectedRows } from './collected-rows.ts'
import { type Column, type RowReader, rowReader } from './row-readers.ts'

/** The members of the driver that its types leave out. */
type Wire = EventEmitter & {
  stream: Writable
  parsedStatements: Record<string, string>
  submittedNamedStatements: Record<string, string>
  attachListeners(stream: NodeJS.ReadableStream): void
}
type Client = { connection: Wire; query: (...args: unknown[]) => unknown; _getActiveQuery(): unknown }
type Message = { name: string }
type Packets = {
  parse(bytes: Buffer, callback: (message: Message) => void): void
  handlePacket(offset: number, code: number, length: number, bytes: Buffer): Message
}

/** A query of the driver, as far as it is used here. From a text it is made without copying anything. */
type DriverQuery = {
  text: string
  name: string
  values: unknown[]
  callback: (error: Error | null, result: pg.QueryResult) => void
  _result: pg.QueryResult
  _canceledDueToError: unknown
  handleCommandComplete(message: unknown, wire: Wire): void
}
const DriverQuery = pg.Query as unknown as new (text: string) => DriverQuery

const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): unknown } }).utils

/** A statement to prepare. Its name is given to no other text, or is empty. With `asBytes`, its only row is a `RowBytes`. */
type NamedStatement = { name: string; text: string; values: unknown[]; asBytes?: boolean }

const DESCRIBE = serialize.describe({ type: 'P' })
const EXECUTE_AND_SYNC = Buffer.concat([serialize.execute({}), serialize.sync()])
/** The parts of larger messages are not put together, which copies them. */
const TOGETHER_BYTES_MAX = 65_536

/** Of a statement that returns no rows. */
const NO_COLUMNS = rowReader([])

/** What comes before the first value of a row: how many there are. */
const COUNT_BYTES = 2
/** What comes before a row is not in its bytes, but in the length that it is sent with. */
const LENGTH_ITSELF = 4

/** The readers of the statements that a connection has prepared, by name, if it `keepsStatements`. */
const readersOf = new WeakMap<Wire, Map<string, RowReader>>()

/** One run of a statement. The driver calls what is not private. */
class KnownStatement extends DriverQuery {
  #reader: RowReader | undefined
  readonly #collected: CollectedRows | null

  constructor({ name, text, values, asBytes }: NamedStatement) {
    super(text)
    this.name = name
    this.values = values
    this.#collected = asBytes ? new CollectedRows() : null
  }

  /** Sends the statement. An error that is returned means that nothing was sent. */
  submit(wire: Wire): Error | null {
    let bound: Buffer
    try {
      bound = serialize.bind({ statement: this.name, values: this.values, valueMapper: prepareValue, binary: this.#collected !== null })
    } catch (error) {
      return error as Error
    }
    this.#reader = readersOf.get(wire)?.get(this.name)
    const parts = this.#reader ? [bound, EXECUTE_AND_SYNC] : [bound, DESCRIBE, EXECUTE_AND_SYNC]
    if (wire.parsedStatements[this.name] === undefined && wire.submittedNamedStatements[this.name] === undefined) {
      parts.unshift(serialize.parse({ name: this.name, text: this.text }))
      if (this.name !== '') wire.submittedNamedStatements[this.name] = this.text
    }
    if (wire.stream.writable) writeAll(wire.stream, parts, bound.length <= TOGETHER_BYTES_MAX)
    return null
  }

  handleRowDescription({ fields }: { fields: Column[] }): void {
    this.#reader = rowReader(fields)
  }

  /** Reads a row. An error is reported when the database is ready for the next statement. */
  readRow(bytes: Buffer, start: number, end: number): void {
    if (this._canceledDueToError) return
    try {
      if (this.#collected) this.#collected.add(bytes, start, end)
      else this._result.rows.push((this.#reader as RowReader).read(bytes, start))
    } catch (error) {
      this._canceledDueToError = error
    }
  }

  override handleCommandComplete(message: unknown, wire: Wire): void {
    super.handleCommandComplete(message, wire)
    const reader = this.#reader ?? NO_COLUMNS
    if (this.name !== '') readersOf.get(wire)?.set(this.name, reader)
    if (this.#collected) this._result.rows.push(this.#collected.rows(reader.names))
  }
}

function writeAll(stream: Writable, parts: Buffer[], together: boolean) {
  if (together) {
    stream.write(Buffer.concat(parts))
    return
  }
  stream.cork()
  for (const part of parts) stream.write(part)
  stream.uncork()
}

const DATA_ROW = 0x44
const ROW_READ: Message = { name: 'rowRead' }

/**
 * Makes a new client of the driver send these statements and read their rows in this way: those whose rows are requested as bytes and, with
 * `keepsStatements`, all that have a name.
 */
export function withKnownStatements(driver: pg.Client, keepsStatements: boolean): void {
  const client = driver as unknown as Client
  const { connection } = client
  if (keepsStatements) readersOf.set(connection, new Map())
  const query = client.query.bind(client)
  client.query = (statement, ...more) =>
    more.length === 0 && isOurs(statement, keepsStatements) ? ask(query, new KnownStatement(statement)) : query(statement, ...more)
  connection.attachListeners = (stream) => {
    const packets = packetsOf(client)
    const receive = (message: Message) => {
      if (message !== ROW_READ) connection.emit(message.name === 'error' ? 'errorMessage' : message.name, message)
    }
    stream.on('data', (bytes: Buffer) => packets.parse(bytes, receive))
  }
}

function isOurs(statement: unknown, keepsStatements: boolean): statement is NamedStatement {
  const { name, values, rowMode, asBytes } = statement as Record<string, unknown>
  if (asBytes === true) return true
  return keepsStatements && typeof name === 'string' && name !== '' && Array.isArray(values) && rowMode === undefined
}

/** Runs a statement. Its error has the stack of the caller. */
async function ask(query: Client['query'], statement: KnownStatement): Promise<pg.QueryResult> {
  try {
    return await new Promise((resolve, reject) => {
      statement.callback = (error, result) => (error ? reject(error) : resolve(result))
      query(statement)
    })
  } catch (error) {
    Error.captureStackTrace(error as Error)
    throw error
  }
}

/** The packets of a connection. Rows of our statements are read where they are. */
function packetsOf(client: Client): Packets {
  const packets = new Parser() as unknown as Packets
  const read = packets.handlePacket
  packets.handlePacket = (offset, code, length, bytes) => {
    const active = code === DATA_ROW ? client._getActiveQuery() : undefined
    if (!(active instanceof KnownStatement)) return read.call(packets, offset, code, length, bytes)
    active.readRow(bytes, offset + COUNT_BYTES, offset + length - LENGTH_ITSELF)
    return ROW_READ
  }
  return packets
}
