import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openPooler } from '../../../test/pooler.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts'
import { connectTo } from './hosts.ts'
import { lockAttempt, migrate, missingMigrations, refuseOldPostgres, schemaVersion } from './migrate.ts'

const log = { info() {}, warn() {}, debug() {} }
const dataDir = mkdtempSync(join(tmpdir(), 'carillon-test-'))
const directories: string[] = [dataDir]
let postgres: EmbeddedPostgres
let databases = 0
let url: string

beforeAll(async () => {
  postgres = await startEmbeddedPostgres({ dataDir, log, durable: false })
})

afterAll(async () => {
  await postgres[Symbol.asyncDispose]()
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
})

beforeEach(async () => {
  databases += 1
  await query(postgres.url, `create database test_${databases}`)
  url = Object.assign(new URL(postgres.url), { pathname: `/test_${databases}` }).href
})

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(text).finally(() => client.end())
  return rows
}

function folder(files: Record<string, string>): string {
  const directory = mkdtempSync(join(tmpdir(), 'carillon-test-'))
  directories.push(directory)
  for (const [name, sql] of Object.entries(files)) writeFileSync(join(directory, name), sql)
  return directory
}

const FIRST = { '0001_bells.sql': 'create table bells (id int); insert into bells values (1);' }
const SECOND = { '0002_ropes.sql': 'alter table bells add column rope text;' }

test('a new database gets every migration, in order, and a second run does nothing', async () => {
  const directory = folder({ ...SECOND, ...FIRST, 'notes.md': 'not SQL' })
  expect(await schemaVersion(url)).toBe(0)
  expect(await migrate(url, log, directory)).toEqual({ applied: 2, version: 2 })
  expect(await migrate(url, log, directory)).toEqual({ applied: 0, version: 2 })
  expect(await schemaVersion(url)).toBe(2)
  expect(await query(url, 'select version, name, length(checksum) as checksum from schema_migrations order by 1')).toEqual([
    { version: 1, name: 'bells', checksum: 64 },
    { version: 2, name: 'ropes', checksum: 64 },
  ])
  expect(await query(url, 'select * from bells')).toEqual([{ id: 1, rope: null }])
})

test('the log has one line with the number of migrations, and none without', async () => {
  const lines: object[] = []
  const names: object[] = []
  const log = { info: (fields: object) => lines.push(fields), debug: (fields: object) => names.push(fields) }
  const directory = folder({ ...FIRST, ...SECOND })
  await migrate(url, log, directory)
  await migrate(url, log, directory)
  expect(lines).toEqual([{ applied: 2, version: 2 }])
  expect(names).toHaveLength(2)
})

test('a later release adds its migrations', async () => {
  await migrate(url, log, folder(FIRST))
  expect(await migrate(url, log, folder({ ...FIRST, ...SECOND }))).toEqual({ applied: 1, version: 2 })
})

test('migrations after a version are left for later', async () => {
  const directory = folder({ ...FIRST, ...SECOND })
  expect(await migrate(url, log, directory, 1)).toEqual({ applied: 1, version: 1 })
  expect(await migrate(url, log, directory)).toEqual({ applied: 1, version: 2 })
})

test('processes that start at the same time apply each migration once', async () => {
  const directory = folder({ ...FIRST, ...SECOND })
  const runs = await Promise.all([migrate(url, log, directory), migrate(url, log, directory), migrate(url, log, directory)])
  expect(runs.map(({ applied }) => applied).sort()).toEqual([0, 0, 2])
  expect(await query(url, 'select id from bells')).toHaveLength(1)
})

test('a migration that fails is rolled back, and earlier ones stay', async () => {
  const broken = folder({ ...FIRST, '0002_broken.sql': 'create table half (id int); select 1 / 0;' })
  await expect(migrate(url, log, broken)).rejects.toThrow('Migration 2 (broken) failed and was rolled back: division by zero')
  expect(await schemaVersion(url)).toBe(1)
  expect(await query(url, `select to_regclass('half') as half`)).toEqual([{ half: null }])
})

test('a database of a newer release is refused and not changed', async () => {
  await migrate(url, log, folder({ ...FIRST, ...SECOND }))
  await expect(migrate(url, log, folder(FIRST))).rejects.toThrow(
    'This database belongs to a newer release of Carillon (schema 2; this server supports 1). Upgrade the server.',
  )
})

test('a migration that was edited after it was applied is refused, but line endings may differ', async () => {
  await migrate(url, log, folder({ '0001_bells.sql': 'create table\nbells (id int);' }))
  const windows = folder({ '0001_bells.sql': 'create table\r\nbells (id int);' })
  expect(await migrate(url, log, windows)).toEqual({ applied: 0, version: 1 })
  await expect(migrate(url, log, folder(FIRST))).rejects.toThrow('Migration 1 (bells) is not the one that was applied')
})

test.each([
  [{ '1_bells.sql': '' }, 'Migration 1_bells.sql must have a name such as'],
  [{ '0001_bells.sql': '', '0001_ropes.sql': '' }, 'Two migrations have the number 1'],
])('files %o are refused', async (files, message) => {
  await expect(migrate(url, log, folder(files))).rejects.toThrow(message)
})

