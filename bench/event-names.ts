/** The statistics of a project with very many names of events, compared with a statement that sums every name. */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type BenchServer, load, report, startServer } from './support.ts'

const NAMES = 125_000
const DAYS = 30
const EVENTS_PER_REQUEST = 100
const USERS = 1000
const DAY_MS = 86_400_000

export async function eventNames(): Promise<void> {
  await using server = await startServer()
  const pool = new pg.Pool({ connectionString: server.databaseUrl, max: 1 })
  const now = Date.now()
  const { failures } = await load(server.url, 4, (2 * NAMES) / EVENTS_PER_REQUEST, (index) => ({
    method: 'POST',
    path: '/api/client/events',
    headers: { authorization: `Bearer ${server.secretKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(Array.from({ length: EVENTS_PER_REQUEST }, (_, of) => event(index * EVENTS_PER_REQUEST + of, now))),
  }))
  if (failures > 0) throw new Error(`${failures} requests failed.`)
  await waitForCounts(pool)
  const stats = (query = '') => timed(server, `/api/client/events/stats${query}`)
  const all = await stats()
  const bare = await bareMs(pool)
  const target = 'p50 ≤ 50 ms'
  report(
    'events/stats, 125,000 names in 30 days',
    bare / all.p50,
    `p50 ${ms(all.p50)}, p99 ${ms(all.p99)}; sum of every name ${ms(bare)}`,
    target,
  )
  const day = await stats(`?since=${new Date(now - 3 * DAY_MS).toISOString().slice(0, 10)}`)
  report('events/stats, the last four days', null, `p50 ${ms(day.p50)}, p99 ${ms(day.p99)}`, target)
  const one = await stats('?name=viewed_item_77')
  report('events/stats, one name', null, `p50 ${ms(one.p50)}, p99 ${ms(one.p99)}`)
  await pool.end()
}

/** Every name has one event, and a few have more, as names do that contain an id by mistake. */
const event = (index: number, now: number) => ({
  name: index % 2 === 0 ? `viewed_item_${index / 2}` : `action_${(index * 7919) % 400}`,
  external_id: `user${index % USERS}`,
  created_at: new Date(now - (index % DAYS) * DAY_MS).toISOString(),
})

/** Waits until all events are counted and the names have totals. */
async function waitForCounts(pool: pg.Pool): Promise<void> {
  for (;;) {
    const { rows } = await pool.query(
      `select (select coalesce(sum(events), 0)::int from event_days where name like 'viewed%' or name like 'action%') as events,
              (select count(*)::int from event_names where not is_totalled) as left`,
    )
    if (rows[0].events === 2 * NAMES && rows[0].left <= 500) return
    await sleep(1000)
  }
}

async function bareMs(pool: pg.Pool): Promise<number> {
  const times: number[] = []
  for (let run = 0; run < 20; run++) {
    const started = performance.now()
    await pool.query(
      `select name, sum(events)::bigint as events from event_days where project_id = 1 and day > current_date - ${DAYS} group by name
       order by events desc, name limit 100`,
    )
    times.push(performance.now() - started)
  }
  return times.sort((a, b) => a - b)[times.length / 2] ?? 0
}

const ms = (value: number) => `${value.toFixed(0)} ms`

const timed = (server: BenchServer, path: string) =>
  load(server.url, 1, 100, () => ({ method: 'GET', path, headers: { authorization: `Bearer ${server.secretKey}` } }))
