/**
 * Writes a database to a folder: all rows as one transaction sees them, while others keep writing. It needs no programs of PostgreSQL, which
 * the embedded one does not have, and no rights beyond those of the owner of the tables (D-OPS-3).
 */
import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Client } from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { type BackupTable, type DatabaseBackup, quoted, tableFile } from './backup-format.ts'
import { withConnection } from './hosts.ts'
import { allowLongTransactions } from './limits.ts'

/** Rows compress to a quarter at the lowest level already. */
const COMPRESSION_LEVEL = 1

/** A table of our own that cannot be read ends the backup: without its rows, it would not be one. */
const OF_OTHERS = `c.relowner <> (select relowner from pg_class where oid = 'public.schema_migrations'::regclass)`

/** Tables with their columns, except partitions, whose rows are those of their parents, and except what a crash empties. */
const TABLES = `
  select c.relname::text as name,
         (select array_agg(a.attname::text order by a.attnum) from pg_attribute a
          where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns
  from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relpersistence = 'p'
    and c.relname <> 'schema_migrations' and not (${OF_OTHERS} and not has_table_privilege(c.oid, 'select'))
  order by 1`
const PARTITIONS = `
  select c.relname::text as name, i.inhparent::regclass::text as parent, pg_get_expr(c.relpartbound, c.oid) as bound
  from pg_class c join pg_inherits i on i.inhrelid = c.oid
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relispartition
  order by 1`
/** Tables of others, which the user of the server may not read. */
const UNREADABLE = `
  select c.relname::text as name from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and ${OF_OTHERS} and not has_table_privilege(c.oid, 'select')
  order by 1`
const UNLOGGED = `
  select c.relname::text as name,
         string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' order by a.attnum) as columns
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relpersistence = 'u'
  group by 1 order by 1`
const SEQUENCES = `
  select sequencename::text as name, last_value::text from pg_sequences where schemaname = 'public' and last_value is not null order by 1`

/** Backs up the database at `url` into a folder, which exists. */
export async function backUpDatabase(url: string, folder: string): Promise<DatabaseBackup> {
  return withConnection(url, { application_name: 'carillon backup' }, async (client) => {
    await mkdir(join(folder, 'tables'), { mode: 0o700 })
    await client.query(allowLongTransactions(false))
    // A large table takes longer than any limit on the time of a statement.
    await client.query('begin isolation level repeatable read read only; set local statement_timeout = 0; set local lock_timeout = 0')
    const rows = async <R extends object>(statement: string) => (await client.query<R>(statement)).rows
    const [version] = await rows<{ version: number }>('select max(version) as version from schema_migrations')
    const described = await rows<{ name: string; columns: string[] }>(TABLES)
    const partitions = await rows<DatabaseBackup['partitions'][number]>(PARTITIONS)
    // Nothing that is copied can be dropped meanwhile.
    await client.query(`lock table ${described.map(({ name }) => quoted(name)).join(', ')} in access share mode`)
    // After the snapshot, so that no row of it has a number that the sequence has yet to give.
    const sequences = await rows<DatabaseBackup['sequences'][number]>(SEQUENCES)
    const unlogged = await rows<DatabaseBackup['unlogged'][number]>(UNLOGGED)
    const left_out = (await rows<{ name: string }>(UNREADABLE)).map(({ name }) => name)
    const tables: BackupTable[] = []
    for (const table of described) tables.push(await copyTable(client, table, folder))
    return { schema_version: version?.version ?? 0, tables, partitions, unlogged, sequences, left_out }
  })
}

async function copyTable(client: Client, { name, columns }: { name: string; columns: string[] }, folder: string): Promise<BackupTable> {
  const selected = `select ${columns.map(quoted).join(', ')} from ${quoted(name)}`
  const source = client.query(copyTo(`copy (${selected}) to stdout`))
  const hash = createHash('sha256')
  const hashed = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      hash.update(chunk)
      yield chunk
    }
  }
  const file = createWriteStream(join(folder, tableFile(name)), { mode: 0o600, flush: true })
  await pipeline(source, createGzip({ level: COMPRESSION_LEVEL }), hashed, file)
  return { name, columns, rows: source.rowCount, sha256: hash.digest('hex') }
}
