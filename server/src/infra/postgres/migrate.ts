/**
 * Migrates a database to the schema of this release. Migrations are SQL files `NNNN_name.sql`, applied in order, each in its own
 * transaction, and never reverted. Applied files must not be edited, and a database of a newer release is not changed.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Client } from 'pg'
import { StartError } from '../../lib/start-error.ts'
import { withConnection } from './hosts.ts'
import { allowLongTransactions, asOptions } from './limits.ts'

type Migration = { version: number; name: string; checksum: string; sql: string }
type Applied = Pick<Migration, 'version' | 'name' | 'checksum'>

const DIRECTORY = fileURLToPath(new URL('../../../migrations', import.meta.url))

/** An arbitrary number for the advisory lock. */
const LOCK = 4_927_001_536

const POSTGRES_VERSION_MIN = 16
/**
 * Between two statements a migrating process is silent for milliseconds. PostgreSQL ends the session of one that vanished or was suspended,
 * and with it the lock. How long a migration takes is not limited.
 */
const SILENCE_MAX_MS = 60_000

const LOCK_WAIT_MS = 2000
const LOCK_WAIT_MAX_MS = 10_000
/** Others pass for so many times as long as they waited: they are held up for at most a fifth of the time. */
const PAUSE_WAITS = 4
/** After so many tries the log says again that it waits. */
const TRIES_LOGGED = 10
const LOCK_NOT_AVAILABLE = '55P03'
const DEADLOCK = '40P01'

const SETTINGS: [name: string, value: string][] = [
  ['TimeZone', 'UTC'],
  ['idle_session_timeout', `${SILENCE_MAX_MS}ms`],
  ['idle_in_transaction_session_timeout', `${SILENCE_MAX_MS}ms`],
  ['statement_timeout', '0'],
  ['lock_timeout', '0'],
]
const CONNECTION = { application_name: 'carillon migrate', options: asOptions(SETTINGS) }

const SET_DIRECT_URL = 'Set DATABASE_DIRECT_URL to the database itself.'

type MigrationLog = Record<'info' | 'debug', (fields: object, message: string) => void>

/**
 * Applies the missing migrations to the database at `url`. Several processes may call it at the same time: one migrates while the
 * others wait. Throws without changes if the database does not belong to this release or an earlier one. `version` is that of
 * the schema afterwards, 0 if there are no migrations. The log has one line for all of them; their names are at the level `debug`.
 * Migrations after `upTo` are left for later.
 */
export async function migrate(
  url: string,
  log: MigrationLog,
  directory = DIRECTORY,
  upTo = Number.POSITIVE_INFINITY,
): Promise<{ applied: number; version: number }> {
  const migrations = readMigrations(directory).filter(({ version }) => version <= upTo)
  return withConnection(url, CONNECTION, async (client) => {
    const server = await client.query<{ version: string; kept: boolean }>(
      `select current_setting('server_version') as version,
              extract(epoch from current_setting('idle_session_timeout')::interval) * 1000 = ${SILENCE_MAX_MS} as kept`,
    )
    refuseOldPostgres(server.rows[0]?.version ?? '')
    // A lock of a session would stay with the pooler.
    if (!server.rows[0]?.kept)
      throw new StartError(`A pooler removed the start-up parameters of the connection to PostgreSQL. ${SET_DIRECT_URL}`)
    await client.query(allowLongTransactions(false))
    await lock(client, log)
    await client.query(`
      create table if not exists schema_migrations (
        version int primary key,
        name text not null,
        checksum text not null,
        applied_at timestamptz(3) not null default now()
      )`)
    const { rows } = await client.query<Applied>('select version, name, checksum from schema_migrations order by version')
    const missing = missingMigrations(migrations, rows)
    for (const migration of missing) {
      await applyBetween(client, migration, log)
      log.debug({ version: migration.version, name: migration.name }, 'migration applied')
    }
    const version = migrations.at(-1)?.version ?? 0
    if (missing.length > 0) log.info({ applied: missing.length, version }, 'migrations applied')
    return { applied: missing.length, version }
  })
}

/** Waits until no other process migrates. The lock is that of the session, so that it is released when the connection ends. */
async function lock(client: Client, log: MigrationLog): Promise<void> {
  const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [LOCK])
  if (rows[0]?.locked) return
  log.info({}, 'waiting for the migration lock')
  await client.query('select pg_advisory_lock($1)', [LOCK])
}

/** The schema version of this release. */
export const newestVersion = (): number => readMigrations(DIRECTORY).at(-1)?.version ?? 0

