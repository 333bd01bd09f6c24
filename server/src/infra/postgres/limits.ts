/** Limits on the time of statements, and statements that are sent together with their transaction. */
import type { Writable } from 'node:stream'
import type pg from 'pg'
import type { FreshConnections } from './fresh-connections.ts'

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

/** The settings of a transaction with limits. */
export const settingsOf = ({ statementMs, lockMs, alongIndexes }: TransactionLimits): [name: string, value: string][] => [
  ...(statementMs === undefined ? [] : [['statement_timeout', `${statementMs}ms`] as [string, string]]),
  ...(lockMs === undefined ? [] : [['lock_timeout', `${lockMs}ms`] as [string, string]]),
  ...(alongIndexes ? SHORTCUTS.map((name): [string, string] => [name, 'off']) : []),
]

/** The limits are set on the way, in the same message. */
export const beginWith = (limits: TransactionLimits): string =>
  ['begin', ...settingsOf(limits).map(([name, value]) => `set local ${name} = '${value}'`)].join('; ')

/** The members of a client that its types leave out. */
type Pipelining = { pipeline: boolean; connection: { stream: Writable } }

/** Whether a connection sends statements without waiting for the answers to those before. */
export const isPipelined = (client: pg.ClientBase): boolean => (client as unknown as Pipelining).pipeline

export function setPipelined(client: pg.ClientBase, isOn: boolean): void {
  ;(client as unknown as Pipelining).pipeline = isOn
}

/** Runs a statement between a begin with limits and a commit, which are sent without waiting. If it fails, the commit undoes it. */
export async function runWithin(
  connections: FreshConnections,
  statement: pg.QueryConfig,
  limits: TransactionLimits,
  mustDrop: (error: unknown) => boolean,
): Promise<pg.QueryResult> {
  const client = await connections.take()
  const { stream } = (client as unknown as Pipelining).connection
  setPipelined(client, true)
  stream.cork()
  const sent = [client.query(beginWith(limits)), client.query(statement), client.query('commit')] as const
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
