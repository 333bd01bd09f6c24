/**
 * The time from the 204 of an event to its email when many projects send few events each, beside a project with a large backlog.
 * The yardstick is one project that sends the same number of events per second.
 */
import { createHash } from 'node:crypto'
import pg from 'pg'
import { request } from 'undici'
import { caller, makeUsers, openSink, pause, receiptCampaign, type Sink } from './sending.ts'
import { type BenchServer, report, startServer } from './support.ts'

const COUNTS = (process.env.BENCH_TENANTS ?? '1000,5000').split(',').map(Number)
const SECONDS = Number(process.env.BENCH_SECONDS ?? 30)
const BACKLOG = Number(process.env.BENCH_BACKLOG ?? 500_000)
/** Each project sends an event every ten seconds. */
const INTERVAL_S = 10
/** Until then, each project has sent one, and the server has compiled what it runs often. */
const WARM_UP_S = INTERVAL_S + 2
const USERS = 10
/** Ids of a copy are those of the first project and a multiple of this. */
const ID_OFFSET = 1_000_000

export async function tenants(): Promise<void> {
  for (const count of COUNTS) await measureAll(count)
}

async function measureAll(count: number): Promise<void> {
  await using server = await startServer({ BACKLOG_ITEMS_MAX: '0' })
  await using sink = await openSink()
  const db = new pg.Client({ connectionString: server.databaseUrl })
  db.on('error', () => undefined)
  await db.connect()
  await setUpProjects(server, sink, db, count)
  const rate = count / INTERVAL_S
  const keys = Array.from({ length: count }, (_, at) => keyOf(at + 2))
  const one = await measure(server, sink, [keyOf(2)], rate)
  report('event to email, one project: p50 in ms', one.p50, `p99 ${Math.round(one.p99)} ms, ${one.sent} at ${rate} events/s`)
  const many = await measure(server, sink, keys, rate)
  report(`event to email, ${count} projects: p50 in ms`, many.p50, details(many, rate), '≤ 60')
  report(`event to email, ${count} projects: p99 in ms`, many.p99, `${(many.p99 / one.p99).toFixed(2)} of one project`, '≤ 400')
  if (BACKLOG > 0) {
    const filled = await fillBacklog(server, BACKLOG)
    const beside = await measure(server, sink, keys, rate)
    const { rows } = await db.query('select coalesce(sum(items), 0)::int as left from queue_entries where project_id = 1')
    const left = `${filled} events of another project before, ${rows[0].left} after`
    report(`… beside a backlog: p50 in ms`, beside.p50, `${details(beside, rate)}; ${left}`, '≤ 60')
    report(`… beside a backlog: p99 in ms`, beside.p99, `${(beside.p99 / one.p99).toFixed(2)} of one project`, '≤ 400')
  }
  await db.end()
}

/** A project with a trigger campaign, and copies of it. */
export async function setUpProjects(server: BenchServer, sink: Sink, db: pg.Client, count: number): Promise<void> {
  await makeUsers(db, USERS)
  await receiptCampaign(caller(server), sink)
  await copyProject(db, count)
  await db.query('analyze')
}

const details = ({ sent, expected }: Times, rate: number) => `${sent} of ${expected} emails at ${rate} events/s`

/** The key of a project. The copies begin with 2. */
export const keyOf = (project: number) => `sk_bench${String(project).padStart(32, '0')}`

const COPIED = ['subscriptions', 'providers', 'campaigns', 'campaign_templates', 'users']
const OFFSET_COLUMNS = ['id', 'subscription_id', 'provider_id', 'campaign_id', 'user_id']

