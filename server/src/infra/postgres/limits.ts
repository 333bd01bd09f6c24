/** Limits on the time of statements, and statements that are sent together with their transaction. */
import type { Writable } from 'node:stream'
import type pg from 'pg'

/**
 * `statementMs` limits the time of each statement, `lockMs` its wait for a lock. With `alongIndexes`, rows are read in the order of an
 * index and joined one by one, where that is possible. In a transaction that is `pipelined`, statements that are asked for together are sent
 * together; its work must not depend on whether an earlier one failed.
 */
export type TransactionLimits = { statementMs?: number; lockMs?: number; alongIndexes?: boolean; pipelined?: boolean }

/**
 * What PostgreSQL does when it believes that a table is small: it reads rows by any index, and sorts them or joins them as a whole. It believes
 * so of a queue that was empty when it looked last, however much has piled up since.
 */
const SHORTCUTS = ['enable_sort', 'enable_incremental_sort', 'enable_bitmapscan', 'enable_hashjoin', 'enable_mergejoin']

/** The default limit on the time of a statement. */
export const STATEMENT_TIMEOUT_MS = 60_000
/** A process that is suspended in a transaction loses it, and with it its locks. */
const IDLE_IN_TRANSACTION_MS = 60_000

type Setting = [name: string, value: string]

const TRANSACTION_TIMEOUT = 'transaction_timeout'

/**
 * Removes the limit on whole transactions: a batch that the server ended would be repeated for ever. Its statements are limited, and its
 * silence. PostgreSQL 16 has no such limit, and refuses its name elsewhere.
 */
export const allowLongTransactions = (isLocal: boolean): string =>
  `select set_config('${TRANSACTION_TIMEOUT}', '0', ${isLocal}) where current_setting('${TRANSACTION_TIMEOUT}', true) is not null`

type Connections = { pooled?: boolean; plansEachTime?: boolean }

/** The settings of PostgreSQL that all our statements run with. Those through a pooler are sent with each transaction. */
export const baseSettings = ({ pooled = false, plansEachTime = false }: Connections): Setting[] => [
  ['TimeZone', 'UTC'],
  ['statement_timeout', `${STATEMENT_TIMEOUT_MS}ms`],
  ['idle_in_transaction_session_timeout', `${IDLE_IN_TRANSACTION_MS}ms`],
  ['jit', 'off'],
  // Plans of prepared statements are kept for a while. On a new database the planner would choose a sequential scan, however many rows are
  // written meanwhile.
  ['enable_seqscan', 'off'],
  ...(pooled ? [[TRANSACTION_TIMEOUT, '0'] satisfies Setting] : []),
  ...(pooled && plansEachTime ? [['plan_cache_mode', 'force_custom_plan'] satisfies Setting] : []),
]

/** Settings as a start-up parameter: the defaults of a session. */
export const asOptions = (settings: Setting[]): string => settings.map(([name, value]) => `-c ${name}=${value}`).join(' ')

/** The settings of a transaction with limits. */
export const settingsOf = ({ statementMs, lockMs, alongIndexes }: TransactionLimits): Setting[] => [
  ...(statementMs === undefined ? [] : [['statement_timeout', `${statementMs}ms`] satisfies Setting]),
  ...(lockMs === undefined ? [] : [['lock_timeout', `${lockMs}ms`] satisfies Setting]),
  ...(alongIndexes ? SHORTCUTS.map((name): Setting => [name, 'off']) : []),
]

/** What undoes these settings within a transaction. They are named one by one, because a reset would undo those of a pooled connection too. */
export const settingsAfter = (limits: TransactionLimits): Setting[] =>
  settingsOf(limits).map(([name]) => [
    name,
    name === 'statement_timeout' ? `${STATEMENT_TIMEOUT_MS}ms` : name === 'lock_timeout' ? '0' : 'on',
  ])

/** Begins a transaction. Its settings are sent in the same message. */
export const beginWith = (settings: Setting[]): string =>
  [
    'begin',
    ...settings.map(([name, value]) => (name === TRANSACTION_TIMEOUT ? allowLongTransactions(true) : `set local ${name} = '${value}'`)),
  ].join('; ')

/** The members of a client that its types leave out. */
type Pipelining = { pipeline: boolean; connection: { stream: Writable } }

/** Whether a connection sends statements without waiting for the answers to those before. */
export const isPipelined = (client: pg.ClientBase): boolean => (client as unknown as Pipelining).pipeline

export function setPipelined(client: pg.ClientBase, isOn: boolean): void {
  ;(client as unknown as Pipelining).pipeline = isOn
}

/** Where `runWithin` gets a connection; `drop` closes those that an error has made useless. */
type Source = { take(): Promise<pg.PoolClient>; drop(): void }

/** Runs a statement between a begin with settings and a commit, which are sent without waiting. If it fails, the commit undoes it. */
export async function runWithin(
  connections: Source,
  statement: pg.QueryConfig,
  settings: Setting[],
  mustDrop: (error: unknown) => boolean,
): Promise<pg.QueryResult> {
  const client = await connections.take()
  const { stream } = (client as unknown as Pipelining).connection
  setPipelined(client, true)
  stream.cork()
  const sent = [client.query(beginWith(settings)), client.query(statement), client.query('commit')] as const
  stream.uncork()
  const [begun, done, committed] = await Promise.allSettled(sent)
  setPipelined(client, false)
  const failed = [begun, committed].find((one) => one.status === 'rejected')
  client.release(failed?.reason)
  if (done.status === 'rejected') {
    if (mustDrop(done.reason)) connections.drop()
    throw done.reason
  }
  if (failed) throw failed.reason
  return done.value
}
