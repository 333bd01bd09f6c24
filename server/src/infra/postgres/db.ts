/**
 * Access to PostgreSQL: the `sql` tag, typed rows, transactions. Only this file uses the driver. Values enter a statement only through
 * `${}`, and fragments can be nested.
 */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { Static, TSchema } from 'typebox'
import type { Clock } from '../../lib/clock.ts'
import type { RowBytes } from '../../lib/row-bytes.ts'
import { chunked } from './chunked.ts'
import { commit } from './commit.ts'
import { type FreshConnections, freshConnections } from './fresh-connections.ts'
import { openHosts } from './hosts.ts'
import { asOptions, baseSettings, beginWith, isPipelined, runWithin, setPipelined, settingsOf, type TransactionLimits } from './limits.ts'
import { PLANS, PLANS_OF_REPLICA, type PlanLimits } from './outgrown-plans.ts'
import { parseValues } from './parse-values.ts'
import { requireRow, rowOf } from './row-schemas.ts'
import { sequentially } from './sequentially.ts'
import { type SilenceLimits, watchSilence } from './silent-hosts.ts'
import { type Sql, statementNames, summaryOf, unnamed } from './sql.ts'
import { causeOf, isOver, noteFailure, type Scope } from './transaction-scope.ts'

export { fence, join, raw, type Sql, sql, unprepared } from './sql.ts'

parseValues(pg.types)

/** Runs statements, on the pool or on the connection of a transaction. */
export type Db = {
  /** All rows. */
  many<S extends TSchema>(row: S, statement: Sql): Promise<Static<S>[]>
  /** The row of a statement that always returns one. Throws without a row. */
  one<S extends TSchema>(row: S, statement: Sql): Promise<Static<S>>
  /** The only column of the only row, such as a count. Throws without a row. */
  value<S extends TSchema>(value: S, statement: Sql): Promise<Static<S>>
  /** The first row, or undefined. */
  first<S extends TSchema>(row: S, statement: Sql): Promise<Static<S> | undefined>
  /** All rows as they are sent, in binary. */
  bytes(statement: Sql): Promise<RowBytes>
  /** Runs a statement. Returns the number of affected rows. */
  run(statement: Sql): Promise<number>
  /**
   * Runs each statement as a transaction of its own within limits. It is sent together with its begin and its commit, so that it takes one round
   * trip.
   */
  within(limits: TransactionLimits): Statements
  /** Loads rows in COPY text format with a statement `copy … from stdin`. */
  copy(statement: Sql, lines: Iterable<string>): Promise<number>
  /** Runs `work` in a transaction (READ COMMITTED), and repeats it after a conflict. Nested calls join the outer transaction. */
  transaction<T>(work: (db: TxDb) => Promise<T>, limits?: TransactionLimits): Promise<T>
}

/** What runs single statements. */
export type Statements = Pick<Db, 'many' | 'one' | 'value' | 'first' | 'bytes' | 'run'>

/** A `Db` inside a transaction, for functions that require one. */
export type TxDb = Db & {
  readonly inTransaction: true
  /**
   * Runs `work`, which uses the given `db` only: other statements of the transaction wait until it has ended. If it throws, its effects are rolled
   * back and the transaction continues.
   */
  savepoint<T>(work: (db: TxDb) => Promise<T>): Promise<T>
}

export type Database = Db &
  AsyncDisposable & {
    /** How many connections exist, how many are idle, and how many calls wait for one. */
    connections(): { total: number; idle: number; waiting: number }
  }

export type DatabaseOptions = {
  url: string
  connectionsMax: number
  name: string
  /** Called with the duration of each statement. */
  onStatement?: (elapsedMs: number) => void
  /** When the plans of statements are made again. Connections of a pooler keep them for as long as they exist. */
  plans?: PlanLimits
  /** Plans each statement for its values, where a pooler's connections keep plans. For large batches. */
  plansEachTime?: boolean
  /**
   * The URL leads to a pooler that gives a connection to each transaction, such as PgBouncer: nothing is set for a session, and every statement
   * is a transaction with its settings.
   */
  pooled?: boolean
  /** Does not name prepared statements, for a pooler that does not keep them. */
  unnamed?: boolean
  /** Checks every row against its schema. For tests. */
  checkRows?: boolean
  /** There is a primary to read from instead. */
  isReplica?: boolean
  /** By which hosts that have vanished are given up, and when; without a clock, none is. */
  clock?: Clock
  silence?: SilenceLimits
  onIdleError?: (error: Error) => void
}

