/**
 * Journeys: timers, events, the way to an email, users who wait, simulations and backtests. The yardsticks are measured in the same run,
 * so that the share says something on any machine. `BENCH_WAITING`, `BENCH_TIMERS`, `BENCH_EVENTS` and `BENCH_BACKTEST` set the sizes.
 */
import pg from 'pg'
import { caller, emailType, makeUsers, openSink, pause } from './sending.ts'
import { report, startServer } from './support.ts'

const WAITING = Number(process.env.BENCH_WAITING ?? 1_000_000)
const TIMERS = Number(process.env.BENCH_TIMERS ?? 60_000)
const EVENTS = Number(process.env.BENCH_EVENTS ?? 3000)
const BATCH_EVENTS = Number(process.env.BENCH_BATCH_EVENTS ?? 40_000)
const BACKTEST_USERS = Number(process.env.BENCH_BACKTEST ?? 10_000)
const EVENTS_PER_SECOND = 100
const WARM_UP = Math.min(200, EVENTS / 4)
const JOURNEYS = 20

type Call = ReturnType<typeof caller>
type Db = pg.Client

export async function journeys(): Promise<void> {
  await throughput()
  await latency()
}

const at = { x: 0, y: 0 }
const to = (external_id: string, path?: string) => ({ external_id, ...(path !== undefined && { path }) })

/** Two delays, one after the other, and the event `go` to enter. */
const waits = (days: number) => ({
  start: { type: 'entrance', ...at, data: { trigger: 'event', event_name: 'go', multiple: true }, children: [to('first')] },
  first: { type: 'delay', ...at, data: { format: 'duration', days }, children: [to('second')] },
  second: { type: 'delay', ...at, data: { format: 'duration', days }, children: [to('end')] },
  end: { type: 'exit', ...at },
})

async function publish(call: Call, name: string, steps: object): Promise<number> {
  const { id } = await call('POST', '/api/client/journeys', { name })
  await call('PUT', `/api/client/journeys/${id}/steps`, steps)
  await call('POST', `/api/client/journeys/${id}/publish`, {})
  return id
}

async function open() {
  const server = await startServer()
  const db = new pg.Client({ connectionString: server.databaseUrl })
  db.on('error', () => undefined)
  await db.connect()
  return { server, db, call: caller(server) }
}

async function throughput(): Promise<void> {
  const { server, db, call } = await open()
  await using _ = server
  await makeUsers(db, WAITING)
  const none = await eventsPerSecond(call, db)
  const journey = await publish(call, 'Waiting', waits(30))
  for (let number = 1; number < JOURNEYS; number++) await publish(call, `Live ${number}`, { ...waits(30), start: watching(number) })
  const watched = await eventsPerSecond(call, db)
  report(
    'events per second with 20 live journeys, of those with none',
    watched / none,
    `${Math.round(watched)} of ${Math.round(none)}`,
    '≥ 0.7',
  )
  // The first measurement warms the server up.
  await timersPerSecond(call, db, journey, Math.ceil(WAITING / 10))
  const few = await timersPerSecond(call, db, journey, Math.ceil(WAITING / 10))
  const many = await timersPerSecond(call, db, journey, WAITING)
  report(
    'timers per second, of a raw claim and update of the same rows',
    many.share,
    `${Math.round(many.rate)} of ${Math.round(many.raw)}`,
    '≥ 0.3',
  )
  const growth = `${Math.round(many.rate)} of ${Math.round(few.rate)}`
  report('timers per second with ten times as many waiting', many.rate / few.rate, growth, '≥ 0.85')
  const [{ bytes }] = (
    await db.query(`select pg_total_relation_size('journey_entrances') + pg_total_relation_size('journey_timers') as bytes`)
  ).rows
  report('MB of the users who wait', Number(bytes) / 1e6, `${WAITING} users`, '≤ 1000 for 1,000,000')
  await simulations(call, journey)
  await backtests(call, db)
  await db.end()
}

