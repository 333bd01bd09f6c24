/**
 * What users, pages, lists and events reach with a million users, compared with a hundred thousand. Each rate is divided by that of a fixed
 * calculation in PostgreSQL around it, because the machine is not equally fast all the time. `BENCH_USERS` sets the larger number.
 */
import pg from 'pg'
import { type Call, caller, pause } from './sending.ts'
import { type BenchServer, load, report, seedUsers, startServer } from './support.ts'

const LARGE = Number(process.env.BENCH_USERS ?? 1_000_000)
const SMALL = LARGE / 10
const EVENTS_EACH = 5
const CONNECTIONS = 8
const PAGES = 5000
const SEARCHES = 500
const UPDATED = 40_000
const EVENTS = 100_000
const BATCH = 100
const LISTS = 20
/** The rounds of each measurement, of which the median counts. */
const ROUNDS = 3
/** Spreads requests over all users. */
const STRIDE = 7919

type Rates = Map<string, number>

export async function userGrowth(): Promise<void> {
  const small = await rates(SMALL)
  const large = await rates(LARGE)
  for (const [name, rate] of large)
    report(
      `${name}, ${LARGE} ÷ ${SMALL} users`,
      rate / (small.get(name) as number),
      `${rate.toFixed(2)} and ${small.get(name)?.toFixed(2)}, in calculations of PostgreSQL`,
      '≥ 0.85',
    )
}

/** All rates on a new server with so many users. */
async function rates(users: number): Promise<Rates> {
  await using server = await startServer()
  const db = new pg.Client({ connectionString: server.databaseUrl })
  db.on('error', () => undefined)
  await db.connect()
  await seedUsers(db, users)
  await seedEvents(db, users)
  const call = caller(server)
  const found: Rates = new Map()
  const measure = async (name: string, work: () => Promise<number>) => found.set(name, await relative(db, work))
  await measure('users updated', () => update(server, users))
  const middle = users / 2
  const deep = Buffer.from(JSON.stringify({ v: 1, r: 'users', s: 'id', d: 'desc', k: [middle, middle] })).toString('base64url')
  await measure('first page', () => pages(server, 'limit=25', PAGES))
  await measure('deep page', () => pages(server, `limit=25&cursor=${deep}`, PAGES))
  await measure('q, an email address', () => pages(server, `limit=25&q=user${Math.round(users * 0.777) + 123}@example.com`, SEARCHES))
  await measure('q, no matches', () => pages(server, 'limit=25&q=zzzqqq', SEARCHES))
  await measure('list of an attribute, users', () => build(call, users, { attribute: 'data.plan', is: 'pro' }))
  await measure('list of a count in 30 days, users', () => build(call, users, { event: 'order_placed', at_least: 3, within: '30d' }))
  for (let list = 0; list < LISTS; list++) await build(call, users, { event: `other_${list}`, at_least: list + 1, within: '30d' })
  await measure(`events with ${LISTS} lists`, () => processEvents(server, db, users))
  await db.end()
  return found
}

async function seedEvents(db: pg.Client, users: number): Promise<void> {
  await db.query(
    `insert into events (project_id, user_id, name, data, created_at, received_at)
     select 1, u.first + (i * ${STRIDE}::bigint) % $1::int, case when i % 2 = 0 then 'order_placed' else 'page_viewed' end,
            jsonb_build_object('total', i % 500), at, at
     from (select min(id) as first from users) u, generate_series(1, $1::bigint * ${EVENTS_EACH}) i,
          lateral (select date_trunc('milliseconds', now() - interval '30 days' * random()) as at) t`,
    [users],
  )
  await db.query('vacuum analyze events')
}

/** The median of some rounds, each in units of the calculations that PostgreSQL did before and after it. */
async function relative(db: pg.Client, work: () => Promise<number>): Promise<number> {
  const found: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const before = await calculations(db)
    const rate = await work()
    found.push(rate / ((before + (await calculations(db))) / 2))
  }
  return found.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] as number
}

/** How often a second PostgreSQL does a fixed calculation. */
async function calculations(db: pg.Client): Promise<number> {
  const started = performance.now()
  await db.query('select count(md5(i::text)) from generate_series(1, 500000) i')
  return 1000 / (performance.now() - started)
}

const post = (server: BenchServer, path: string, body: string) => ({
  method: 'POST',
  path,
  headers: { authorization: `Bearer ${server.secretKey}`, 'content-type': 'application/json' },
  body,
})

/** Some of the users, from all over the table. */
const someUsers = (users: number, count: number) => Array.from({ length: count }, (_, at) => 1 + ((at * STRIDE) % users))

const batchesOf = (items: object[]) =>
  Array.from({ length: Math.ceil(items.length / BATCH) }, (_, at) => JSON.stringify(items.slice(at * BATCH, (at + 1) * BATCH)))

let visits = 1000

async function update(server: BenchServer, users: number): Promise<number> {
  visits++
  const bodies = batchesOf(someUsers(users, UPDATED).map((user) => ({ external_id: `customer-${user}`, data: { visits } })))
  const { seconds, failures } = await load(server.url, CONNECTIONS, bodies.length, (at) =>
    post(server, '/api/client/users/batch', bodies[at] as string),
  )
  if (failures > 0) throw new Error(`${failures} requests failed`)
  return UPDATED / seconds
}

async function pages(server: BenchServer, query: string, requests: number): Promise<number> {
  const { seconds, failures } = await load(server.url, CONNECTIONS, requests, () => ({
    method: 'GET',
    path: `/api/client/users?${query}`,
    headers: { authorization: `Bearer ${server.secretKey}` },
  }))
  if (failures > 0) throw new Error(`${failures} requests failed`)
  return requests / seconds
}

/** Users a second that a build evaluates. */
async function build(call: Call, users: number, rule: object): Promise<number> {
  const started = performance.now()
  const { id } = await call('POST', '/api/client/lists', { name: 'Bench', type: 'dynamic', rule })
  while ((await call('GET', `/api/client/lists/${id}`)).state !== 'ready') await pause(20)
  return users / ((performance.now() - started) / 1000)
}

async function processEvents(server: BenchServer, db: pg.Client, users: number): Promise<number> {
  const bodies = batchesOf(
    someUsers(users, EVENTS).map((user, at) => ({
      name: `other_${at % (2 * LISTS)}`,
      external_id: `customer-${user}`,
      data: { total: at % 500 },
    })),
  )
  const started = performance.now()
  await load(server.url, CONNECTIONS, bodies.length, (at) => post(server, '/api/client/events', bodies[at] as string))
  while (Number((await db.query('select count(*) from queue_entries')).rows[0].count) > 0) await pause(20)
  return EVENTS / ((performance.now() - started) / 1000)
}