const CONNECT_TIMEOUT_MS = 10_000
const REPLICA_CONNECT_TIMEOUT_MS = 1000

/** Opens a pool of connections. The first statement connects. */
export function openDatabase(options: DatabaseOptions): Database {
  const base = baseSettings(options)
  const hosts = openHosts(options.url, { isDirect: !options.pooled, keepsStatements: !options.pooled && !options.unnamed })
  const pool = new pg.Pool({
    Client: hosts.Client as unknown as NonNullable<pg.PoolConfig['Client']>,
    max: options.connectionsMax,
    application_name: `carillon ${options.name}`,
    connectionTimeoutMillis: options.isReplica ? REPLICA_CONNECT_TIMEOUT_MS : CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: 60_000,
    ...(!options.pooled && { options: asOptions(base) }),
  })
  const connections = freshConnections(pool, hosts, {
    mustDrop: isReadOnly,
    plans: options.pooled ? null : (options.plans ?? (options.isReplica ? PLANS_OF_REPLICA : PLANS)),
  })
  const closeSilent = options.clock && watchSilence(pool, hosts, options.clock, options)
  const open: Opened = { ...options, connections, base: options.pooled ? base : [], prepare: options.unnamed ? unnamed : statementNames() }
  // The pool replaces idle connections that fail. Without a listener, the event would end the process.
  pool.on('error', (error) => {
    if (!pool.ending) options.onIdleError?.(error)
  })
  const within = (limits: TransactionLimits) => dbOn({ ...connections, query: (statement) => queryWithin(open, statement, limits) }, open)
  return {
    ...(options.pooled
      ? { ...within({}), copy: (statement, lines) => transactionOn(open, (db) => db.copy(statement, lines)) }
      : dbOn(connections, open)),
    within,
    transaction: (work, limits) => withRetries(() => transactionOn(open, work, limits)),
    connections: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    [Symbol.asyncDispose]: async () => {
      if (!pool.ending) await pool.end().then(closeSilent)
    },
  }
}

/** `base` are the settings that every transaction of a pooled connection begins with. */
type Opened = DatabaseOptions & { connections: FreshConnections; base: [name: string, value: string][]; prepare: typeof unnamed }

const queryWithin = ({ connections, base }: Opened, statement: pg.QueryConfig, limits: TransactionLimits) =>
  withRetries(() => runWithin(connections, statement, [...base, ...settingsOf(limits)], isReadOnly))

const ATTEMPTS_MAX = 8

/**
 * Repeats a transaction after a conflict, such as a deadlock, so that callers do not see it. That is why a transaction must have no effects
 * outside the database.
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

async function transactionOn<T>(options: Opened, work: (db: TxDb) => Promise<T>, limits: TransactionLimits = {}): Promise<T> {
  const { connections, base } = options
  const client = await connections.take()
  const scope: Scope = { isOver: false }
  let broken: Error | undefined
  try {
    setPipelined(client, limits.pipelined === true)
    const begun = client.query(beginWith([...base, ...settingsOf(limits)]))
    // Of a pipelined transaction the first statements are on their way before it has begun. If it cannot begin, none of them is run alone:
    // the connection is lost, or the transaction has failed.
    if (limits.pipelined) begun.catch(() => undefined)
    else await begun
    const result = await work(txOn(client, options, scope)).finally(() => {
      scope.isOver = true
    })
    await begun
    await commit(client)
    return result
  } catch (error) {
    const cause = causeOf(scope, error)
    if (isReadOnly(cause)) {
      connections.drop()
      broken = cause as Error
    }
    await client.query('rollback').catch((failed: Error) => {
      broken = failed
    })
    throw cause
  } finally {
    setPipelined(client, false)
    client.release(broken)
  }
}

/**
 * The statements of a transaction or savepoint. Those that are asked for together run one after the other, as a connection that is not
 * pipelined requires, and none of them within a savepoint that is asked for beside them.
 */
