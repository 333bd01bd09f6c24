/** The time from the 204 of an event to the email that it triggers, at a hundred events per second. */
import pg from 'pg'
import { caller, makeUsers, openSink, pause, peakMemory, receiptCampaign } from './sending.ts'
import { report, startServer } from './support.ts'

const USERS = 10_000
const EVENTS = Number(process.env.BENCH_EVENTS ?? 3000)
const EVENTS_PER_SECOND = 100
const WARM_UP = 200

export async function trigger(): Promise<void> {
  await using server = await startServer()
  await using sink = await openSink()
  const db = new pg.Client({ connectionString: server.databaseUrl })
  db.on('error', () => undefined)
  await db.connect()
  await makeUsers(db, USERS)
  const call = caller(server)
  await receiptCampaign(call, sink)

  const accepted = new Map<number, number>()
  const took: number[] = []
  sink.onMail((mail) => {
    const number = Number(/Order #(\d+)#/.exec(mail)?.[1])
    const at = accepted.get(number)
    if (at !== undefined && number >= WARM_UP) took.push(Math.max(0, performance.now() - at))
  })
  const started = performance.now()
  const calls: Promise<void>[] = []
  for (let number = 0; number < EVENTS; number++) {
    const wait = started + (number * 1000) / EVENTS_PER_SECOND - performance.now()
    if (wait > 0) await pause(wait)
    const event = { name: 'order', external_id: `person-${1 + (number % USERS)}`, data: { number } }
    // The email can arrive before the reply. The time is 0 then.
    calls.push(call('POST', '/api/client/events', [event]).then(() => void accepted.set(number, performance.now())))
    accepted.set(number, performance.now())
  }
  await Promise.all(calls)
  for (let waited = 0; sink.received() < EVENTS && waited < 100; waited++) await pause(100)
  took.sort((a, b) => a - b)
  const at = (part: number) => took[Math.floor(took.length * part)] ?? Number.NaN
  const parts = await partsOf(db)
  await db.end()
  report(
    'event to email, p50 in ms',
    at(0.5),
    `${took.length} of ${EVENTS - WARM_UP} at ${EVENTS_PER_SECOND} events/s; p50 of its parts: ${parts}`,
    '≤ 25',
  )
  report(
    'event to email, p99 in ms',
    at(0.99),
    `slowest ${Math.round(took.at(-1) ?? Number.NaN)} ms; ${await peakMemory(server)} MB`,
    '≤ 80',
  )
}

/** How long the halves of the way take: until the message is stored, and until its result is saved. */
async function partsOf(db: pg.Client): Promise<string> {
  const { rows } = await db.query(`
    select percentile_cont(0.5) within group (order by extract(epoch from m.created_at - e.created_at) * 1000) as applied,
           percentile_cont(0.5) within group (order by extract(epoch from m.settled_at - m.created_at) * 1000) as sent
    from messages m
    join events e on e.project_id = m.project_id and m.event -> 'data' ->> 'number' = e.data ->> 'number' and e.name = 'order'`)
  const [{ applied, sent }] = rows
  return `event to message ${Number(applied).toFixed(0)} ms, message to result ${Number(sent).toFixed(0)} ms`
}
