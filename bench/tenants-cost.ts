/**
 * What an event costs from its request to its email when thousands of projects send one each: processor time of the server and of
 * PostgreSQL, statements, and bytes written ahead. Unlike times, these are comparable on a machine that does other work too.
 */
import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { openSink, pause, type Sink } from './sending.ts'
import { type BenchServer, postgresPids, report, startServer, ticksOf } from './support.ts'
import { keyOf, sendEvent, setUpProjects } from './tenants.ts'

const PROJECTS = Number(process.env.BENCH_TENANTS ?? 5000)
const EVENTS = Number(process.env.BENCH_EVENTS ?? 10_000)
const RATES = (process.env.BENCH_RATES ?? '200').split(',').map(Number)
const WARM_UP_EVENTS = 1000
const AT_ONCE = 64
/** Linux counts processor time in hundredths of a second. */
const TICK_MS = 10

export async function tenantsCost(): Promise<void> {
  await using server = await startServer({ BACKLOG_ITEMS_MAX: '0' })
  await using sink = await openSink()
  const db = new pg.Client({ connectionString: server.databaseUrl })
  db.on('error', () => undefined)
  await db.connect()
  await setUpProjects(server, sink, db, PROJECTS)
  const keys = Array.from({ length: PROJECTS }, (_, at) => keyOf(at + 2))
  await flood(server, sink, keys, WARM_UP_EVENTS)
  for (const rate of RATES) {
    await measured(server, db, `${rate} events/s, ${PROJECTS} projects`, rate * 10, () => stream(server, sink, keys, rate, rate * 10))
  }
  await measured(server, db, `${EVENTS} events at once, ${PROJECTS} projects`, EVENTS, () => flood(server, sink, keys, EVENTS))
  await db.end()
}

let lastNumber = 0

/** Sends events as fast as they are accepted. Returns when all emails have arrived. */
async function flood(server: BenchServer, sink: Sink, keys: string[], events: number): Promise<void> {
  const expected = sink.received() + events
  let left = events
  const sender = async () => {
    while (left-- > 0) {
      const number = lastNumber++
      await sendEvent(server, keys[number % keys.length] as string, number)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, sender))
  while (sink.received() < expected) await pause(20)
}

/** Sends events evenly over time. Returns when all emails have arrived. */
async function stream(server: BenchServer, sink: Sink, keys: string[], rate: number, events: number): Promise<void> {
  const expected = sink.received() + events
  const started = performance.now()
  const calls: Promise<void>[] = []
  for (let at = 0; at < events; at++) {
    const wait = started + (at * 1000) / rate - performance.now()
    if (wait > 0) await pause(wait)
    const number = lastNumber++
    calls.push(sendEvent(server, keys[number % keys.length] as string, number))
  }
  await Promise.all(calls)
  while (sink.received() < expected) await pause(20)
}

type Usage = { server: number; postgres: number; load: number; switches: number; statements: number; wal: number }

async function measured(server: BenchServer, db: pg.Client, name: string, events: number, work: () => Promise<void>): Promise<void> {
  const before = await usage(server, db)
  const started = performance.now()
  await work()
  const seconds = (performance.now() - started) / 1000
  const after = await usage(server, db)
  const each = (part: keyof Usage) => (after[part] - before[part]) / events
  report(
    `${name}: ms of processor`,
    each('server') + each('postgres'),
    `server ${each('server').toFixed(2)}, PostgreSQL ${each('postgres').toFixed(2)}, load generator ${each('load').toFixed(2)}; ${each('statements').toFixed(2)} statements, ` +
      `${each('switches').toFixed(1)} switches, ${each('wal').toFixed(0)} bytes of WAL for each event; ${seconds.toFixed(1)} s`,
  )
}

async function usage(server: BenchServer, db: pg.Client): Promise<Usage> {
  const { rows } = await db.query("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal")
  const postgres = await postgresPids(server)
  const times = await Promise.all(postgres.map((pid, at) => processorMs(pid, at === 0)))
  const switches = await Promise.all([server.pid, ...postgres].map(switchesOf))
  const text = await (await fetch(`${server.url}/metrics`)).text()
  return {
    server: await processorMs(server.pid),
    postgres: sum(times),
    load: (process.cpuUsage().user + process.cpuUsage().system) / 1000,
    switches: sum(switches),
    statements: Number(/^app_db_statement_duration_seconds_count(?:\{.*\})? (\d+)/m.exec(text)?.[1]),
    wal: rows[0].wal,
  }
}

const sum = (numbers: number[]): number => numbers.reduce((total, one) => total + one, 0)

/** User and system time of a process, on request with that of its ended children. */
const processorMs = async (pid: number, withChildren = false): Promise<number> => (await ticksOf(pid, withChildren)) * TICK_MS

async function switchesOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(text)?.[1] ?? 0)
}