/** An entrance by an event that the benchmark never sends. */
const watching = (number: number) => ({
  type: 'entrance',
  ...at,
  data: { trigger: 'event', event_name: `never ${number}`, multiple: true },
  children: [to('first')],
})

const PER_REQUEST = 100
const REQUESTS_AT_ONCE = 20

/** Events that no journey waits for, from the first request until all are applied. */
async function eventsPerSecond(call: Call, db: Db): Promise<number> {
  const started = performance.now()
  const firsts = Array.from({ length: BATCH_EVENTS / PER_REQUEST }, (_, number) => number * PER_REQUEST).values()
  const send = async () => {
    for (const first of firsts) await call('POST', '/api/client/events', eventsFrom(first))
  }
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, send))
  await untilNone(db, 'select count(*) from queue_entries')
  return BATCH_EVENTS / ((performance.now() - started) / 1000)
}

const eventsFrom = (first: number) =>
  Array.from({ length: PER_REQUEST }, (_, index) => ({
    name: 'page_viewed',
    external_id: `person-${1 + ((first + index) % Math.min(WAITING, 10_000))}`,
  }))

const WAIT_MS = 50
const WAITS_MAX = 12_000

async function untilNone(db: Db, statement: string): Promise<void> {
  for (let waited = 0; waited < WAITS_MAX; waited++) {
    const { rows } = await db.query(statement)
    if (Number(rows[0].count) === 0) return
    await pause(WAIT_MS)
  }
  throw new Error(`Not done in time: ${statement}`)
}

/** Timers that are due at once, of users at the first delay, until all are at the second; and the least that could be done for them. */
async function timersPerSecond(call: Call, db: Db, journey: number, waiting: number) {
  const { rows } = await db.query('select project_id from journeys where id = $1', [journey])
  const project = rows[0].project_id
  await fill(db, project, journey, waiting)
  const timers = Math.min(TIMERS, Math.floor(waiting / 4))
  const raw = await rawTimers(db, timers)
  const due = `select user_id, entrance_id, due_at from journey_timers where project_id = ${project} and journey_id = ${journey} order by due_at desc limit ${timers}`
  await db.query('begin')
  await db.query(`create temporary table due on commit drop as ${due}`)
  await db.query(
    `update journey_entrances e set due_at = now() - interval '1 minute' from due d where e.project_id = ${project} and e.user_id = d.user_id and e.entrance_id = d.entrance_id`,
  )
  await db.query(
    `update journey_timers t set due_at = now() - interval '1 minute' from due d where t.project_id = ${project} and t.journey_id = ${journey} and t.due_at = d.due_at and t.user_id = d.user_id and t.entrance_id = d.entrance_id`,
  )
  await db.query('commit')
  const started = performance.now()
  // Wakes the job, which slept until the first of the timers as they were before.
  await call('POST', '/api/client/events', [{ name: 'page_viewed', external_id: 'person-1' }])
  await untilNone(
    db,
    `select count(*) from (select from journey_timers where project_id = ${project} and journey_id = ${journey} and due_at < now() limit 1) t`,
  )
  const rate = timers / ((performance.now() - started) / 1000)
  return { rate, raw, share: rate / raw }
}

/** Puts users at the first delay of the journey. */
async function fill(db: Db, project: string, journey: number, waiting: number): Promise<void> {
  await db.query('truncate journey_timers, journey_entrances')
  await db.query(
    `insert into journey_entrances (project_id, user_id, entrance_id, journey_id, step_id, version, visit, depth, entered_at, arrived_at,
                                    acted_at, due_at, slot, cause, event, trail)
     select u.project_id, u.id, u.id, $2, s.id, 1, 2, 0, now() - interval '1 day', now() - interval '1 day', now() - interval '1 day',
            now() + interval '29 days' + u.id * interval '1 millisecond', '', 'event:' || u.id, '{"name": "go", "data": {"cart": "c-1"}, "created_at": "2026-01-01T00:00:00.000Z"}',
            '[["start",1,1767225600000,1767225600000,"default","entered"],["first",2,1767225600000]]'
     from users u join journey_steps s on s.project_id = u.project_id and s.journey_id = $2 and s.external_id = 'first'
     where u.project_id = $1 order by u.id limit $3`,
    [project, journey, waiting],
  )
  await db.query(
    `insert into journey_timers (project_id, journey_id, due_at, user_id, entrance_id, visit)
     select project_id, journey_id, due_at, user_id, entrance_id, visit from journey_entrances where project_id = $1 and journey_id = $2`,
    [project, journey],
  )
  await db.query('vacuum analyze journey_entrances, journey_timers')
}