describe('missing migrations', () => {
  const at = (version: number, checksum = 'a') => ({ version, name: `n${version}`, checksum })

  test.each([
    ['nothing applied', [at(1), at(2)], [], [1, 2]],
    ['one applied', [at(1), at(2)], [at(1)], [2]],
    ['all applied', [at(1), at(2)], [at(1), at(2)], []],
    ['no files', [], [], []],
  ])('%s', (_, files, applied, expected) => {
    expect(missingMigrations(files, applied).map(({ version }) => version)).toEqual(expected)
  })

  test.each([
    ['an applied file is missing', [at(2)], [at(1), at(2)], 'Migration 1 (n1) is not the one'],
    ['an applied file has changed', [at(1, 'b'), at(2)], [at(1)], 'Migration 1 (n1) is not the one'],
    ['a file has an older number', [at(1), at(2)], [at(2)], 'Migration 1 (n1) comes before 2'],
  ])('are refused if %s', (_, files, applied, message) => {
    expect(() => missingMigrations(files, applied)).toThrow(message)
  })
})

test.each([
  ['14.13 (Debian 14.13-1)', true],
  ['9.6.24', true],
  ['15.7', true],
  ['16.0', false],
  ['18.4', false],
])('PostgreSQL %s is too old: %s', (version, tooOld) => {
  const refusal = `Carillon needs PostgreSQL 16 or newer, but this is ${version}. Upgrade PostgreSQL.`
  if (tooOld) expect(() => refuseOldPostgres(version)).toThrow(refusal)
  else expect(() => refuseOldPostgres(version)).not.toThrow()
})

test('a migration that waits for a table, such as that of a running backup, keeps no others from reading it', async () => {
  await migrate(url, log, folder(FIRST))
  const backup = await connectTo(url)
  await backup.query('begin; lock table bells in access share mode')
  const lines: string[] = []
  const migrating = migrate(url, { ...log, info: (_, line) => lines.push(line) }, folder({ ...FIRST, ...SECOND }))
  await expect.poll(() => query(url, 'select from pg_locks where not granted'), { timeout: 10_000 }).toHaveLength(1)
  expect(await query(url, 'select id from bells')).toEqual([{ id: 1 }])
  await expect.poll(() => lines, { timeout: 10_000 }).toEqual(['waiting for a lock'])
  await backup.end()
  expect(await migrating).toEqual({ applied: 1, version: 2 })
})

test('however long a migration waits for a table, it holds up others for at most a fifth of the time', () => {
  const attempts = Array.from({ length: 1000 }, (_, index) => lockAttempt(index + 1))
  const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)
  for (const count of [1, 2, 5, 20, 1000]) {
    const blockedMs = sum(attempts.slice(0, count).map(({ waitMs }) => waitMs))
    const freeMs = sum(attempts.slice(0, count).map(({ pauseMs }) => pauseMs))
    expect(blockedMs / (blockedMs + freeMs)).toBeLessThanOrEqual(0.2)
  }
  expect(attempts.map(({ waitMs }) => waitMs).slice(0, 6)).toEqual([2000, 4000, 6000, 8000, 10_000, 10_000])
})

describe('the migration lock', () => {
  const isLocked = `select pid from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`

  test('a process that waits for it says so, and goes on when it is released', async () => {
    const holder = await connectTo(url)
    await holder.query('select pg_advisory_lock(4927001536)')
    const lines: string[] = []
    const waiting = Promise.withResolvers<void>()
    const info = (_: object, line: string) => {
      lines.push(line)
      waiting.resolve()
    }
    const migrating = migrate(url, { ...log, info }, folder(FIRST))
    await waiting.promise
    expect(await schemaVersion(url)).toBe(0)
    await holder.end()
    expect(await migrating).toEqual({ applied: 1, version: 1 })
    expect(lines).toEqual(['waiting for the migration lock', 'migrations applied'])
  })

  test('PostgreSQL ends the session of a process that vanished, in a migration and between two', async () => {
    const names = `unnest(array['idle_session_timeout', 'idle_in_transaction_session_timeout', 'statement_timeout']) as name`
    await migrate(
      url,
      log,
      folder({ '0001_limits.sql': `create table limits as select name, current_setting(name) as value from ${names};` }),
    )
    expect(await query(url, 'select value from limits')).toEqual([{ value: '1min' }, { value: '1min' }, { value: '0' }])
    expect(await query(url, isLocked)).toEqual([])
  })

  test('a limit on transactions that the database has does not end a long migration', async () => {
    await query(url, `do $$ begin execute format('alter database %I set transaction_timeout = ''7s''', current_database()); end $$`)
    await migrate(url, log, folder({ '0001_limit.sql': `create table limits as select current_setting('transaction_timeout') as value;` }))
    expect(await query(url, 'select value from limits')).toEqual([{ value: '0' }])
  })

  test('a connection whose start-up parameters are removed on the way gets no lock', async () => {
    await using pooler = await openPooler(url)
    await expect(migrate(pooler.url, log, folder(FIRST))).rejects.toThrow('Set DATABASE_DIRECT_URL')
    expect(await query(url, isLocked)).toEqual([])
  })
})
