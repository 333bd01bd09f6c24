/**
 * PostgreSQL, once: the `sql` tag, rows with a shape, transactions. Only this file knows the driver.
 * Values reach a statement through `${}` alone; fragments nest.
 */
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { type Static, type TSchema, Type } from 'typebox'
import { matches } from '../../lib/validate.ts'

/** A statement or a part of one. Made by `sql` only. */
export class Sql {
  readonly strings: readonly string[]
  readonly values: readonly unknown[]
  readonly isOneOff: boolean
  constructor(strings: readonly string[], values: readonly unknown[], isOneOff = false) {
    this.strings = strings
    this.values = values
    this.isOneOff = isOneOff
  }
}

/** Builds a statement; `${value}` becomes a parameter, `${sql`…`}` a part of the text. */
export function sql(strings: TemplateStringsArray, ...values: unknown[]): Sql {
  return new Sql(strings, values)
}

/** Text that goes into the statement as it is. For identifiers out of our own tables, never for input. */
export const raw = (text: string): Sql => new Sql([text], [])

/** A statement whose text somebody's rule has shaped: there may be any number of those, so it is not prepared for later. */
export const unprepared = ({ strings, values }: Sql): Sql => new Sql(strings, values, true)

/** Parts with a separator between them. */
export function join(parts: readonly Sql[], separator: string): Sql {
  if (parts.length === 0) return raw('')
  return new Sql(['', ...parts.slice(1).map(() => separator), ''], parts)
}

/** A bound on how long any one statement may run when nobody set another. */
const STATEMENT_TIMEOUT_MS = 60_000

// bigint[], which the driver has no name for.
const INT8_ARRAY = 1016

function safeInteger(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw new Error(`int8 out of the safe range: ${text}`)
  return number
}

