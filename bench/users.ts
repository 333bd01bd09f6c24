/** Batch upserts, compared with one bare statement that writes the same rows: users, searched text and an event for each user. */
import pg from 'pg'
import { type BenchServer, load, report, startServer } from './support.ts'

const CONNECTIONS = 8
const BATCH = 100
const USERS = 40_000

const userOf = (index: number, round: number) => ({
  external_id: `customer-${index}`,
  email: `customer-${index}@example.com`,
  phone: `+614${String(index).padStart(8, '0')}`,
  timezone: 'Australia/Sydney',
  locale: 'en-AU',
  data: { plan: index % 3 ? 'pro' : 'free', visits: round, city: `City ${index % 500}`, score: (index * 31 + round) % 1000 },
})

const batches = (round: number) =>
  Array.from({ length: USERS / BATCH }, (_, batch) =>
    JSON.stringify(Array.from({ length: BATCH }, (_, at) => userOf(batch * BATCH + at, round))),
  )

export async function users(): Promise<void> {
  await using server = await startServer()
  const pool = new pg.Pool({ connectionString: server.databaseUrl, max: CONNECTIONS })
  // The same columns and indexes.
  await pool.query('create table bare_users (like users including all)')
  await pool.query('create table bare_search (like user_search including all)')
  await pool.query('create table bare_events (like events including all)')
  for (const round of [0, 1, 2]) {
    const bodies = batches(round)
    const bare = await bareRate(pool, bodies)
    const ours = await ourRate(server, bodies)
    const what = round === 0 ? 'created' : 'updated'
    report(
      `users batch, ${what}, ${CONNECTIONS} connections`,
      ours.rate / bare,
      `${Math.round(ours.rate).toLocaleString('en')} users/s, bare ${Math.round(bare).toLocaleString('en')}, p99 ${ours.p99.toFixed(0)} ms`,
      '≥ 0.5',
    )
  }
  await pool.end()
}

async function ourRate(server: BenchServer, bodies: string[]) {
  const headers = { authorization: `Bearer ${server.secretKey}`, 'content-type': 'application/json' }
  const result = await load(server.url, CONNECTIONS, bodies.length, (index) => ({
    method: 'POST',
    path: '/api/client/users/batch',
    headers,
    body: bodies[index] as string,
  }))
  if (result.failures > 0) throw new Error(`${result.failures} requests failed`)
  return { rate: USERS / result.seconds, p99: result.p99 }
}

const UPSERT = {
  name: 'bare upsert',
  text: `with saved as (
           insert into bare_users (id, project_id, external_id, email, phone, timezone, locale, data, created_at, updated_at)
           select nextval(pg_get_serial_sequence('users', 'id')), 1, p.external_id, p.email, p.phone, p.timezone, p.locale, p.data, now(), now()
           from jsonb_to_recordset($1::jsonb) as p(external_id text, email text, phone text, timezone text, locale text, data jsonb)
           on conflict (project_id, external_id) where external_id is not null and erase_requested_at is null
           do update set email = excluded.email, phone = excluded.phone, timezone = excluded.timezone, locale = excluded.locale,
                         data = bare_users.data || excluded.data, updated_at = excluded.updated_at
           returning id, external_id, email, phone, timezone, locale, data, created_at, updated_at, xmax
         ), searched as (
           insert into bare_search (user_id, project_id, text)
           select id, 1, concat_ws(E'\\x1f', external_id, email, phone) from saved where xmax = 0
         ), told as (
           insert into bare_events (project_id, user_id, name, data, created_at, received_at, source)
           select 1, id, case when xmax = 0 then 'user_created' else 'user_updated' end,
                  case when xmax = 0 then '{}' else jsonb_build_object('changed', array['data.visits', 'data.score'], 'was', data) end,
                  updated_at, updated_at, 'system'
           from saved
         )
         select * from saved`,
}

/** The rate of the statement alone, over as many connections, including parsed rows. */
async function bareRate(pool: pg.Pool, bodies: string[]): Promise<number> {
  let next = 0
  const started = performance.now()
  const connection = async () => {
    for (let index = next++; index < bodies.length; index = next++) await pool.query({ ...UPSERT, values: [bodies[index]] })
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, connection))
  return USERS / ((performance.now() - started) / 1000)
}
