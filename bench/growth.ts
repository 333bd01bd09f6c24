/**
 * What sends and events take in the database, by table, at two sizes: what a row costs must not grow with their number. `BENCH_SCALE` multiplies
 * the sizes; 10 ends with a million. Bytes are comparable on a machine that does other work too.
 */
import pg from 'pg'
import { type Call, caller, heavyBlast, listOfAll, makeUsers, pause, trackEverything } from './sending.ts'
import { type BenchServer, load, report, startServer } from './support.ts'

const SIZES = [10_000, 100_000].map((size) => size * Number(process.env.BENCH_SCALE ?? 1))
const MILLION = 1_000_000
/** What a year is computed for. */
const SENDS_A_YEAR = 100 * MILLION
const EVENTS_A_YEAR = 1000 * MILLION
/** Less than this for each send or event is the first page of a table. */
const BYTES_EACH_MIN = 1

export async function growth(): Promise<void> {
  const totals: Record<'sends' | 'events', number[]> = { sends: [], events: [] }
  for (const size of SIZES) {
    const { sends, events } = await grown(size)
    totals.sends.push(printed('sends', size, sends))
    totals.events.push(printed('events', size, events))
  }
  for (const [what, [small = Number.NaN, large = Number.NaN]] of Object.entries(totals))
    report(`${what}: bytes each, ${SIZES[1]} ÷ ${SIZES[0]}`, large / small, `${small.toFixed(0)} and ${large.toFixed(0)} bytes`, '≤ 1.1')
  const [sends = Number.NaN, events = Number.NaN] = [totals.sends.at(-1), totals.events.at(-1)]
  report(
    'a year',
    null,
    `${gigabytes(sends * SENDS_A_YEAR)} GB for ${SENDS_A_YEAR / MILLION} million sends and ${gigabytes(events * EVENTS_A_YEAR)} GB for ${EVENTS_A_YEAR / MILLION} million events`,
  )
}

const gigabytes = (bytes: number) => (bytes / 1e9).toFixed(1)

type Grown = { table: string; each: number }[]

/** Sends so many messages and stores so many events on a new server. */
async function grown(size: number): Promise<{ sends: Grown; events: Grown }> {
  await using server = await startServer({ BACKLOG_ITEMS_MAX: '0' })
  const db = new pg.Client({ connectionString: server.databaseUrl })
  db.on('error', () => undefined)
  await db.connect()
  await makeUsers(db, size)
  const call = caller(server)
  await trackEverything(call, server)
  const list = await listOfAll(call)
  const sends = await measured(db, size, () => send(call, list, size))
  const events = await measured(db, size, () => track(server, size))
  await db.end()
  return { sends, events }
}

/** What each table has grown by for each of so many, largest first, once nothing waits any more. */
async function measured(db: pg.Client, count: number, work: () => Promise<void>): Promise<Grown> {
  const before = await sizes(db)
  await work()
  for (;;) {
    const { rows } = await db.query(
      `select exists (select from queue_entries) or exists (select from queue_batches) or exists (select from send_attempts)
           or exists (select from message_addresses) as is_busy`,
    )
    if (!rows[0].is_busy) break
    await pause(250)
  }
  return [...(await sizes(db))]
    .map(([table, bytes]) => ({ table, each: (bytes - (before.get(table) ?? 0)) / count }))
    .filter(({ each }) => each >= BYTES_EACH_MIN)
    .sort((a, b) => b.each - a.each)
}

/** The size of each table with its partitions, its indexes and its long values. */
async function sizes(db: pg.Client): Promise<Map<string, number>> {
  // Gives back the end of tables whose rows only waited: the next ones use their room again.
  await db.query('vacuum')
  const { rows } = await db.query(`
    select coalesce(i.inhparent, c.oid)::regclass::text as table, sum(pg_total_relation_size(c.oid)) as bytes
    from pg_class c
    left join pg_inherits i on i.inhrelid = c.oid
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
    group by 1`)
  return new Map(rows.map(({ table, bytes }) => [table, Number(bytes)]))
}

/** Prints bytes for each, which are MB a million. Returns their sum. */
function printed(what: string, size: number, tables: Grown): number {
  for (const { table, each } of tables) report(`  ${what}, ${size}: ${table}`, null, `${each.toFixed(0)} MB a million`)
  const sum = tables.reduce((total, { each }) => total + each, 0)
  report(`${what}, ${size}`, null, `${sum.toFixed(0)} MB a million`)
  return sum
}

/** Sends a blast of a large email to everybody. */
async function send(call: Call, list: number, size: number): Promise<void> {
  const { id } = await call('POST', '/api/client/providers', { name: 'discard', kind: 'discard', channel: 'email', settings: {} })
  const campaign = await heavyBlast(call, list, id)
  await call('PATCH', campaign, { state: 'scheduled' })
  for (;;) {
    const { state, delivery } = await call('GET', campaign)
    if (state === 'finished' && delivery.sent !== size) throw new Error(`Only ${delivery.sent} of ${size} messages were sent.`)
    if (state === 'finished') return
    await pause(250)
  }
}

const EVENTS_EACH = 100

/** Stores events with four attributes, one for each user. */
async function track(server: BenchServer, size: number): Promise<void> {
  const headers = { authorization: `Bearer ${server.secretKey}`, 'content-type': 'application/json' }
  const { failures } = await load(server.url, 8, size / EVENTS_EACH, (batch) => ({
    method: 'POST',
    path: '/api/client/events',
    headers,
    body: JSON.stringify(Array.from({ length: EVENTS_EACH }, (_, at) => eventOf(batch * EVENTS_EACH + at))),
  }))
  if (failures > 0) throw new Error(`${failures} requests failed.`)
}

const eventOf = (number: number) => ({
  name: ['page_viewed', 'product_viewed', 'order_placed'][number % 3],
  external_id: `person-${number + 1}`,
  data: { path: `/products/${number % 1000}`, total: number % 500, currency: 'AUD', session: `session-${number % 5000}` },
})
