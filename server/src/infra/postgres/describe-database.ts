import { Type } from 'typebox'
import { Count, Instant } from '../../lib/shapes.ts'
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

const MigrationRow = Type.Object({ version: Type.Integer(), name: Type.String(), applied_at: Instant })

/** The last migration that was applied. */
export const lastMigration = (db: Db) =>
  db.one(MigrationRow, sql`select version, name, applied_at from schema_migrations order by version desc limit 1`)

/** The size of the database on disk, in bytes. */
export const databaseSize = (db: Db): Promise<number> => db.value(Count, sql`select pg_database_size(current_database()) as bytes`)

const TableRow = Type.Object({ name: Type.String(), size_bytes: Type.Integer() })

/** The largest tables with their indexes. A partition counts with its table. */
export const largestTables = (db: Db, limit: number) =>
  db.many(
    TableRow,
    sql`select coalesce(pg_partition_root(c.oid), c.oid)::regclass::text as name, sum(pg_total_relation_size(c.oid))::bigint as size_bytes
        from pg_class c
        where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
        group by 1
        order by 2 desc, 1
        limit ${limit}`,
  )
