/** Building a list with a million users and ten million events, compared with bare SQL for the same result. */
import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { request } from 'undici'
import { DAY_MS } from '../server/src/lib/times.ts'
import { type BenchServer, load, median, report, startServer } from './support.ts'

const USERS = Number(process.env.BENCH_USERS ?? 1_000_000)
const EVENTS_EACH = 10
const NAMES = ['page_viewed', 'product_viewed', 'cart_updated', 'order_placed', 'email_opened']

export async function lists(): Promise<void> {
  await using server = await startServer()
  const db = new pg.Client({ connectionString: server.databaseUrl })
  // If a benchmark fails, the server stops its database. That error would hide the first one.
  db.on('error', () => undefined)
  await db.connect()
  await seed(db)
  const now = new Date()
  await measured(
    server,
    db,
    'an attribute',
    { attribute: 'data.plan', is: 'pro' },
    `select count(*) from users where project_id = 1 and merged_into is null and erase_requested_at is null and data->>'plan' = 'pro'`,
    '≤ 4',
  )
  await measured(
    server,
    db,
    'a count of events in 30 days',
    { event: 'order_placed', at_least: 3, within: '30d' },
    `select count(*) from (select user_id from events where project_id = 1 and name = 'order_placed'
       and created_at > '${new Date(now.getTime() - 30 * DAY_MS).toISOString()}' group by user_id having count(*) >= 3) counted`,
    '≤ 2',
  )
  await whileProcessing(server, db)
  await db.end()
}

/** Stores users and their events of the last 60 days. */
async function seed(db: pg.Client): Promise<void> {
  const started = performance.now()
  await db.query(`
    insert into users (project_id, external_id, email, data, created_at, updated_at)
    select 1, 'person-' || i, 'person-' || i || '@example.com',
           jsonb_build_object('plan', case when i % 10 = 0 then 'pro' else 'free' end, 'visits', i % 100, 'city', 'City ' || i % 500),
           now(), now()
    from generate_series(1, ${USERS}) i`)
  await db.query('alter table events drop constraint events_pkey')
  await db.query(`
    insert into events (project_id, user_id, name, data, created_at, received_at)
    select 1, u.first + (i * 7919::bigint) % ${USERS}, (array['${NAMES.join("','")}'])[1 + i % ${NAMES.length}],
           jsonb_build_object('path', '/products/' || i % 1000, 'total', i % 500, 'currency', 'AUD', 'session', 'session-' || i % 5000),
           at, at
    from (select min(id) as first from users) u,
         generate_series(1, ${USERS * EVENTS_EACH}::bigint) i,
         lateral (select date_trunc('milliseconds', now() - interval '60 days' * (1 - i::float8 / ${USERS * EVENTS_EACH})) as at) t`)
  await db.query('alter table events add primary key (project_id, user_id, created_at, seq)')
  await db.query('vacuum analyze users, events')
  report('users and events', null, `${USERS} and ${USERS * EVENTS_EACH}, stored in ${Math.round((performance.now() - started) / 1000)} s`)
}

const milliseconds = async (work: () => Promise<unknown>) => {
  const started = performance.now()
  await work()
  return performance.now() - started
}

async function measured(server: BenchServer, db: pg.Client, name: string, rule: object, bare: string, target: string): Promise<void> {
  const scan = await median(3, () => milliseconds(() => db.query(bare)))
  const expected = Number((await db.query(bare)).rows[0].count)
  const took = await median(3, () => milliseconds(() => build(server, rule, expected)))
  report(
    `list of ${name}`,
    took / scan,
    `${Math.round(took)} ms, ${expected} members; bare ${Math.round(scan)} ms; server at most ${await memory(server)} MB so far`,
    target,
  )
}

const api = async (server: BenchServer, method: 'POST' | 'GET' | 'DELETE', path: string, body?: unknown) => {
  const reply = await request(`${server.url}/api/client${path}`, {
    method,
    headers: { authorization: `Bearer ${server.secretKey}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await reply.body.text()
  if (reply.statusCode >= 300) throw new Error(`${method} ${path}: ${text}`)
  // biome-ignore lint/suspicious/noExplicitAny: replies of the API have no type here.
  return (text === '' ? undefined : JSON.parse(text)) as any
}

/** Creates a list, waits until it is built, and compares its members with the bare statement. */
async function build(server: BenchServer, rule: object, expected?: number): Promise<void> {
  const { id } = await api(server, 'POST', '/lists', { name: 'Bench', type: 'dynamic', rule })
  for (;;) {
    const list = await api(server, 'GET', `/lists/${id}`)
    if (list.state === 'ready') {
      if (expected !== undefined && list.users_count !== expected) throw new Error(`${list.users_count} members instead of ${expected}`)
      break
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await api(server, 'DELETE', `/lists/${id}`)
}

async function memory({ pid }: BenchServer): Promise<number> {
  const peak = /VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Math.round(Number(peak) / 1024)
}

const BATCHES = 1500

/** How much slower events are processed while a list is built. */
async function whileProcessing(server: BenchServer, db: pg.Client): Promise<void> {
  const body = (batch: number) =>
    JSON.stringify(
      Array.from({ length: 100 }, (_, at) => ({
        name: NAMES[at % NAMES.length],
        external_id: `person-${1 + (((batch * 100 + at) * 7919) % USERS)}`,
        data: { path: '/', total: at },
      })),
    )
  const prepared = Array.from({ length: BATCHES }, (_, batch) => body(batch))
  const processed = async () => {
    const started = performance.now()
    const headers = { authorization: `Bearer ${server.secretKey}`, 'content-type': 'application/json' }
    await load(server.url, 16, BATCHES, (index) => ({
      method: 'POST',
      path: '/api/client/events',
      headers,
      body: prepared[index] as string,
    }))
    while (Number((await db.query('select count(*) from queue_entries')).rows[0].count) > 0)
      await new Promise((resolve) => setTimeout(resolve, 20))
    return (BATCHES * 100) / ((performance.now() - started) / 1000)
  }
  await processed()
  const alone = await median(3, processed)
  let building = true
  const rebuilds = (async () => {
    while (building) await build(server, { event: 'order_placed', at_least: 3, within: '30d' })
  })()
  const both = await median(3, processed)
  building = false
  await rebuilds
  report(
    'events processed while a list is built',
    both / alone,
    `${Math.round(both)} events/s; alone ${Math.round(alone)}; server at most ${await memory(server)} MB`,
    '≥ 0.9',
  )
}
