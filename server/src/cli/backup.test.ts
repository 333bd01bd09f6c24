/** Backups, taken while others write, and restored into another database, an external one and the embedded one. */
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { cloneTemplate, createDatabase } from '../../test/ground.ts'
import { rowsOf } from '../../test/statements.ts'
import { SOON } from '../../test/wait.ts'
import { type World, world } from '../../test/world.ts'
import { run as backUp } from './backup.ts'
import { readManifest } from './data-dir.ts'
import { run as restore } from './restore.ts'

const ENV = { LOG_LEVEL: 'silent' }
const keyOf = (id: string, byte: number) => `${id}:${Buffer.alloc(32, byte).toString('base64')}`
/** What the development profile keeps in DATA_DIR. */
const SECRETS = JSON.stringify({ sealing: keyOf('dev', 1), signing: keyOf('dev', 2) })
let root: string
let w: World
let folder: string
let dataDir: string

beforeAll(async () => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  root = await mkdtemp(join(tmpdir(), 'carillon-backup-'))
  w = await world()
  dataDir = join(root, 'data')
  folder = join(root, 'backup')
  await mkdir(dataDir)
  await writeFile(join(dataDir, 'secrets.json'), SECRETS)
  await w.users('ana', 'kim')
  await w.post('/api/client/events', [{ name: 'signed_up', external_id: 'ana' }])
  await w.post('/api/client/lists', { name: 'Pro', type: 'dynamic', rule: { attribute: 'data.plan', is: 'pro' } })
  await rowsOf(w.databaseUrl, 'drop table if exists "Notes of others"; create table "Notes of others" (id serial, note text)')
  await rowsOf(w.databaseUrl, `insert into "Notes of others" (note) values ('theirs')`)
  await rowsOf(w.databaseUrl, `create type mood as enum ('good'); create unlogged table "Moods of others" (mood mood)`)
  expect((await w.get('/api/client/activity')).status).toBe(200)
  await w.drain()
})

afterAll(async () => {
  vi.restoreAllMocks()
  await rowsOf(w.databaseUrl, 'drop table "Notes of others", "Moods of others"; drop type mood')
  await w[Symbol.asyncDispose]()
  await rm(root, { recursive: true, force: true, maxRetries: 5 })
})

type Table = { name: string; rows: number; sha256: string }

const tablesOf = async (path: string) => ((await readManifest(path)).database as { tables: Table[] }).tables

/** Of the tables that migrations create: other tests leave tables of their own in the database. */
const catalogueOf = (tables: Table[]) => {
  const names = tables.map(({ name }) => `'${name}'`).join(', ')
  return `
  select (select count(*) from pg_constraint where conrelid::regclass::text in (${names}))::int as constraints,
         (select count(*) from pg_trigger where tgenabled = 'O' and tgrelid::regclass::text in (${names}))::int as triggers,
         (select count(*) from pg_indexes where schemaname = 'public' and tablename in (${names}))::int as indexes`
}

/** The logged tables that are not partitions, without the record of the migrations. */
const TABLES = `relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and relpersistence = 'p' and relname <> 'schema_migrations'`

/** Without the tables whose rows a restore changes: positions go on further, and email is paused. */
const unchanged = (tables: Table[]) => tables.filter(({ name }) => name !== 'activity_feeds' && name !== 'mail_pauses')

const oursIn = async (path: string, restored: Table[]) =>
  (await tablesOf(path)).filter(({ name }) => restored.some((table) => table.name === name))

const printed = () =>
  vi
    .mocked(process.stderr.write)
    .mock.calls.map(([text]) => text)
    .join('')

test('a backup has what one instant has, although others write', async () => {
  const blocker = new pg.Client({ connectionString: w.databaseUrl })
  await blocker.connect()
  await blocker.query('begin; lock table users in access exclusive mode')
  const running = backUp([folder], { ...ENV, DATABASE_URL: w.databaseUrl, DATA_DIR: dataDir })
  const waiting = `select from pg_stat_activity where application_name = 'carillon backup' and wait_event_type = 'Lock' and datname = current_database()`
  await vi.waitFor(async () => expect(await rowsOf(w.databaseUrl, waiting)).not.toEqual([]), SOON)
  await w.post('/api/client/lists', { name: 'Later', type: 'static' })
  await blocker.query('commit')
  await blocker.end()
  await running
  const tables = await tablesOf(folder)
  const rowsIn = (name: string) => tables.find((table) => table.name === name)?.rows
  expect([rowsIn('lists'), rowsIn('users'), rowsIn('events')]).toEqual([1, 2, expect.any(Number)])
  expect((await rowsOf(w.databaseUrl, 'select from lists')).length).toBe(2)
})

