/**
 * One project on 1, 2 and 3 API and worker processes: accepted and processed events per second, and what a killed worker delays. PostgreSQL
 * has the first processor and the servers have the others, one each where there are enough. Where there are not, as on two processors, they
 * share them: then the rate cannot grow, and what says how far it would is the processor time that an event takes, in the servers and in
 * PostgreSQL. `BENCH_EVENTS` sets how many.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { generateKey } from '../server/src/modules/keys/index.ts'
import { databaseUrlOf, load, postgresPids, readyUrl, report, ticksOf } from './support.ts'

const EVENTS = Number(process.env.BENCH_EVENTS ?? 300_000)
const WARM_UP = Math.min(EVENTS, 20_000)
const USERS = 20_000
const CONNECTIONS = 48
const COUNTS = [1, 2, 3]
const LOOK_EVERY_MS = 10
const TICKS_PER_S = 100

const main = new URL('../server/src/main.ts', import.meta.url).pathname
const secretKey = generateKey('sk_', randomBytes)

/** The processors of the servers: all but that of PostgreSQL, in turn. */
const processorOf = (server: number): number => {
  const count = availableParallelism()
  return count < 2 ? 0 : 1 + (server % (count - 1))
}

type Cluster = AsyncDisposable & { urls: string[]; workers: ChildProcess[]; servers: number[]; postgres: number[]; db: pg.Client }