/** Copies the first project, with an admin key for each copy. */
async function copyProject(db: pg.Client, count: number): Promise<void> {
  const columnsOf = async (table: string): Promise<string[]> => {
    const { rows } = await db.query(
      `select column_name as name from information_schema.columns where table_name = $1 and is_generated = 'NEVER' order by ordinal_position`,
      [table],
    )
    return rows.map(({ name }) => `"${name}"`)
  }
  const projects = (await columnsOf('projects')).filter((name) => name !== '"id"').join(', ')
  await db.query(`insert into projects (${projects}) select ${projects} from projects cross join generate_series(1, ${count}) where id = 1`)
  for (const table of COPIED) {
    const columns = await columnsOf(table)
    const values = columns.map((name) => {
      const column = name.slice(1, -1)
      if (column === 'project_id') return 'p.id'
      return OFFSET_COLUMNS.includes(column) ? `t.${name} + p.id * ${ID_OFFSET}` : `t.${name}`
    })
    await db.query(
      `insert into ${table} (${columns.join(', ')}) overriding system value
       select ${values.join(', ')} from ${table} t cross join projects p where t.project_id = 1 and p.id > 1`,
    )
  }
  const hashes = Array.from({ length: count }, (_, at) =>
    createHash('sha256')
      .update(keyOf(at + 2))
      .digest('hex'),
  )
  await db.query(
    `insert into api_keys (organization_id, project_id, scope, role, name, hash, prefix, last4, created_at, updated_at)
     select k.organization_id, h.at + 1, 'secret', 'admin', 'Bench', h.hash, 'sk_', '0000', now(), now()
     from api_keys k cross join unnest($1::text[]) with ordinality as h(hash, at) where k.project_id = 1 and k.scope = 'secret'`,
    [hashes],
  )
}

type Times = { p50: number; p99: number; sent: number; expected: number }

let lastNumber = 0

/** Sends events from each project in turn, evenly over time, and measures until their emails arrive. */
async function measure(server: BenchServer, sink: Sink, keys: string[], rate: number): Promise<Times> {
  const accepted = new Map<number, number>()
  const took: number[] = []
  const from = lastNumber + rate * WARM_UP_S
  sink.onMail((mail) => {
    const number = Number(/Order #(\d+)#/.exec(mail)?.[1])
    const at = accepted.get(number)
    if (at !== undefined && number >= from) took.push(Math.max(0, performance.now() - at))
  })
  const events = rate * SECONDS
  const started = performance.now()
  const calls: Promise<void>[] = []
  for (let at = 0; at < events; at++) {
    const number = lastNumber++
    const wait = started + (at * 1000) / rate - performance.now()
    if (wait > 0) await pause(wait)
    const key = keys[at % keys.length] as string
    accepted.set(number, performance.now())
    calls.push(sendEvent(server, key, number).then(() => void accepted.set(number, performance.now())))
  }
  await Promise.all(calls)
  const expected = events - rate * WARM_UP_S
  for (let waited = 0; took.length < expected && waited < 300; waited++) await pause(100)
  took.sort((a, b) => a - b)
  const at = (part: number) => took[Math.floor(took.length * part)] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99), sent: took.length, expected }
}

/** Sends an event that causes an email with this number. */
export async function sendEvent({ url }: BenchServer, key: string, number: number): Promise<void> {
  const event = { name: 'order', external_id: `person-${1 + (number % USERS)}`, data: { number } }
  await post(url, key, [event])
}

async function post(url: string, key: string, events: object[]): Promise<void> {
  const { statusCode, body } = await request(`${url}/api/client/events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(events),
  })
  const text = await body.text()
  if (statusCode >= 300) throw new Error(`An event was refused with ${statusCode}: ${text}`)
}

/** Sends events of the first project that trigger nothing, as fast as they are accepted. */
async function fillBacklog({ url, secretKey }: BenchServer, events: number): Promise<number> {
  const batch = Array.from({ length: 100 }, (_, at) => ({
    name: 'viewed',
    external_id: `person-${1 + (at % USERS)}`,
    data: { page: `/${at}` },
  }))
  let left = events / batch.length
  const send = async () => {
    while (left-- > 0) await post(url, secretKey, batch)
  }
  await Promise.all(Array.from({ length: 32 }, send))
  return events
}
