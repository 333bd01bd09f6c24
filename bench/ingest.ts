/** Accepted and processed events per second, compared with COPY of the same rows in the same run. */

import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import Fastify from 'fastify'
import pg from 'pg'
import { from } from 'pg-copy-streams'
import { request } from 'undici'
import { checker } from '../server/src/lib/validate.ts'
import { EventBatch } from '../server/src/modules/ingest/schema.ts'
import { type BenchServer, load, median, report, startServer } from './support.ts'

const USERS = 20_000
const EVENTS = 200_000
const SINGLES = 30_000
const NAMES = ['page_viewed', 'product_viewed', 'cart_updated', 'order_placed', 'email_opened']

/** An event of about 270 bytes. A fifth of them update the user. */
const eventOf = (index: number) => ({
  name: NAMES[index % NAMES.length],
  external_id: `person-${(index * 7919) % USERS}`,
  data: {
    path: `/products/${index % 1000}`,
    referrer: 'https://www.example.com/search?q=shoes',
    total: index % 500,
    currency: 'AUD',
    session: `session-${index % 5000}`,
  },
  ...(index % 5 === 0 && { user: { data: { last_path: `/products/${index % 1000}`, visits: index % 100 } } }),
})

const bodies = (size: number, events: number) =>
  Array.from({ length: Math.ceil(events / size) }, (_, batch) =>
    Buffer.from(JSON.stringify(Array.from({ length: size }, (_, at) => eventOf(batch * size + at)))),
  )

export async function ingest(): Promise<void> {
  await using server = await startServer()
  const db = new pg.Client({ connectionString: server.databaseUrl })
  // If a benchmark fails, the server stops its database. That error would hide the first one.
  db.on('error', () => undefined)
  await db.connect()
  await warmUp(server, db)
  const copy = await copyRate(db)
  report('reference: COPY into events', null, `${Math.round(copy).toLocaleString('en')} events/s`)
  for (const size of [100, 10]) await accepted(server, db, size, copy)
  const single = await withoutConsumer(db, () => acceptedRate(server, db, 1, 64, SINGLES))
  await drained(db)
  const bare = await bareRate()
  report(
    'ingest accepted, single, 64 connections',
    single.rate / bare,
    `${Math.round(single.rate)} requests/s, p99 ${single.p99.toFixed(1)} ms, bare Fastify ${Math.round(bare)}`,
    '≥ 0.5',
  )
  const rate = await processed(server, db, copy)
  await makeLists(server)
  const withLists = await processed(server, db, copy, ', 20 live lists', '≥ 0.20')
  await lag(server, db, Math.min(rate, withLists) / 2)
  await db.end()
}

async function warmUp(server: BenchServer, db: pg.Client): Promise<void> {
  await acceptedRate(server, db, 100, 8, USERS)
  await drained(db)
}

/** The same rows through COPY into a table like `events`, with its index. */
async function copyRate(db: pg.Client): Promise<number> {
  await db.query('create table if not exists copied (like events including all)')
  const lines = Array.from({ length: EVENTS }, (_, index) => {
    const { name, data } = eventOf(index)
    return `1\t${((index * 7919) % USERS) + 1}\t${name}\t${JSON.stringify(data)}\t2026-11-21T00:00:00Z\t2026-11-21T00:00:00Z\n`
  })
  return median(3, async () => {
    await db.query('truncate copied')
    const started = performance.now()
    for (let at = 0; at < lines.length; at += 2000) {
      await pipeline(
        Readable.from([lines.slice(at, at + 2000).join('')]),
        db.query(from('copy copied (project_id, user_id, name, data, created_at, received_at) from stdin')),
      )
    }
    return EVENTS / ((performance.now() - started) / 1000)
  })
}

async function acceptedRate(server: BenchServer, db: pg.Client, size: number, connections: number, events: number) {
  const prepared = bodies(size, Math.min(events, 20_000))
  const headers = { authorization: `Bearer ${server.secretKey}`, 'content-type': 'application/json' }
  const result = await load(server.url, connections, Math.ceil(events / size), (index) => ({
    method: 'POST',
    path: '/api/client/events',
    headers,
    body: prepared[index % prepared.length] as Buffer,
  }))
  if (result.failures > 0) throw new Error(`${result.failures} requests failed`)
  return { ...result, rate: events / result.seconds, waiting: await waiting(db) }
}

/** The rate of accepting alone, while the lock of the project blocks the consumer. */
async function accepted(server: BenchServer, db: pg.Client, size: number, copy: number): Promise<void> {
  for (const connections of size === 100 ? [1, 16, 64, 256] : [64]) {
    const result = await withoutConsumer(db, () => acceptedRate(server, db, size, connections, EVENTS))
    const target = size === 100 && connections === 64 ? '≥ 1.2, p99 ≤ 100 ms' : undefined
    report(
      `ingest accepted, batches of ${size}, ${connections} connections`,
      result.rate / copy,
      `${Math.round(result.rate).toLocaleString('en')} events/s, p50 ${result.p50.toFixed(1)} ms, p99 ${result.p99.toFixed(1)} ms`,
      target,
    )
    await drained(db)
  }
}

async function withoutConsumer<T>(db: pg.Client, work: () => Promise<T>): Promise<T> {
  await db.query("select pg_advisory_lock(hashtextextended('accepted requests', 1))")
  try {
    return await work()
  } finally {
    await db.query("select pg_advisory_unlock(hashtextextended('accepted requests', 1))")
  }
}