/** As many API processes and workers on one database, each on its processor. */
async function openCluster(count: number): Promise<Cluster> {
  await using opening = new AsyncDisposableStack()
  const dataDir = await mkdtemp(join(tmpdir(), 'carillon-bench-'))
  opening.defer(() => rm(dataDir, { recursive: true, force: true }))
  let started = 0
  const start = (role: string, env: Record<string, string> = {}) => {
    const child = spawn('taskset', ['-c', String(processorOf(started++)), process.execPath, main, role], {
      env: { ...process.env, ...SETTINGS, DATA_DIR: dataDir, BOOTSTRAP_SECRET_KEY: secretKey, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    opening.defer(async () => {
      if (child.exitCode === null && child.signalCode === null && child.kill('SIGTERM')) await once(child, 'exit')
    })
    return child
  }
  // The first one starts PostgreSQL, and is the last to end.
  const first = start('api')
  const urls = [await readyUrl(first.stdout)]
  const databaseUrl = await databaseUrlOf(dataDir)
  const postgres = await postgresPids({ dataDir })
  for (const pid of postgres) execFileSync('taskset', ['-a', '-c', '-p', '0', String(pid)], { stdio: 'ignore' })
  const others = Array.from({ length: count - 1 }, () => start('api', { DATABASE_URL: databaseUrl }))
  for (const other of others) urls.push(await readyUrl(other.stdout))
  const workers = Array.from({ length: count }, () => start('worker', { DATABASE_URL: databaseUrl }))
  const db = new pg.Client({ connectionString: databaseUrl })
  db.on('error', () => undefined)
  await db.connect()
  opening.defer(() => db.end())
  const listening = `select count(*)::int as found from pg_stat_activity where application_name like 'carillon listen jobs %'`
  while ((await db.query(listening)).rows[0].found < count) await sleep(LOOK_EVERY_MS)
  const servers = [first, ...others, ...workers].map(({ pid }) => pid as number)
  const closing = opening.move()
  return { urls, workers, servers, postgres, db, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

const SETTINGS = { PORT: '0', LOG_LEVEL: 'error', RATE_READ: '0', RATE_WRITE: '0', RATE_ALL_PER_MIN: '0', BACKLOG_ITEMS_MAX: '0' }

const bodies = Array.from({ length: 200 }, (_, body) =>
  Buffer.from(
    JSON.stringify(
      Array.from({ length: 100 }, (_, item) => ({
        name: 'product_viewed',
        external_id: `person-${((body * 100 + item) * 7919) % USERS}`,
        data: { path: `/products/${item}`, referrer: 'https://www.example.com/search?q=shoes', total: item, currency: 'AUD' },
      })),
    ),
  ),
)

/** Sends events to all API processes at the same time. Returns the seconds that it took. */
async function accept({ urls }: Cluster, events: number): Promise<number> {
  const headers = { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' }
  const each = Math.ceil(events / 100 / urls.length)
  const results = await Promise.all(
    urls.map((url) =>
      load(url, Math.ceil(CONNECTIONS / urls.length), each, (index) => ({
        method: 'POST',
        path: '/api/client/events',
        headers,
        body: bodies[index % bodies.length] as Buffer,
      })),
    ),
  )
  const failures = results.reduce((sum, result) => sum + result.failures, 0)
  if (failures > 0) throw new Error(`${failures} requests failed`)
  return Math.max(...results.map(({ seconds }) => seconds))
}

/** Accepts events while no process may lead the project, so that a backlog is there. */
async function fill(cluster: Cluster, events: number): Promise<number> {
  await cluster.db.query("select pg_advisory_lock(hashtextextended('accepted requests', id)) from projects")
  try {
    return await accept(cluster, events)
  } finally {
    await cluster.db.query("select pg_advisory_unlock(hashtextextended('accepted requests', id)) from projects")
  }
}

/** Waits until everything is applied. Returns the longest time in which no batch ended, and calls `onLook` with what waits. */
async function drain({ db }: Cluster, onLook: (waiting: number) => void = () => undefined): Promise<number> {
  let [last, changedAt, longest] = [Number.NaN, performance.now(), 0]
  for (;;) {
    const { rows } = await db.query('select count(*)::int as waiting from queue_entries')
    const waiting = rows[0].waiting as number
    if (waiting !== last) {
      longest = Math.max(longest, performance.now() - changedAt)
      ;[last, changedAt] = [waiting, performance.now()]
    }
    if (waiting === 0) return longest
    onLook(waiting)
    await sleep(LOOK_EVERY_MS)
  }
}

const sumOf = async (pids: number[], withChildren = false) =>
  (await Promise.all(pids.map((pid) => ticksOf(pid, withChildren)))).reduce((sum, ticks) => sum + ticks, 0) / TICKS_PER_S

/** The processor time of the servers, and of PostgreSQL with the connections that have ended. */
const processorTime = async ({ servers, postgres, db }: Cluster) => {
  const { rows } = await db.query('select array_agg(pid) as pids from pg_stat_activity where pid <> pg_backend_pid()')
  const [postmaster] = postgres
  const [ofServers, own, connections] = [await sumOf(servers), await sumOf([postmaster as number], true), await sumOf(rows[0].pids)]
  return { servers: ofServers, postgres: own + connections }
}

type Measured = { accepted: number; processed: number; serverUs: number; postgresUs: number }

async function measure(cluster: Cluster): Promise<Measured> {
  await fill(cluster, WARM_UP)
  await drain(cluster)
  const accepted = EVENTS / (await fill(cluster, EVENTS))
  const before = await processorTime(cluster)
  const startedAt = performance.now()
  await drain(cluster)
  const processed = EVENTS / ((performance.now() - startedAt) / 1000)
  const after = await processorTime(cluster)
  const eachUs = (seconds: number) => (seconds * 1e6) / EVENTS
  return {
    accepted,
    processed,
    serverUs: eachUs(after.servers - before.servers),
    postgresUs: eachUs(after.postgres - before.postgres),
  }
}

/** Kills a worker in the middle of a backlog. Returns the longest time without the end of a batch, before and with it. */
async function killed(cluster: Cluster): Promise<{ usual: number; withKill: number }> {
  await fill(cluster, EVENTS)
  const usual = await drain(cluster)
  await fill(cluster, EVENTS)
  const requests = EVENTS / 100
  let isKilled = false
  const withKill = await drain(cluster, (waiting) => {
    if (isKilled || waiting > requests / 2) return
    isKilled = true
    cluster.workers[0]?.kill('SIGKILL')
  })
  return { usual, withKill }
}

/** The room that an event takes, with its indexes and its id by which a repeat is found. */
async function bytesEach({ db }: Cluster): Promise<number> {
  const { rows } = await db.query(
    `select sum(pg_total_relation_size(c.oid)) / (select count(*) from events) as bytes
     from pg_class c left join pg_inherits i on i.inhrelid = c.oid
     where c.oid = 'event_ids'::regclass or i.inhparent = 'events'::regclass`,
  )
  return Number(rows[0].bytes)
}

const rate = (value: number) => `${Math.round(value).toLocaleString('en')} events/s`

export async function scale(): Promise<void> {
  let one: Measured | undefined
  for (const count of COUNTS) {
    await using cluster = await openCluster(count)
    const found = await measure(cluster)
    one ??= found
    const of = `${count} API and ${count} worker ${count === 1 ? 'process' : 'processes'}`
    report(`accepted, ${of}`, found.accepted / one.accepted, rate(found.accepted))
    const times = `an event takes ${found.serverUs.toFixed(1)} µs in the servers, ${found.postgresUs.toFixed(1)} µs in PostgreSQL`
    report(`processed, ${of}`, found.processed / one.processed, `${rate(found.processed)}; ${times}`)
    report(`events a second of the servers’ processor time, ${count}`, one.serverUs / found.serverUs, 'of one; what they lose by sharing')
    if (count === 1) {
      report('bytes in the database for an event', null, `${Math.round(await bytesEach(cluster))}`)
      continue
    }
    const { usual, withKill } = await killed(cluster)
    const details = `longest time without the end of a batch; ${Math.round(usual)} ms without a kill`
    report(`a worker of ${count} killed: ms`, withKill, details)
  }
}