const CLAIMED_AT_ONCE = 3000

/** Deletes, updates and inserts the rows that a timer needs at least, in copies of the tables, as often as a batch is. */
async function rawTimers(db: Db, timers: number): Promise<number> {
  await db.query('drop table if exists raw_entrances, raw_timers')
  await db.query('create table raw_entrances (like journey_entrances including all) with (fillfactor = 70)')
  await db.query('create table raw_timers (like journey_timers including all)')
  await db.query(`insert into raw_entrances select * from journey_entrances limit ${timers}`)
  await db.query(
    'insert into raw_timers (project_id, journey_id, due_at, user_id, entrance_id, visit) select project_id, journey_id, due_at, user_id, entrance_id, visit from raw_entrances',
  )
  const started = performance.now()
  for (let done = 0; done < timers; done += CLAIMED_AT_ONCE) {
    await db.query(
      `with due as (select project_id, journey_id, due_at, user_id, entrance_id from raw_timers where visit = 2 order by project_id, journey_id, due_at limit ${CLAIMED_AT_ONCE}),
            gone as (delete from raw_timers t using due d where t.project_id = d.project_id and t.journey_id = d.journey_id and t.due_at = d.due_at and t.user_id = d.user_id and t.entrance_id = d.entrance_id),
            moved as (update raw_entrances e set visit = 3, trail = (rtrim(e.trail::text, ']') || '],["second",3,1767225600000]]')::json, arrived_at = now(), acted_at = now(), due_at = d.due_at + interval '60 days'
                      from due d where e.project_id = d.project_id and e.user_id = d.user_id and e.entrance_id = d.entrance_id
                      returning e.project_id, e.journey_id, e.due_at, e.user_id, e.entrance_id)
       insert into raw_timers select project_id, journey_id, due_at, user_id, entrance_id, 3 from moved`,
    )
  }
  return timers / ((performance.now() - started) / 1000)
}

const STEPS = 20
const SIMULATIONS = 200

async function simulations(call: Call, journey: number): Promise<void> {
  const chain = Array.from({ length: STEPS - 2 }, (_, index) => [
    `s${index}`,
    { type: 'delay', ...at, data: { format: 'duration', hours: 1 }, children: [to(index === STEPS - 3 ? 'end' : `s${index + 1}`)] },
  ])
  const steps = {
    start: { type: 'entrance', ...at, data: { trigger: 'api' }, children: [to('s0')] },
    ...Object.fromEntries(chain),
    end: { type: 'exit', ...at },
  }
  const body = { user: { profile: { email: 'ana@example.com' } }, steps }
  const took: number[] = []
  for (let count = 0; count < SIMULATIONS; count++) {
    const started = performance.now()
    await call('POST', `/api/client/journeys/${journey}/simulate`, body)
    took.push(performance.now() - started)
  }
  took.sort((a, b) => a - b)
  report('simulation of 20 steps, p50 in ms', took[SIMULATIONS / 2] as number, 'with the request', '≤ 5')
}

const DAYS = 30
const POLLS_MAX = 1200

