/** Loads a backup into an empty database: the migrations up to that of the backup, and then its rows in one transaction. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { Client } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { StartError } from '../../lib/start-error.ts'
import { type BackupTable, type DatabaseBackup, quoted, tableFile } from './backup-format.ts'
import { withConnection } from './hosts.ts'
import { allowLongTransactions } from './limits.ts'
import { migrate, newestVersion } from './migrate.ts'

const CONNECTION = { application_name: 'carillon restore' }

type Log = Parameters<typeof migrate>[1]

/** The constraints between tables, which are added again when all rows are there: then their order does not matter, and they check the rows. */
const FOREIGN_KEYS = `
  select conrelid::regclass::text as table, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
  from pg_constraint where contype = 'f' and conparentid = 0 and connamespace = 'public'::regnamespace order by 1, 2`
const TRIGGERED = `
  select distinct t.tgrelid::regclass::text as name from pg_trigger t join pg_class c on c.oid = t.tgrelid
  where c.relnamespace = 'public'::regnamespace and not t.tgisinternal order by 1`
const EMPTY_PARTITIONS = `
  select c.oid::regclass::text as name from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relispartition and c.relkind in ('r', 'p') order by 1`

/**
 * Ids that the server gave after the backup are in links, in headers, at providers and in other systems, and none is given again: as many
 * are left out as were given before the backup, within limits. A sequence that the backup lacks had not been used yet.
 */
const IDS_LEFT_OUT_MIN = 10_000_000
const IDS_LEFT_OUT_MAX = 1_000_000_000
const LEAVE_OUT_IDS = `
  select setval(s.id, s.last + least(greatest(s.last, ${IDS_LEFT_OUT_MIN}), ${IDS_LEFT_OUT_MAX}))
  from information_schema.columns c
  cross join lateral (select pg_get_serial_sequence(quote_ident(c.table_name), 'id')::regclass as sequence) q
  cross join lateral (select q.sequence as id, coalesce(pg_sequence_last_value(q.sequence), 0) as last) s
  where c.table_schema = 'public' and c.column_name = 'id' and c.is_identity = 'YES'`

/** Readers of the activity have positions that were given after the backup. */
const LEAVE_OUT_POSITIONS = `update activity_feeds set last_position = last_position + ${IDS_LEFT_OUT_MIN}`

/** Backups of earlier schemas have no projects that were deleted, and none of them was released. */
const MAIL_SINCE = 63

/** What waited in the mail queue may have been delivered after the backup: the server cannot know, so people decide about it. */
const HOLD_MAIL = `
  insert into mail_pauses (project_id, scope, value, created_at)
  select id, 'project', '', now() from projects where deleted_at is null
  on conflict do nothing`

/**
 * Throws `StartError` if the backup is of a newer release, or if a file of it is missing or was changed. Reads all of them, and changes
 * nothing.
 */
export async function checkBackup({ tables, schema_version }: DatabaseBackup, folder: string): Promise<void> {
  const newest = newestVersion()
  if (schema_version > newest)
    throw new StartError(
      `The backup comes from a newer release of Carillon (schema ${schema_version}; this one supports ${newest}). Upgrade Carillon first.`,
    )
  for (const { name, sha256 } of tables) {
    const hash = createHash('sha256')
    const file = tableFile(name)
    await pipeline(createReadStream(join(folder, file)), hash).catch((error: NodeJS.ErrnoException) => {
      throw new StartError(`${file} of the backup cannot be read (${error.code}).`)
    })
    if (hash.digest('hex') !== sha256) throw new StartError(`${file} differs from the backed-up file. Use another backup.`)
  }
}

/**
 * Restores the database, in which email of every project is paused. Throws `StartError` without changes if it has tables. Returns the tables
 * of the backup that are left out, because they do not belong to Carillon.
 */
export async function restoreDatabase(url: string, backup: DatabaseBackup, folder: string, log: Log): Promise<string[]> {
  await withConnection(url, CONNECTION, async (client) => {
    const { rows } = await client.query(
      `select from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') limit 1`,
    )
    if (rows.length > 0) throw new StartError('The database already has tables. Restore into an empty database.')
  })
  await migrate(url, log, undefined, backup.schema_version)
  return withConnection(url, CONNECTION, async (client) => {
    await client.query(allowLongTransactions(false))
    await client.query('begin; set local statement_timeout = 0; set local lock_timeout = 0')
    const { ours, foreign } = await divide(client, backup)
    await loadAll(client, ours, folder)
    await client.query('analyze; commit')
    return foreign
  })
}

/** Others may have unlogged tables too, of types that are not in the backup. */
const isScan = (name: string): boolean => name.startsWith('list_build_')

/** What of a backup belongs to tables of Carillon, which exist after the migrations. Others may have tables in the same database. */
async function divide(client: Client, { tables, partitions, unlogged, sequences, ...backup }: DatabaseBackup) {
  const { rows } = await client.query<{ name: string }>(
    `select relname::text as name from pg_class where relnamespace = 'public'::regnamespace`,
  )
  const known = new Set(rows.map(({ name }) => name))
  const [kept, foreign] = [tables.filter(({ name }) => known.has(name)), tables.filter(({ name }) => !known.has(name))]
  return {
    ours: {
      ...backup,
      tables: kept,
      partitions: partitions.filter(({ parent }) => known.has(parent)),
      unlogged: unlogged.filter(({ name }) => isScan(name)),
      sequences: sequences.filter(({ name }) => known.has(name)),
    },
    foreign: foreign.map(({ name }) => name),
  }
}

async function loadAll(
  client: Client,
  { tables, partitions, unlogged, sequences, schema_version }: DatabaseBackup,
  folder: string,
): Promise<void> {
  const { rows: keys } = await client.query<{ table: string; name: string; definition: string }>(FOREIGN_KEYS)
  for (const { table, name } of keys) await client.query(`alter table ${table} drop constraint ${name}`)
  // Migrations write rows and create partitions of the month in which they run.
  await client.query(`truncate ${tables.map(({ name }) => quoted(name)).join(', ')}`)
  const { rows: created } = await client.query<{ name: string }>(EMPTY_PARTITIONS)
  for (const { name } of created) await client.query(`drop table ${name}`)
  for (const { name, parent, bound } of partitions) await client.query(`create table ${quoted(name)} partition of ${parent} ${bound}`)
  for (const { name, columns } of unlogged) await client.query(`create unlogged table ${quoted(name)} (${columns})`)
  const { rows: triggered } = await client.query<{ name: string }>(TRIGGERED)
  for (const { name } of triggered) await client.query(`alter table ${name} disable trigger user`)
  for (const table of tables) await load(client, table, folder)
  for (const { name, last_value } of sequences) await client.query('select setval($1::regclass, $2)', [quoted(name), last_value])
  await client.query(LEAVE_OUT_IDS)
  await client.query(LEAVE_OUT_POSITIONS)
  for (const { name } of triggered) await client.query(`alter table ${name} enable trigger user`)
  if (schema_version >= MAIL_SINCE) await client.query(HOLD_MAIL)
  for (const { table, name, definition } of keys) await client.query(`alter table ${table} add constraint ${name} ${definition}`)
}

async function load(client: Client, { name, columns, rows }: BackupTable, folder: string): Promise<void> {
  const target = client.query(copyFrom(`copy ${quoted(name)} (${columns.map(quoted).join(', ')}) from stdin`))
  await pipeline(createReadStream(join(folder, tableFile(name))), createGunzip(), target)
  if (target.rowCount !== rows) throw new Error(`The table ${name} has ${target.rowCount} rows after the restore; the backup has ${rows}.`)
}