function txOn(client: pg.PoolClient, options: Opened, scope: Scope): TxDb {
  const asked = { ...dbOn(client, options, scope), savepoint }
  const statements = (isPipelined(client) ? asked : sequentially(asked)) as typeof asked
  const tx: TxDb = { ...statements, inTransaction: true, within: () => tx, transaction: (work) => work(tx) }
  return tx

  async function savepoint<T>(work: (db: TxDb) => Promise<T>): Promise<T> {
    if (isOver(scope)) throw new Error('The transaction of a savepoint has ended.')
    await client.query('savepoint inner_work')
    const inner: Scope = { isOver: false, within: scope }
    try {
      const result = await work(txOn(client, options, inner)).finally(() => {
        inner.isOver = true
      })
      if (isOver(scope)) throw new Error('The transaction of a savepoint has ended.')
      await client.query('release savepoint inner_work')
      return result
    } catch (error) {
      if (!isOver(scope)) await client.query('rollback to savepoint inner_work; release savepoint inner_work')
      throw causeOf(inner, error)
    }
  }
}

type OnConnection = Omit<Db, 'transaction' | 'within'>

function dbOn(queryable: FreshConnections | pg.PoolClient, options: Opened, scope?: Scope): OnConnection {
  const requireOpen = (statement: Sql) => {
    if (isOver(scope)) throw new Error(`The transaction of a statement has ended: ${summaryOf(statement)}`)
  }
  const query = async (statement: Sql, form?: { asBytes: true }) => {
    requireOpen(statement)
    const prepared = Object.assign(options.prepare(statement), form)
    const started = performance.now()
    try {
      return await queryable.query(prepared)
    } catch (error) {
      noteFailure(scope, error)
      throw error
    } finally {
      options.onStatement?.(performance.now() - started)
    }
  }
  const many = async <S extends TSchema>(row: S, statement: Sql) => {
    const { rows } = await query(statement)
    if (options.checkRows) for (const found of rows) requireRow(row, found, statement)
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
    bytes: async (statement) => (await query(statement, { asBytes: true })).rows[0],
    run: async (statement) => (await query(statement)).rowCount ?? 0,
    copy: async (statement, lines) => {
      requireOpen(statement)
      const { text } = unnamed(statement)
      const client = 'release' in queryable ? queryable : await queryable.take()
      // The protocol has no copy among statements that were sent ahead.
      const wasPipelined = isPipelined(client)
      setPipelined(client, false)
      try {
        const stream = client.query(copyFrom(text))
        await pipeline(Readable.from(chunked(lines)), stream)
        return stream.rowCount
      } catch (error) {
        noteFailure(scope, error)
        throw error
      } finally {
        setPipelined(client, wasPipelined)
        if (client !== queryable) (client as pg.PoolClient).release()
      }
    },
  }
}

/** Is this an error of the database with one of these SQLSTATE codes? */
export const isSqlState = (error: unknown, ...codes: string[]): boolean =>
  error instanceof pg.DatabaseError && error.code !== undefined && codes.includes(error.code)

const READ_ONLY = '25006'

/** Does the database refuse to write, because it is a standby now or was made read-only? */
export const isReadOnly = (error: unknown): boolean => isSqlState(error, READ_ONLY)

export const UNIQUE_VIOLATION = '23505'
export const LOCK_NOT_AVAILABLE = '55P03'
const DEADLOCK = '40P01'
const SERIALISATION_FAILURE = '40001'

/** Another transaction changed the same rows meanwhile. The transaction is repeated. */
export class Conflict extends Error {}

/** Is this an error that repeating the transaction can resolve? */
export const isConflict = (error: unknown): boolean => error instanceof Conflict || isSqlState(error, DEADLOCK, SERIALISATION_FAILURE)
