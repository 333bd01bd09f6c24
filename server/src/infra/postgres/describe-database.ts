import { Type } from 'typebox'
import { type Db, sql } from './db.ts'

const Description = Type.Object({ version: Type.String(), durable: Type.Boolean() })

/** The version of PostgreSQL, and whether commits survive a power failure. */
export async function describeDatabase(db: Db): Promise<{ version: string; durable: boolean }> {
  const row = await db.first(
    Description,
    sql`select current_setting('server_version') as version,
               current_setting('fsync') = 'on' and current_setting('full_page_writes') = 'on' and current_setting('synchronous_commit') <> 'off' as durable`,
  )
  if (!row) throw new Error('PostgreSQL did not return its settings.')
  return row
}
