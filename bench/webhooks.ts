/**
 * The fan-out of webhook events: one project with many endpoints and events, and the time that deliveries of another project take
 * meanwhile. The yardsticks are bare requests of undici with the same concurrency, and the other project while the first one is idle.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import pg from 'pg'
import { Agent, Pool } from 'undici'
import { issueCertificate, loadOrCreateAuthority } from '../server/src/infra/outgoing/dev-authority.ts'
import { type Call, caller, pause } from './sending.ts'
import { type BenchServer, postgresPids, report, startServer, ticksOf } from './support.ts'

const ENDPOINTS = Number(process.env.BENCH_ENDPOINTS ?? 500)
const EVENTS = Number(process.env.BENCH_EVENTS ?? 2000)
/** How long the deliveries of the other project are measured beside the fan-out. */
const SECONDS = Number(process.env.BENCH_SECONDS ?? 60)
const INTERVAL_MS = 100
const TYPE = 'delivery.delivered'
const BARE_REQUESTS = 20_000
const CONCURRENCY = 150
/** Linux counts processor time in hundredths of a second. */
const TICK_MS = 10

export async function webhooks(): Promise<void> {
  await using server = await startServer()
  await using receiver = await openReceiver(server.dataDir)
  const db = new pg.Client({ connectionString: server.databaseUrl })
  db.on('error', () => undefined)
  await db.connect()
  const call = caller(server)
  await endpoints(call, `${receiver.url}/many`, ENDPOINTS)
  const { project, key } = await otherProject(db)
  await endpoints((method, path, body) => call(method, path, body, key), `${receiver.url}/other`, 1)

  const bare = await bareRequests(receiver, server)
  report('bare POST requests per second', null, `${Math.round(bare)} over ${CONCURRENCY} connections`)
  const idle = await measureOther(db, project, receiver, 10)
  report('other project, first one idle: p99 in ms', idle.p99, `p50 ${Math.round(idle.p50)} ms, ${idle.sent} of ${idle.expected}`)

  const before = receiver.received()
  const used = await processorMs(server)
  const started = performance.now()
  await emit(db, 1, EVENTS)
  const beside = await measureOther(db, project, receiver, SECONDS)
  const delivered = receiver.received() - before
  const rate = (delivered * 1000) / (performance.now() - started)
  const usedBeside = await processorMs(server)
  report(
    'other project beside the fan-out: p99 in ms',
    beside.p99,
    `p50 ${Math.round(beside.p50)} ms, ${beside.sent} of ${beside.expected}`,
    '≤ 1000',
  )
  report('deliveries per second, of bare requests', rate / bare, `${Math.round(rate)} per second`)
  const each = (part: keyof Used) => (usedBeside[part] - used[part]) / delivered
  const parts = `server ${each('server').toFixed(2)}, PostgreSQL ${each('postgres').toFixed(2)}`
  report('ms of processor for each delivery', each('server') + each('postgres'), parts)
  const { rows } = await db.query(
    `select count(*) filter (where status = 'pending')::int as pending, count(*)::int as all from webhook_deliveries where project_id = 1`,
  )
  const size = async (table: string) => (await db.query(`select pg_total_relation_size($1)::float8 / 1e6 as mb`, [table])).rows[0].mb
  report('rows of deliveries that wait', rows[0].pending, `${rows[0].all} created of ${ENDPOINTS * EVENTS}`, `≤ ${ENDPOINTS * 100}`)
  report('MB of events', await size('webhook_events'), `${EVENTS} events for ${ENDPOINTS} endpoints`)
  report(
    'MB of deliveries and attempts',
    (await size('webhook_deliveries')) + (await size('webhook_attempts')),
    `${rows[0].all} deliveries`,
  )
  await db.end()
}

type Used = { server: number; postgres: number }

/** The processor time of the server and of PostgreSQL so far, in milliseconds. */
async function processorMs(server: BenchServer): Promise<Used> {
  const postgres = await Promise.all((await postgresPids(server)).map((pid, at) => ticksOf(pid, at === 0)))
  return { server: (await ticksOf(server.pid)) * TICK_MS, postgres: postgres.reduce((sum, ticks) => sum + ticks, 0) * TICK_MS }
}

type Receiver = AsyncDisposable & { url: string; received: () => number; onOther: (listener: (id: string) => void) => void }