test('is restored into an external database: rows, constraints, triggers, sequences and files', async () => {
  const target = await createDatabase()
  const copy = join(root, 'restored')
  await restore([folder], { ...ENV, DATABASE_URL: target, DATA_DIR: copy })
  const again = join(root, 'again')
  await backUp([again], { ...ENV, DATABASE_URL: target, DATA_DIR: copy })
  const restored = await tablesOf(again)
  const migrated = await rowsOf(await cloneTemplate(), `select from pg_class where ${TABLES}`)
  expect(restored).toHaveLength(migrated.length)
  expect(unchanged(restored)).toEqual(unchanged(await oursIn(folder, restored)))
  expect(await rowsOf(target, catalogueOf(restored))).toEqual(await rowsOf(w.databaseUrl, catalogueOf(restored)))
  expect(printed()).toContain('not Carillon tables: Notes of others')
  expect(await readFile(join(copy, 'secrets.json'), 'utf8')).toBe(SECRETS)
  const next = `select nextval('lists_id_seq') > (select max(id) from lists) as free`
  expect(await rowsOf(target, next)).toEqual([{ free: true }])
  const ids = `
    select name, nextval(pg_get_serial_sequence(name, 'id'))::int as next
    from unnest(array['messages', 'users', 'subscriptions', 'confirmations', 'providers']) as name
    order by name`
  const given = await rowsOf<{ name: string; next: number }>(w.databaseUrl, ids)
  const free = await rowsOf<{ name: string; next: number }>(target, ids)
  // What was sent after the backup has ids of these in its links.
  expect(free.map(({ name, next }) => [name, next - (given.find((one) => one.name === name)?.next ?? 0) >= 10_000_000])).toEqual(
    given.map(({ name }) => [name, true]),
  )
  // Readers of the activity have positions that were given after the backup.
  const positions = 'select project_id, last_position::int as last from activity_feeds order by project_id'
  const before = await rowsOf<{ last: number }>(w.databaseUrl, positions)
  expect(before.length).toBeGreaterThan(0)
  expect(await rowsOf(target, positions)).toEqual(before.map((row) => ({ ...row, last: row.last + 10_000_000 })))
  const refused = restore([folder], { ...ENV, DATABASE_URL: target, DATA_DIR: join(root, 'other') })
  await expect(refused).rejects.toThrow('The database already has tables.')
})

test('is restored into an embedded database in an empty folder, which is then a backup of the same', async () => {
  const copy = join(root, 'embedded')
  await restore([folder], { ...ENV, DATA_DIR: copy })
  const again = join(root, 'embedded-again')
  await backUp([again], { ...ENV, DATA_DIR: copy })
  const restored = await tablesOf(again)
  expect(unchanged(restored)).toEqual(unchanged(await oursIn(folder, restored)))
  await expect(restore([folder], { ...ENV, DATA_DIR: copy })).rejects.toThrow(`DATA_DIR ${copy} is not empty.`)
  await expect(backUp([again], { ...ENV, DATA_DIR: copy })).rejects.toThrow(`The folder ${again} is not empty.`)
})

test('a limit on transactions that the database has holds neither for a restore nor for a backup', async ({ skip }) => {
  const known = await rowsOf(w.databaseUrl, `select from pg_settings where name = 'transaction_timeout'`)
  skip(known.length === 0, 'PostgreSQL 16 has no such limit.')
  const target = await createDatabase()
  await rowsOf(target, `alter database ${new URL(target).pathname.slice(1)} set transaction_timeout = '300ms'`)
  const env = { ...ENV, DATABASE_URL: target, DATA_DIR: join(root, 'limited') }
  await restore([folder], env)
  const again = join(root, 'limited-again')
  await backUp([again], env)
  expect((await tablesOf(again)).length).toBeGreaterThan(0)
})

test.each([
  ['a file of DATA_DIR that was cut off', 'data/secrets.json', () => '{', 'data/secrets.json differs from the backed-up file'],
  ['a file that was changed', 'tables/users.gz', () => 'x', 'tables/users.gz differs from the backed-up file'],
  ['a backup that is not complete', 'backup.json', () => '{', 'is not a complete backup'],
  [
    'a backup of a newer release',
    'backup.json',
    (text: string) => text.replace(/"schema_version": \d+/, '"schema_version": 9999'),
    'The backup comes from a newer release',
  ],
  [
    'a backup whose secrets cannot be read',
    'backup.json',
    (text: string) => text.replace(/"secrets_keys": \[[^\]]*\]/, '"secrets_keys": ["1"]'),
    'SECRETS_KEY does not contain a key',
  ],
  [
    'a backup whose files have no hashes, as earlier builds wrote them',
    'backup.json',
    (text: string) => JSON.stringify({ ...JSON.parse(text), files: ['secrets.json'] }),
    'was not made by this release of Carillon',
  ],
  [
    'a manifest without tables',
    'backup.json',
    (text: string) => JSON.stringify({ ...JSON.parse(text), database: { schema_version: 1 } }),
    'was not made by this release of Carillon',
  ],
])('%s is refused', async (_, file, change, message) => {
  const path = await mkdtemp(join(root, 'changed-'))
  await cp(folder, path, { recursive: true })
  await writeFile(join(path, file), change(await readFile(join(path, file), 'utf8')))
  const target = await createDatabase()
  await expect(restore([path], { ...ENV, DATABASE_URL: target, DATA_DIR: `${path}-data` })).rejects.toThrow(message)
  expect(await rowsOf(target, `select from pg_class where relnamespace = 'public'::regnamespace`)).toEqual([])
})

describe('the generated key of a development server', () => {
  const production = { ...ENV, NODE_ENV: 'production', SECRETS_KEY: keyOf('a', 3), SESSION_JWT_KEYS: keyOf('a', 3) }

  test.each([
    ['in production', production],
    ['with a SECRETS_KEY', { ...ENV, SECRETS_KEY: keyOf('a', 3) }],
  ])('is needed %s, where the server would not read it from its file', async (_, env) => {
    const target = await createDatabase()
    const restoring = restore([folder], { ...env, DATABASE_URL: target, DATA_DIR: join(root, 'production') })
    await expect(restoring).rejects.toThrow(`\`sealing\` in ${join(folder, 'data', 'secrets.json')}`)
    expect(await rowsOf(target, `select from pg_class where relnamespace = 'public'::regnamespace`)).toEqual([])
  })

  test('is enough at the end of SECRETS_KEY', async () => {
    const target = await createDatabase()
    const env = { ...production, SECRETS_KEY: `${keyOf('a', 3)},${keyOf('dev', 1)}`, DATABASE_URL: target }
    await restore([folder], { ...env, DATA_DIR: join(root, 'with-both') })
    expect(await rowsOf(target, 'select from users')).toHaveLength(2)
  })
})
