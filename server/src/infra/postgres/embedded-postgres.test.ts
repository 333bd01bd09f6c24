import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Client } from 'pg'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { SOON } from '../../../test/wait.ts'
import { type EmbeddedPostgresOptions, startEmbeddedPostgres } from './embedded-postgres.ts'
import { memoryBytes, memorySettings } from './embedded-postgres-memory.ts'
import { hasEnded, identify } from './embedded-postgres-processes.ts'
import { preparePrograms } from './embedded-postgres-programs.ts'

const isRoot = process.getuid?.() === 0
const log = { info() {}, warn() {} }
const leftovers: (() => unknown)[] = []

afterEach(async () => {
  for (const leftover of leftovers.splice(0).reverse()) await leftover()
})

function temporaryDirectory(mode = 0o755): string {
  const directory = mkdtempSync(join(tmpdir(), 'carillon-test-'))
  chmodSync(directory, mode)
  leftovers.push(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

async function start(dataDir: string, settings?: EmbeddedPostgresOptions['settings']) {
  const postgres = await startEmbeddedPostgres({ dataDir, log, durable: false, ...(settings && { settings }) })
  leftovers.push(() => postgres[Symbol.asyncDispose]())
  return postgres
}

async function ask(url: string, question: string): Promise<unknown> {
  const client = new Client({ connectionString: url })
  // These tests kill servers. The next query reports a lost connection.
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query({ text: question, rowMode: 'array' })
    return rows[0]?.[0]
  } finally {
    await client.end()
  }
}

/** A data directory for the tests about restarts. Each of them stops its server at the end. */
const dataDir = mkdtempSync(join(tmpdir(), 'carillon-test-'))
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

const pidFile = (dataDir: string) => join(dataDir, 'postgres', 'postmaster.pid')
const serverPid = (dataDir: string) => Number(readFileSync(pidFile(dataDir), 'utf8').split('\n')[0])

/** Starts another process, which starts the server of `dataDir` and runs until it is killed. */
async function startElsewhere(dataDir: string): Promise<{ child: ChildProcess; url: string }> {
  const module = new URL('./embedded-postgres.ts', import.meta.url).href
  const source = `
    const { startEmbeddedPostgres } = await import(${JSON.stringify(module)})
    const log = { info() {}, warn() {} }
    const { url } = await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)}, log, durable: false })
    console.log(url)
    process.stdin.resume()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['pipe', 'pipe', 'inherit'] })
  leftovers.push(() => child.kill('SIGKILL'))
  const [url] = await once(createInterface({ input: child.stdout }), 'line')
  return { child, url }
}

async function killAndWait(pid: number) {
  const identity = identify(pid)
  if (!identity) throw new Error(`There is no process ${pid}.`)
  process.kill(pid, 'SIGKILL')
  expect(await hasEnded(identity, 5_000)).toBe(true)
}

describe('the embedded PostgreSQL', () => {
  test('creates a database in UTF-8, ordered by code point, in UTC', async () => {
    const dataDir = join(temporaryDirectory(), 'data')
    const { url, adopted } = await start(dataDir, { work_mem: '5MB' })
    expect(adopted).toBe(false)
    expect(new URL(url).hostname).toBe('127.0.0.1')
    expect(await ask(url, 'select current_database() || $$ $$ || current_user')).toBe('carillon carillon')
    expect(await ask(url, `select upper('żółć') || ('B' < 'a') || current_setting('server_encoding')`)).toBe('ŻÓŁĆtrueUTF8')
    expect(await ask(url, `select current_setting('TimeZone') || current_setting('work_mem')`)).toBe('UTC5MB')
  })

  test('has the memory that fits the machine', async () => {
    const { url } = await start(join(temporaryDirectory(), 'data'))
    const { shared_buffers, work_mem } = memorySettings(memoryBytes())
    const asked = `select pg_size_bytes(current_setting('shared_buffers')) = pg_size_bytes('${shared_buffers}')
                          and pg_size_bytes(current_setting('work_mem')) = pg_size_bytes('${work_mem}')`
    expect(await ask(url, asked)).toBe(true)
  })

  test('is reached over its Unix socket, and over TCP too', async () => {
    const { url } = await start(join(temporaryDirectory(), 'data'))
    expect(await ask(url, `select coalesce(host(inet_server_addr()), 'socket')`)).toBe('socket')
    const tcp = new URL(url)
    tcp.search = ''
    expect(await ask(tcp.href, `select coalesce(host(inet_server_addr()), 'socket')`)).toBe('127.0.0.1')
  })

  test('is reached over TCP where the path of its socket is too long', async () => {
    const { url } = await start(join(temporaryDirectory(), 'a'.repeat(100), 'data'))
    expect(await ask(url, `select coalesce(host(inet_server_addr()), 'socket')`)).toBe('127.0.0.1')
  })

  test('needs the password, which only the owner of the data can read', async () => {
    const { url } = await start(dataDir)
    expect(statSync(join(dataDir, 'postgres.json')).mode & 0o777).toBe(0o600)
    const wrong = new URL(url)
    wrong.password = 'guess'
    await expect(ask(wrong.href, 'select 1')).rejects.toThrow('password authentication failed')
  })

  test('keeps the data and the port at a restart', async () => {
    const first = await start(dataDir)
    await ask(first.url, 'create table bells as select 7 as count')
    await first[Symbol.asyncDispose]()
    expect(existsSync(pidFile(dataDir))).toBe(false)
    const second = await start(dataDir)
    expect(second).toMatchObject({ url: first.url, adopted: false })
    expect(await ask(second.url, 'select count from bells')).toBe(7)
  })

  test('uses another port if its own is taken', async () => {
    const first = await start(dataDir)
    await first[Symbol.asyncDispose]()
    const squatter = createServer().listen(Number(new URL(first.url).port), '127.0.0.1')
    leftovers.push(() => squatter.close())
    await once(squatter, 'listening')
    const second = await start(dataDir)
    expect(new URL(second.url).port).not.toBe(new URL(first.url).port)
    expect(await ask(second.url, 'select 1')).toBe(1)
  })

  test('replaces an incomplete cluster', async () => {
    const dataDir = temporaryDirectory()
    mkdirSync(join(dataDir, 'postgres.new-ab12cd', 'cluster', 'base'), { recursive: true })
    writeFileSync(join(dataDir, 'postgres.new-ab12cd', 'cluster', 'PG_VERSION'), '18\n')
    const { url } = await start(dataDir)
    expect(await ask(url, 'select 1')).toBe(1)
    expect(existsSync(join(dataDir, 'postgres.new-ab12cd'))).toBe(false)
  })

  test.each([
    ['of another version', { 'postgres/PG_VERSION': '17\n' }, 'belongs to PostgreSQL 17'],
    ['of another program', { 'postgres/notes.txt': 'hello' }, 'contains no PostgreSQL data'],
    ['without its password', { 'postgres/PG_VERSION': '18\n' }, 'postgres.json, which contains the password, is missing'],
  ])('refuses data %s without changing it', async (_, files, message) => {
    const dataDir = temporaryDirectory()
    mkdirSync(join(dataDir, 'postgres'))
    for (const [path, text] of Object.entries(files)) writeFileSync(join(dataDir, path), text)
    await expect(start(dataDir)).rejects.toThrow(message)
  })

  test('reports the log of a server that does not start', async () => {
    await expect(start(dataDir, { shared_buffers: 'plenty' })).rejects.toThrow('invalid value for parameter "shared_buffers"')
    expect(existsSync(join(dataDir, 'postgres.lock'))).toBe(false)
  })

  test.runIf(isRoot)('works with data in a folder that only root can read', async () => {
    const closed = temporaryDirectory(0o700)
    const dataDir = join(closed, 'data')
    const { url } = await start(dataDir)
    expect(await ask(url, 'select 1')).toBe(1)
    expect(statSync(join(dataDir, 'postgres')).uid).not.toBe(0)
  })
})

describe('after a crash', () => {
  test('a server whose owner was killed is adopted and stopped', async () => {
    const { child, url } = await startElsewhere(dataDir)
    const pid = serverPid(dataDir)
    await killAndWait(child.pid ?? 0)
    const adopted = await start(dataDir)
    expect(adopted).toMatchObject({ url, adopted: true })
    expect(await ask(adopted.url, 'select 1')).toBe(1)
    await adopted[Symbol.asyncDispose]()
    expect(identify(pid)).toBeUndefined()
  })

  test('a database that the killed owner did not create is created', async () => {
    const { child, url } = await startElsewhere(dataDir)
    const maintenance = Object.assign(new URL(url), { pathname: '/postgres' }).href
    await ask(maintenance, 'drop database carillon')
    await killAndWait(child.pid ?? 0)
    const adopted = await start(dataDir)
    expect(await ask(adopted.url, 'select current_database()')).toBe('carillon')
  })

  test('a guest stops the server only if its owner was killed', async () => {
    const { child, url } = await startElsewhere(dataDir)
    const guest = await start(dataDir)
    expect(guest).toMatchObject({ url, adopted: true })
    await guest[Symbol.asyncDispose]()
    expect(await ask(url, 'select 1')).toBe(1)
    const lastGuest = await start(dataDir)
    await killAndWait(child.pid ?? 0)
    await lastGuest[Symbol.asyncDispose]()
    expect(existsSync(pidFile(dataDir))).toBe(false)
  })

  test('an owner that stops while another process uses the server leaves it running, and the last one stops it', async () => {
    const owner = await start(dataDir)
    const pid = serverPid(dataDir)
    const [guest, last] = [await start(dataDir), await start(dataDir)]
    await owner[Symbol.asyncDispose]()
    expect(await ask(guest.url, 'select 1')).toBe(1)
    await guest[Symbol.asyncDispose]()
    expect([await ask(last.url, 'select 1'), serverPid(dataDir)]).toEqual([1, pid])
    await last[Symbol.asyncDispose]()
    expect(identify(pid)).toBeUndefined()
  })

  test('an owner stops the server if the other process that used it was killed', async () => {
    const owner = await start(dataDir)
    const pid = serverPid(dataDir)
    const { child } = await startElsewhere(dataDir)
    await killAndWait(child.pid ?? 0)
    await owner[Symbol.asyncDispose]()
    expect(identify(pid)).toBeUndefined()
  })

  test('of several processes that start at the same time, one owns the server and the others are guests', async () => {
    const all = await Promise.all([start(dataDir), start(dataDir), start(dataDir)])
    expect(all.filter(({ adopted }) => !adopted)).toHaveLength(1)
    expect(new Set(all.map(({ url }) => url)).size).toBe(1)
  })

  test('a killed PostgreSQL recovers committed data', async () => {
    const first = await start(dataDir, { synchronous_commit: 'on' })
    await ask(first.url, 'create table tolls as select 7 as count')
    await killAndWait(serverPid(dataDir))
    const second = await start(dataDir)
    expect(second.adopted).toBe(false)
    expect(await ask(second.url, 'select count from tolls')).toBe(7)
  })

  test('no new server starts while a child of the killed one can still write', async () => {
    const first = await start(dataDir)
    const backend = new Client({ connectionString: first.url })
    backend.on('error', () => {})
    await backend.connect()
    const { rows } = await backend.query<{ pid: number }>('select pg_backend_pid() as pid')
    const orphan = rows[0]?.pid ?? 0
    process.kill(orphan, 'SIGSTOP')
    leftovers.push(() => identify(orphan) && process.kill(orphan, 'SIGKILL'))
    await killAndWait(serverPid(dataDir))
    const second = start(dataDir)
    await vi.waitFor(() => expect(readFileSync(join(dataDir, 'postgres.log'), 'utf8')).toContain('is still in use'), SOON)
    process.kill(orphan, 'SIGCONT')
    expect(await ask((await second).url, 'select 1')).toBe(1)
    expect(identify(orphan)).toBeUndefined()
  })

  test.each([
    ['of another program with the same process id', () => `${process.pid}\n/elsewhere\n1\n5432\n\n127.0.0.1\n\nready   \n`],
    ['of a process that does not exist', () => '4194000\n/elsewhere\n1\n5432\n\n127.0.0.1\n\nready   \n'],
    ['that is empty', () => ''],
  ])('a pid file %s does not stop the start', async (_, content) => {
    await (await start(dataDir))[Symbol.asyncDispose]()
    writeFileSync(pidFile(dataDir), content())
    const { url, adopted } = await start(dataDir)
    expect(adopted).toBe(false)
    expect(await ask(url, 'select 1')).toBe(1)
  })

  test('the lock of a socket that names another living process does not stop the start', async () => {
    const first = await start(dataDir)
    const { port } = new URL(first.url)
    await first[Symbol.asyncDispose]()
    const { uid } = statSync(join(dataDir, 'postgres'))
    const other = spawn('sleep', ['60'], { uid })
    leftovers.push(() => other.kill('SIGKILL'))
    writeFileSync(join(dataDir, 'postgres', `.s.PGSQL.${port}.lock`), `${other.pid}\n${dataDir}\n1\n${port}\n.\n`)
    expect(await ask((await start(dataDir)).url, 'select 1')).toBe(1)
  })

  test('the lock of a dead process is removed', async () => {
    writeFileSync(join(dataDir, 'postgres.lock'), JSON.stringify({ pid: process.pid, started: 'long ago' }))
    expect((await start(dataDir)).adopted).toBe(false)
  })
})

describe.runIf(isRoot)('programs that another user must run', () => {
  const runAs = { uid: 65534, gid: 65534 }

  /** A package in a folder that only root can read, with programs that only print their version. */
  function closedPackage() {
    const directory = join(temporaryDirectory(0o700), 'native')
    mkdirSync(join(directory, 'bin'), { recursive: true })
    for (const program of ['postgres', 'initdb']) {
      writeFileSync(join(directory, 'bin', program), '#!/bin/sh\necho 18', { mode: 0o700 })
    }
    writeFileSync(join(directory, 'pg-symlinks.json'), '[{ "source": "native/bin/initdb", "target": "native/bin/link" }]')
    return { directory, version: '18' }
  }

  test('are run in place if that user can read them', async () => {
    const open = closedPackage()
    expect(await preparePrograms(open, {}, [])).toBe(open.directory)
    expect(readFileSync(join(open.directory, 'bin', 'link'), 'utf8')).toContain('echo 18')
  })

  test('are copied once if that user cannot read them, and again if the copy is damaged', async () => {
    const source = closedPackage()
    const location = temporaryDirectory()
    const programs = await preparePrograms(source, runAs, [location])
    expect(programs).toBe(join(location, 'postgres-18', 'native'))
    const made = statSync(programs).ino
    await preparePrograms(source, runAs, [location])
    expect(statSync(programs).ino).toBe(made)
    writeFileSync(join(programs, 'bin', 'initdb'), '')
    await preparePrograms(source, runAs, [location])
    expect(readFileSync(join(programs, 'bin', 'initdb'), 'utf8')).toContain('echo 18')
  })

  test('are not run from a folder that others can write to', async () => {
    await expect(preparePrograms(closedPackage(), runAs, [temporaryDirectory(0o777)])).rejects.toThrow('only this user can write to')
  })
})
