/** Statements of tests, past the code of the server. */
import pg from 'pg'

/** Tests repeat a statement until it returns what they wait for, and to connect costs the database more than most statements. */
const KEPT_MS = 2000

const pools = new Map<string, pg.Pool>()

function poolOf(url: string): pg.Pool {
  const known = pools.get(url)
  if (known) return known
  const pool = new pg.Pool({ connectionString: url, idleTimeoutMillis: KEPT_MS, allowExitOnIdle: true })
  // The server of an idle connection may have been stopped or killed: the next statement connects again.
  pool.on('error', () => undefined)
  pools.set(url, pool)
  return pool
}

/** Runs a statement, or several without values, and returns the rows of one. Each may have another connection. */
export async function rowsOf<T>(url: string, statement: string, values: unknown[] = []): Promise<T[]> {
  return (await poolOf(url).query(statement, values)).rows as T[]
}
