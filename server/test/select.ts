import pg from 'pg'
import type { World } from './world.ts'

/** Runs a statement of a test, past the code of the server. */
export async function select(w: World, text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: w.databaseUrl })
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end()
  }
}