/** The schema version of the database at `url`; 0 if it was never migrated. */
export async function schemaVersion(url: string): Promise<number> {
  return withConnection(url, {}, async (client) => {
    const { rows } = await client.query<{ found: boolean }>(`select to_regclass('schema_migrations') is not null as found`)
    if (!rows[0]?.found) return 0
    const newest = await client.query<{ version: number }>('select coalesce(max(version), 0) as version from schema_migrations')
    return newest.rows[0]?.version ?? 0
  })
}

/** The migrations of a directory, in order. The checksum ignores line endings, because a checkout can change them. */
function readMigrations(directory: string): Migration[] {
  const files = readdirSync(directory)
    .filter((file) => file.endsWith('.sql'))
    .sort()
  const migrations = files.map((file) => {
    const [, version, name] = /^(\d{4})_([a-z0-9_]+)\.sql$/.exec(file) ?? []
    if (!version || !name) throw new Error(`Migration ${file} must have a name such as 0001_first_words.sql.`)
    const sql = readFileSync(`${directory}/${file}`, 'utf8').replaceAll('\r\n', '\n')
    return { version: Number(version), name, checksum: createHash('sha256').update(sql).digest('hex'), sql }
  })
  const twin = migrations.find(({ version }, index) => migrations[index + 1]?.version === version)
  if (twin) throw new Error(`Two migrations have the number ${twin.version}. Give the newer one the next free number.`)
  return migrations
}

/** The migrations that are not applied yet. Throws if `applied` does not match the files. */
export function missingMigrations<M extends Applied>(migrations: M[], applied: Applied[]): M[] {
  const newest = migrations.at(-1)?.version ?? 0
  const reached = applied.at(-1)?.version ?? 0
  if (reached > newest) {
    throw new StartError(
      `This database belongs to a newer release of Carillon (schema ${reached}; this server supports ${newest}). Upgrade the server.`,
    )
  }
  const known = new Map(migrations.map((migration) => [migration.version, migration]))
  const changed = applied.find(({ version, checksum }) => known.get(version)?.checksum !== checksum)
  if (changed) {
    throw new StartError(
      `Migration ${changed.version} (${changed.name}) is not the one that was applied to this database. ` +
        'Restore the released file, and put the change into a new migration.',
    )
  }
  const isApplied = new Set(applied.map(({ version }) => version))
  const missing = migrations.filter(({ version }) => !isApplied.has(version))
  const late = missing.find(({ version }) => version < reached)
  if (late) {
    throw new StartError(
      `Migration ${late.version} (${late.name}) comes before ${reached}, which this database already has. ` +
        'Give it the next free number.',
    )
  }
  return missing
}

/** How long a migration waits for a lock at its nth try, and how long it lets others pass then. */
export function lockAttempt(tries: number): { waitMs: number; pauseMs: number } {
  const waitMs = Math.min(tries * LOCK_WAIT_MS, LOCK_WAIT_MAX_MS)
  return { waitMs, pauseMs: PAUSE_WAITS * waitMs }
}

/**
 * Applies a migration as soon as it gets its locks. While it waits for one, such as that of a running backup, all later statements on the table
 * wait for it, so it waits briefly and lets them pass for longer.
 */
async function applyBetween(client: Client, migration: Migration, log: MigrationLog): Promise<void> {
  for (let tries = 1; ; tries++) {
    const { waitMs, pauseMs } = lockAttempt(tries)
    try {
      return await apply(client, migration, waitMs)
    } catch (error) {
      const { cause } = error as Error & { cause?: { code?: string } }
      if (cause?.code !== LOCK_NOT_AVAILABLE && cause?.code !== DEADLOCK) throw error
      await client.query('rollback')
      if (tries % TRIES_LOGGED === 1) log.info({ version: migration.version, name: migration.name }, 'waiting for a lock')
      await client.query(`select pg_sleep(${pauseMs / 1000})`)
    }
  }
}

async function apply(client: Client, { version, name, checksum, sql }: Migration, lockWaitMs: number): Promise<void> {
  try {
    await client.query(`begin; set local lock_timeout = '${lockWaitMs}ms'`)
    await client.query(sql)
    await client.query('insert into schema_migrations (version, name, checksum) values ($1, $2, $3)', [version, name, checksum])
    await client.query('commit')
  } catch (cause) {
    throw new Error(`Migration ${version} (${name}) failed and was rolled back: ${(cause as Error).message}`, { cause })
  }
}

/** Throws if this version of PostgreSQL, such as `16.4 (Debian 16.4-1)`, is too old. */
export function refuseOldPostgres(version: string): void {
  if (Number.parseInt(version, 10) >= POSTGRES_VERSION_MIN) return
  throw new StartError(`Carillon needs PostgreSQL ${POSTGRES_VERSION_MIN} or newer, but this is ${version}. Upgrade PostgreSQL.`)
}