async function backtests(call: Call, db: Db): Promise<void> {
  await db.query(
    `insert into events (project_id, user_id, name, data, created_at, received_at)
     select u.project_id, u.id, case n % 2 when 0 then 'go' else 'page_viewed' end, '{}', t.at, t.at
     from (select project_id, id from users order by id limit ${BACKTEST_USERS}) u
     cross join generate_series(1, 10) n
     cross join lateral (select now() - (u.id % ${DAYS - 1}) * interval '1 day' - n * interval '1 hour' as at) t`,
  )
  const { id } = await call('POST', '/api/client/journeys', { name: 'Tested' })
  await call('PUT', `/api/client/journeys/${id}/steps`, waits(1))
  const since = new Date(performance.timeOrigin + performance.now() - DAYS * 86_400_000).toISOString()
  const started = performance.now()
  const { id: backtest } = await call('POST', `/api/client/journeys/${id}/backtest`, { since, limit: BACKTEST_USERS })
  for (let polled = 0; polled < POLLS_MAX; polled++) {
    const { state, result } = await call('GET', `/api/client/journeys/${id}/backtests/${backtest}`)
    if (state !== 'running') {
      const seconds = (performance.now() - started) / 1000
      report('backtest over 30 days, in s', seconds, `${result?.users} users, ${result?.entrants} entrances`, '≤ 20 for 10,000')
      return
    }
    await pause(WAIT_MS)
  }
  throw new Error('The backtest takes too long.')
}

/** From the 204 of an event to the email, through a journey of two steps. */
async function latency(): Promise<void> {
  const { server, db, call } = await open()
  await using _ = server
  await using sink = await openSink()
  await makeUsers(db, Math.max(EVENTS, 1000))
  await db.end()
  const settings = { host: '127.0.0.1', port: sink.port, tls: 'none', connections: 10 }
  const { id: provider_id } = await call('POST', '/api/client/providers', { name: 'Sink', kind: 'smtp', channel: 'email', settings })
  const campaign = { type: 'trigger', name: 'Receipt', subscription_id: await emailType(call), event_name: 'unused', provider_id }
  const { id } = await call('POST', '/api/client/campaigns', campaign)
  await call('PUT', `/api/client/campaigns/${id}/templates/en`, {
    from: 'shop@example.com',
    subject: 'Order #{{ event.data.number }}#',
    html: '<p>Thank you.</p>',
  })
  await call('PATCH', `/api/client/campaigns/${id}`, { state: 'running' })
  await publish(call, 'Receipt', {
    start: { type: 'entrance', ...at, data: { trigger: 'event', event_name: 'order', multiple: true }, children: [to('mail')] },
    mail: { type: 'action', ...at, data: { campaign_id: id }, children: [to('end')] },
    end: { type: 'exit', ...at },
  })
  const accepted = new Map<number, number>()
  const took: number[] = []
  sink.onMail((mail) => {
    const number = Number(/Order #(\d+)#/.exec(mail)?.[1])
    const since = accepted.get(number)
    if (since !== undefined && number >= WARM_UP) took.push(Math.max(0, performance.now() - since))
  })
  const started = performance.now()
  const calls: Promise<void>[] = []
  for (let number = 0; number < EVENTS; number++) {
    const wait = started + (number * 1000) / EVENTS_PER_SECOND - performance.now()
    if (wait > 0) await pause(wait)
    const event = { name: 'order', external_id: `person-${1 + number}`, data: { number } }
    // The email can arrive before the reply. The time is 0 then.
    calls.push(call('POST', '/api/client/events', [event]).then(() => void accepted.set(number, performance.now())))
    accepted.set(number, performance.now())
  }
  await Promise.all(calls)
  for (let waited = 0; sink.received() < EVENTS && waited < 100; waited++) await pause(100)
  took.sort((a, b) => a - b)
  const part = (share: number) => took[Math.floor(took.length * share)] ?? Number.NaN
  const note = `${took.length} of ${EVENTS - WARM_UP} at ${EVENTS_PER_SECOND} events/s`
  report('event to email through a journey, p50 in ms', part(0.5), note, '≤ 60')
  report('event to email through a journey, p99 in ms', part(0.99), note, '≤ 250')
}
