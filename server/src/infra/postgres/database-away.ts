import pg from 'pg'
import { isReadOnly, isSqlState } from './db.ts'
import { UnusableServer } from './hosts.ts'

/** Why there is no connection to a host, or none any more. */
export const UNREACHABLE: readonly string[] = [
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'],
  ...['EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL'],
  ...['ENOTFOUND', 'EAI_AGAIN'],
]

/** It is being stopped or started, ended the connection or the transaction, or has no connection left. */
const UNAVAILABLE = ['57P01', '57P02', '57P03', '57P05', '25P03', '25P04', '53300', '08000', '08001', '08003', '08004', '08006']
/** What PgBouncer says, with `FATAL`, whatever ended its connections. Otherwise it is a mistake in a message. */
const PROTOCOL_VIOLATION = '08P01'
/** Its disk is full, or reads and writes fail: what is wrong is the machine and not the statement. */
const OUT_OF_ROOM = ['53000', '53100', '58030']

/** Did this fail because the database is unavailable? If so, the same request may succeed later. */
export function isDatabaseAway(error: unknown): boolean {
  if (isReadOnly(error) || error instanceof UnusableServer) return true
  if (isSqlState(error, ...UNAVAILABLE, ...OUT_OF_ROOM)) return true
  if (!(error instanceof Error)) return false
  const { code } = error as { code?: string }
  if (code && UNREACHABLE.includes(code)) return true
  if (code === PROTOCOL_VIOLATION && error instanceof pg.DatabaseError && error.severity === 'FATAL') return true
  return /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/.test(error.message)
}
