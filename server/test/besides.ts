/** Two transactions on the same rows, in a given order. */
import { Type } from 'typebox'
import { type Sql, sql } from '../src/infra/postgres/db.ts'
import type { World } from './world.ts'

const POLL_MS = 2

/** How many statements wait for another transaction. */
export const waitingForLocks = ({ db }: Pick<World, 'db'>): Promise<number> =>
  db.value(Type.Integer(), sql`select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)

/**
 * Runs a statement that meets rows which another transaction has changed. That one commits when the statement waits for it, or has ended
 * without waiting.
 */
export async function besides<T>({ db }: Pick<World, 'db'>, change: Sql, statement: () => Promise<T>): Promise<T> {
  const [changed, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const other = db.transaction(async (db) => {
    await db.run(change)
    changed.resolve()
    await commit.promise
  })
  await Promise.race([changed.promise, other])
  let hasEnded = false
  const running = statement().finally(() => {
    hasEnded = true
  })
  while (!hasEnded && (await waitingForLocks({ db })) === 0) await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  commit.resolve()
  await other
  return running
}
