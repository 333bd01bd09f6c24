import pg from 'pg'
import type { World } from './world.ts'

/** Locks `users`, so that every read waits. */
export async function lockedUsers(w: World): Promise<AsyncDisposable> {
  const client = new pg.Client({ connectionString: w.databaseUrl })
  await client.connect()
  await client.query('begin')
  await client.query('lock table users in access exclusive mode')
  return { [Symbol.asyncDispose]: () => client.end() }
}