/** The rate of processing: creates a backlog while the consumer is blocked, and then waits until all events are stored. */
async function processed(server: BenchServer, db: pg.Client, copy: number, beside = '', target = '≥ 0.30'): Promise<number> {
  const rate = await median(3, async () => {
    await withoutConsumer(db, () => acceptedRate(server, db, 100, 16, EVENTS))
    const started = performance.now()
    await drained(db)
    return EVENTS / ((performance.now() - started) / 1000)
  })
  report(`ingest processed, backlog${beside}`, rate / copy, `${Math.round(rate).toLocaleString('en')} events/s`, target)
  const started = performance.now()
  const result = await acceptedRate(server, db, 100, 16, EVENTS)
  await drained(db)
  const both = EVENTS / ((performance.now() - started) / 1000)
  report(
    `ingest end to end, while accepting${beside}`,
    both / copy,
    `${Math.round(both).toLocaleString('en')} events/s; accepted at ${Math.round(result.rate).toLocaleString('en')}`,
  )
  return both
}

/** Ten lists about attributes, most of which the events change, and ten that count recent events, some of them with conditions. */
async function makeLists(server: BenchServer): Promise<void> {
  const attributes = Array.from({ length: 10 }, (_, at) =>
    at < 6 ? { attribute: 'data.visits', greater_than: at * 15 } : { attribute: 'data.last_path', is: `/products/${at}` },
  )
  const counts = Array.from({ length: 10 }, (_, at) => ({
    event: NAMES[at % NAMES.length],
    at_least: 1 + (at % 4),
    within: `${[1, 7, 30, 90][at % 4]}d`,
    ...(at % 2 === 0 && { where: [{ attribute: 'data.total', greater_than: at * 40 }] }),
  }))
  const probe = { event: 'probed', at_least: 1, within: '1d' }
  for (const rule of [...attributes, ...counts, probe]) await api(server, 'POST', '/lists', { name: 'Bench', type: 'dynamic', rule })
  for (;;) {
    const { results } = await api(server, 'GET', '/lists?limit=100')
    if (results.every(({ state }: { state: string }) => state === 'ready')) return
    await sleep(50)
  }
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function api(server: BenchServer, method: 'GET' | 'POST', path: string, body?: unknown) {
  const reply = await request(`${server.url}/api/client${path}`, {
    method,
    headers: { authorization: `Bearer ${server.secretKey}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await reply.body.text()
  if (reply.statusCode >= 300) throw new Error(`${method} ${path}: ${text}`)
  // biome-ignore lint/suspicious/noExplicitAny: replies of the API have no type here.
  return (text === '' ? undefined : JSON.parse(text)) as any
}

const PROBES = 200
const PROBE_EVERY_MS = 50

/** The time from the 204 of an event to the membership that it causes, while events arrive at a given rate. */
async function lag(server: BenchServer, db: pg.Client, rate: number): Promise<void> {
  const prepared = bodies(100, 20_000)
  let running = true
  let sent = 0
  const started = performance.now()
  const background = (async () => {
    for (let at = 0; running; at++) {
      const due = started + (at * 100_000) / rate
      const wait = due - performance.now()
      if (wait > 1) await sleep(wait)
      await api(server, 'POST', '/events', JSON.parse(String(prepared[at % prepared.length])))
      sent += 100
    }
  })()
  const times: number[] = []
  for (let probe = 0; probe < PROBES; probe++) {
    await api(server, 'POST', '/events', [{ external_id: `probe-${probe}`, name: 'probed' }])
    times.push(await membership(db, `probe-${probe}`))
    await sleep(PROBE_EVERY_MS)
  }
  running = false
  await background
  const seconds = (performance.now() - started) / 1000
  times.sort((a, b) => a - b)
  const at = (part: number) => (times[Math.floor(times.length * part)] ?? 0).toFixed(0)
  report(
    'lag from 204 to membership at half load',
    null,
    `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, at ${Math.round(sent / seconds)} events/s`,
    'p50 ≤ 100 ms, p99 ≤ 1 s',
  )
}

async function membership(db: pg.Client, externalId: string): Promise<number> {
  const answered = performance.now()
  const statement = {
    name: 'membership',
    text: 'select 1 from users u join list_memberships p on p.user_id = u.id and p.is_member where u.project_id = 1 and u.external_id = $1 limit 1',
    values: [externalId],
  }
  while ((await db.query(statement)).rowCount === 0) await sleep(2)
  return performance.now() - answered
}

const waiting = async (db: pg.Client) => Number((await db.query('select count(*) from queue_entries')).rows[0].count)

async function drained(db: pg.Client): Promise<void> {
  while ((await waiting(db)) > 0) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** The rate of Fastify with the same validation and without database. */
async function bareRate(): Promise<number> {
  const check = checker(EventBatch.items)
  const app = Fastify()
  app.post('/events', async (request, reply) => {
    for (const item of request.body as unknown[]) if (check(item).faults.length > 0) throw new Error('invalid')
    return reply.code(204).send()
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const prepared = bodies(1, 1000)
  const result = await load(url, 64, SINGLES, (index) => ({
    method: 'POST',
    path: '/events',
    headers: { 'content-type': 'application/json' },
    body: prepared[index % 1000] as Buffer,
  }))
  await app.close()
  return result.requests / result.seconds
}
