/** Limits on the time of statements, and statements that are sent together with their transaction. */
import type { Writable } from 'node:stream'
import type pg from 'pg'
import type { FreshConnections } from './fresh-connections.ts'

/** `statementMs` limits the time of each statement, `lockMs` its wait for a lock. */
export type TransactionLimits = { statementMs?: number; lockMs?: number }

/** The limits are set on the way, in the same message. */
export const beginWith = ({ statementMs, lockMs }: TransactionLimits): string =>
  [
    'begin',
    ...(statementMs === undefined ? [] : [`set local statement_timeout = ${statementMs}`]),
    ...(lockMs === undefined ? [] : [`set local lock_timeout = ${lockMs}`]),
  ].join('; ')

/** The members of a client that its types leave out. */
type Pipelining = { pipeline: boolean; connection: { stream: Writable } }

/** Runs a statement between a begin with limits and a commit, which are sent without waiting. If it fails, the commit undoes it. */
export async function runWithin(
  connections: FreshConnections,
  statement: pg.QueryConfig,
  limits: TransactionLimits,
  mustDrop: (error: unknown) => boolean,
): Promise<pg.QueryResult> {
  const client = await connections.take()
  const pipelining = client as unknown as Pipelining
  const { stream } = pipelining.connection
  pipelining.pipeline = true
  stream.cork()
  const sent = [client.query(beginWith(limits)), client.query(statement), client.query('commit')] as const
  stream.uncork()
  const [begun, done, committed] = await Promise.allSettled(sent)
  pipelining.pipeline = false
  const failed = [begun, committed].find((one) => one.status === 'rejected')
  client.release(failed?.reason)
  if (done.status === 'rejected') {
    if (mustDrop(done.reason)) connections.drop()
    throw done.reason
  }
  if (failed) throw failed.reason
  return done.value
}