// The driver hands out int8 as text; our ids fit a number.
// Connections are in UTC, so that instants come as `2026-11-20 02:56:21.664+00`, which is ISO 8601 but for two characters.
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) => new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`))
pg.types.setTypeParser(pg.types.builtins.INT8, safeInteger)
pg.types.setTypeParser(INT8_ARRAY as never, (text) => (text === '{}' ? [] : text.slice(1, -1).split(',').map(safeInteger)))

/** What statements run on: the pool, or the one connection of a transaction. */
export type Db = {
  /** Every row, in the shape given. */
  many<S extends TSchema>(row: S, statement: Sql): Promise<Static<S>[]>
  /** The row of a statement that always returns one. Throws when it returns none. */
  one<S extends TSchema>(row: S, statement: Sql): Promise<Static<S>>
  /** The only column of the only row, such as a count. Throws when there is no row. */
  value<S extends TSchema>(value: S, statement: Sql): Promise<Static<S>>
  /** The first row, or undefined. */
  first<S extends TSchema>(row: S, statement: Sql): Promise<Static<S> | undefined>
  /** Rows affected. */
  run(statement: Sql): Promise<number>
  /** Loads rows in COPY text format through the given `copy … from stdin`. */
  copy(statement: Sql, lines: Iterable<string>): Promise<number>
  /** Runs `work` in one transaction (READ COMMITTED), again when it lost a race; nested calls join the outer one. */
  transaction<T>(work: (db: TxDb) => Promise<T>): Promise<T>
}

/** A `Db` inside a transaction. Functions that must be inside ask for it. */
export type TxDb = Db & {
  readonly inTransaction: true
  /** Runs `work`; when it throws, its effects are undone and the transaction lives on. */
  savepoint<T>(work: () => Promise<T>): Promise<T>
}

export type Database = Db &
  AsyncDisposable & {
    /** How many connections exist, are idle, are asked for. */
    connections(): { total: number; idle: number; waiting: number }
  }

export type DatabaseOptions = {
  url: string
  connectionsMax: number
  name: string
  /** Called with the duration of each statement. */
  onStatement?: (elapsedMs: number) => void
  /** Plans each statement for its values, which large batches are worth. */
  plansEachTime?: boolean
  /** Tests check every row against its shape. */
  checkRows?: boolean
  onIdleError?: (error: Error) => void
}

/** A pool of connections. Nothing is connected before the first statement. */
export function openDatabase(options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.connectionsMax,
    application_name: `carillon ${options.name}`,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 60_000,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    // Statements are prepared once and their plans outlive the size a table had then: on a young database the planner
    // would settle on a sequential scan and keep it while the table grows by orders of magnitude.
    options: `-c timezone=UTC -c jit=off -c enable_seqscan=off${options.plansEachTime ? ' -c plan_cache_mode=force_custom_plan' : ''}`,
  })
  // A connection that dies in the middle of a transaction fails the statement that comes next; the event alone must not end the process.
  pool.on('connect', (client) => client.on('error', () => undefined))
  // A connection that dies while idle is replaced by the pool; without a listener the process would end.
  pool.on('error', (error) => {
    if (!pool.ending) options.onIdleError?.(error)
  })
  return {
    ...dbOn(pool, options),
    transaction: (work) => withRetries(() => transactionOn(pool, options, work)),
    connections: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    [Symbol.asyncDispose]: async () => {
      if (!pool.ending) await pool.end()
    },
  }
}

const ATTEMPTS_MAX = 8

/**
 * A transaction that lost a race (a deadlock, somebody else's write in between) is begun again, so that no caller ever
 * hears of one. That is why nothing but SQL belongs inside.
 */
async function withRetries<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (tries === ATTEMPTS_MAX || !isConflict(error)) throw error
    }
  }
}

async function transactionOn<T>(pool: pg.Pool, options: DatabaseOptions, work: (db: TxDb) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query('begin')
    const result = await work(txOn(client, options))
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch((failed: Error) => {
      broken = failed
    })
    throw error
  } finally {
    client.release(broken)
  }
}

function txOn(client: pg.PoolClient, options: DatabaseOptions): TxDb {
  const tx: TxDb = { ...dbOn(client, options), inTransaction: true, transaction: (work) => work(tx), savepoint }
  return tx

  async function savepoint<T>(work: () => Promise<T>): Promise<T> {
    await client.query('savepoint inner_work')
    try {
      const result = await work()
      await client.query('release savepoint inner_work')
      return result
    } catch (error) {
      await client.query('rollback to savepoint inner_work')
      throw error
    }
  }
}

function dbOn(queryable: pg.Pool | pg.PoolClient, options: DatabaseOptions): Omit<Db, 'transaction'> {
  const query = async (statement: Sql) => {
    const prepared = prepare(statement)
    const started = performance.now()
    try {
      return await queryable.query(prepared)
    } finally {
      options.onStatement?.(performance.now() - started)
    }
  }
  const many = async <S extends TSchema>(row: S, statement: Sql) => {
    const { rows } = await query(statement)
    if (options.checkRows) for (const found of rows) assertRow(row, found, statement)
    return rows as Static<S>[]
  }
  const one = async <S extends TSchema>(row: S, statement: Sql) => {
    const [found] = await many(row, statement)
    if (found === undefined) throw new Error(`A statement that always returns a row returned none: ${summaryOf(statement)}`)
    return found
  }
  return {
    many,
    one,
    value: async (value, statement) => Object.values((await one(rowOf(value), statement)) as object)[0] as never,
    first: async (row, statement) => (await many(row, statement))[0],
    run: async (statement) => (await query(statement)).rowCount ?? 0,
    copy: async (statement, lines) => {
      const { text } = prepare(statement)
      const client = 'release' in queryable ? queryable : await queryable.connect()
      try {
        const stream = client.query(copyFrom(text))
        await pipeline(Readable.from(chunked(lines)), stream)
        return stream.rowCount
      } finally {
        if (client !== queryable) (client as pg.PoolClient).release()
      }
    },
  }
}

const COPY_CHUNK_CHARACTERS = 65_536

function* chunked(lines: Iterable<string>): Generator<Buffer> {
  let chunk = ''
  for (const line of lines) {
    chunk += line
    if (chunk.length >= COPY_CHUNK_CHARACTERS) {
      yield Buffer.from(chunk)
      chunk = ''
    }
  }
  if (chunk !== '') yield Buffer.from(chunk)
}

type Prepared = { name: string; text: string; values: unknown[] }

const names = new Map<string, string>()
const NAMES_MAX = 2000

/** Every statement is prepared under a name made from its text, so that the server plans it once a connection. */
function prepare(statement: Sql): Prepared {
  const values: unknown[] = []
  const text = render(statement, values)
  if (statement.isOneOff) return { name: '', text, values }
  let name = names.get(text)
  if (!name) {
    // Statements put together at run time are many; an unnamed one costs a plan, a full map costs memory.
    if (names.size >= NAMES_MAX) return { name: '', text, values }
    name = createHash('sha1').update(text).digest('base64url').slice(0, 20)
    names.set(text, name)
  }
  return { name, text, values }
}

function render({ strings, values: parts }: Sql, values: unknown[]): string {
  let text = strings[0] ?? ''
  for (const [index, part] of parts.entries()) {
    text += part instanceof Sql ? render(part, values) : `$${values.push(part)}`
    text += strings[index + 1]
  }
  return text
}

/** The shape of a row with one column, whatever its name; kept, because compiling a shape takes longer than a statement. */
function rowOf(value: TSchema): TSchema {
  const row = rows.get(value) ?? Type.Record(Type.String(), value)
  rows.set(value, row)
  return row
}

const rows = new WeakMap<TSchema, TSchema>()

const shapes = new WeakMap<TSchema, (value: unknown) => string | null>()

function assertRow(row: TSchema, found: unknown, statement: Sql) {
  const check = shapes.get(row) ?? matches(row)
  shapes.set(row, check)
  const problem = check(found)
  if (problem) throw new Error(`A row does not have its shape: ${problem} in ${summaryOf(statement)}`)
}

const summaryOf = (statement: Sql): string => prepare(statement).text.trim().slice(0, 200)

/** Was the database the cause, by one of these SQLSTATE codes? */
export const isSqlState = (error: unknown, ...codes: string[]): boolean =>
  error instanceof pg.DatabaseError && error.code !== undefined && codes.includes(error.code)

export const UNIQUE_VIOLATION = '23505'
export const LOCK_NOT_AVAILABLE = '55P03'
const DEADLOCK = '40P01'
const SERIALISATION_FAILURE = '40001'

/** What we were about to write was written by somebody else in between; a fresh transaction will see it. */
export class Conflict extends Error {}

/** Is this an error that the same transaction, begun again, may not meet? */
export const isConflict = (error: unknown): boolean => error instanceof Conflict || isSqlState(error, DEADLOCK, SERIALISATION_FAILURE)