/** An HTTPS server that answers at once. It tells of the requests to `/other`. */
async function openReceiver(dataDir: string): Promise<Receiver> {
  const now = new Date()
  const certificate = await issueCertificate(await loadOrCreateAuthority(dataDir, now), ['127.0.0.1'], now)
  let received = 0
  let listener: (id: string) => void = () => undefined
  const server = createServer(certificate, (request, response) => {
    received++
    request.resume()
    if (request.url === '/other') listener(String(request.headers['webhook-id']))
    response.writeHead(204).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: () => received,
    onOther: (next) => {
      listener = next
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function endpoints(call: Call, url: string, count: number): Promise<void> {
  for (let at = 0; at < count; at++) await call('POST', '/api/client/webhooks', { name: `Endpoint ${at}`, url, event_types: [TYPE] })
}

/** A second project with an admin key. */
async function otherProject(db: pg.Client): Promise<{ project: number; key: string }> {
  const { rows: columns } = await db.query(
    `select string_agg(quote_ident(column_name), ', ') as names from information_schema.columns
     where table_name = 'projects' and column_name <> 'id' and is_generated = 'NEVER'`,
  )
  const names = columns[0].names
  const { rows } = await db.query(`insert into projects (${names}) select ${names} from projects where id = 1 returning id`)
  const key = `sk_bench${randomBytes(16).toString('hex')}`
  await db.query(
    `insert into api_keys (organization_id, project_id, scope, role, name, hash, prefix, last4, created_at, updated_at)
     select organization_id, $1, 'secret', 'admin', 'Bench', $2, 'sk_', '0000', now(), now()
     from api_keys where project_id = 1 and scope = 'secret' limit 1`,
    [rows[0].id, createHash('sha256').update(key).digest('hex')],
  )
  return { project: Number(rows[0].id), key }
}

let lastId = 0

/** Stores events as the server does, with the version of the subscriptions. Returns their ids. */
async function emit(db: pg.Client, project: number, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => `evt_${String(++lastId).padStart(26, '0')}`)
  const data = JSON.stringify({ message_id: 1, campaign_id: 1, channel: 'email', to: 'person@example.com', filler: 'x'.repeat(300) })
  await db.query(
    `insert into webhook_events (id, project_id, type, occurred_at, data, version, created_at)
     select id, v.project_id, $3, now(), $4::json, v.version, now() from unnest($2::text[]) as e (id) join webhook_versions v on v.project_id = $1`,
    [project, ids, TYPE, data],
  )
  // As another process wakes the job whose work it has written.
  await db.query(`select pg_notify('carillon_jobs', 'bench webhooks.dispatch')`)
  return ids
}

type Times = { p50: number; p99: number; sent: number; expected: number }

/** The time from the commit of an event to its request, of events at a steady rate. */
async function measureOther(db: pg.Client, project: number, receiver: Receiver, seconds: number): Promise<Times> {
  const at = new Map<string, number>()
  const took: number[] = []
  receiver.onOther((id) => {
    const stored = at.get(id)
    if (stored !== undefined) took.push(performance.now() - stored)
    at.delete(id)
  })
  const expected = (seconds * 1000) / INTERVAL_MS
  for (let sent = 0; sent < expected; sent++) {
    const before = performance.now()
    for (const id of await emit(db, project, 1)) at.set(id, performance.now())
    await pause(Math.max(0, INTERVAL_MS - (performance.now() - before)))
  }
  for (let waited = 0; at.size > 0 && waited < 100; waited++) await pause(100)
  took.sort((a, b) => a - b)
  const part = (of: number) => took[Math.floor(took.length * of)] ?? Number.NaN
  return { p50: part(0.5), p99: part(0.99), sent: took.length, expected }
}

/** Signed requests without a server between, as many at a time as a project may have. Returns how many there were per second. */
async function bareRequests({ url }: Receiver, { dataDir }: BenchServer): Promise<number> {
  const ca = await readFile(`${dataDir}/dev-ca.pem`, 'utf8')
  const agent = new Agent({ factory: (origin, options) => new Pool(origin, { ...options, connections: CONCURRENCY, connect: { ca } }) })
  const body = JSON.stringify({ type: TYPE, data: { filler: 'x'.repeat(400) } })
  let next = 0
  const connection = async () => {
    while (next++ < BARE_REQUESTS) {
      const signature = createHmac('sha256', 'secret').update(body).digest('hex')
      const { body: reply } = await agent.request({
        origin: url,
        path: '/many',
        method: 'POST',
        headers: { 'content-type': 'application/json', 'service-signature': signature },
        body,
      })
      await reply.dump()
    }
  }
  const started = performance.now()
  await Promise.all(Array.from({ length: CONCURRENCY }, connection))
  const perSecond = (BARE_REQUESTS * 1000) / (performance.now() - started)
  await agent.close()
  return perSecond
}
