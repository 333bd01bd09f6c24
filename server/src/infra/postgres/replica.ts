/**
 * Lists are read from a replica that has all that was committed before the request, by any process: what a caller has written is always in
 * the lists that it reads. Otherwise, and when the replica is away, the primary is read.
 */
import { Type } from 'typebox'
import type { Clock } from '../../lib/clock.ts'
import { isDatabaseAway } from './database-away.ts'
import { type Database, type Db, isConflict, isSqlState, sql } from './db.ts'
import { failedBefore } from './transaction-scope.ts'

export type Replica = AsyncDisposable & {
  /** Runs `work`, which only reads, on the replica, or on `primary`. */
  read<T>(primary: Db, work: (db: Db) => Promise<T>): Promise<T>
  /** Those to the replica. */
  connections: Database['connections']
}

/** A replica is usually behind for a millisecond or two. Each look is a round trip. */
const LOOKS_MAX = 8
/** For this long the primary is read after the replica was behind, or away. */
const BEHIND_MS = 500
const AWAY_MS = 5000

/** `db` is the replica. */
export function openReplica(db: Database, clock: Clock): Replica {
  let notBeforeMs = 0
  const nowMs = () => clock.now().getTime()

  /** Undefined if the replica is behind. */
  async function readThere<T>(primary: Db, work: (db: Db) => Promise<T>): Promise<{ found: T } | undefined> {
    const position = await primary.value(Type.String(), sql`select pg_current_wal_flush_lsn()::text as position`)
    // In one transaction, and so from one server: connections may lead to several replicas.
    return db.transaction(async (tx) => ((await hasAll(tx, position)) ? { found: await work(tx).catch(throwOnce) } : undefined), {
      pipelined: true,
    })
  }

  return {
    async read(primary, work) {
      if (nowMs() < notBeforeMs) return work(primary)
      try {
        const read = await readThere(primary, work)
        if (read) return read.found
        notBeforeMs = nowMs() + BEHIND_MS
      } catch (error) {
        if (!isOfServer(error)) throw error
        notBeforeMs = nowMs() + AWAY_MS
      }
      return work(primary)
    },
    connections: () => db.connections(),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  }
}

async function hasAll(tx: Db, position: string): Promise<boolean> {
  const applied = sql`case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_flush_lsn() end`
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    if (await tx.value(Type.Boolean(), sql`select ${applied} >= ${position}::pg_lsn as has_all`)) return true
  }
  return false
}

/** A standby cancelled a statement that was in the way of what it applies. The primary is read then, rather than the standby again. */
class Cancelled extends Error {}

/** Of statements that were sent together, the one that was cancelled may be heard of last. */
function throwOnce(error: unknown): never {
  throw isConflict(error) || failedBefore(error) ? new Cancelled('The replica cancelled a statement.', { cause: error }) : error
}

/** A standby has no position of its own. */
const NOT_IN_PREREQUISITE_STATE = '55000'
const UNDEFINED_DATABASE = '3D000'

/** Did this fail because of where it ran? */
const isOfServer = (error: unknown): boolean =>
  isDatabaseAway(error) ||
  error instanceof Cancelled ||
  isConflict(error) ||
  isSqlState(error, NOT_IN_PREREQUISITE_STATE, UNDEFINED_DATABASE)
