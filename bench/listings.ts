/**
 * Pages of a million users: first, deep and searched, compared with the bare statement for the same page. Both use several
 * connections, so that the ratio compares throughput and not the latency of a round trip.
 */
import pg from 'pg'
import { type BenchServer, load, report, seedUsers, startServer } from './support.ts'

const USERS = Number(process.env.BENCH_USERS ?? 1_000_000)
const REQUESTS = 10_000
const CONNECTIONS = 8

export async function listings(): Promise<void> {
  await using server = await startServer()
  const pool = new pg.Pool({ connectionString: server.databaseUrl, max: CONNECTIONS })
  await seedUsers(pool, USERS)
  const rows = `select u.id, u.project_id, u.external_id, u.anonymous_id, u.email, u.phone, u.timezone, u.locale, u.data, u.has_push_device, u.created_at, u.updated_at
                from users u where u.project_id = 1 and u.merged_into is null and u.erase_requested_at is null`
  const middle = USERS / 2
  const cursor = (k: [unknown, number], s = 'id', d = 'desc') =>
    Buffer.from(JSON.stringify({ v: 1, r: 'users', s, d, k })).toString('base64url')
  const pages: [string, string, string, unknown[]][] = [
    ['first page', 'limit=25', `${rows} order by u.id desc limit 26`, []],
    ['deep page', `limit=25&cursor=${cursor([middle, middle])}`, `${rows} and u.id < $1 order by u.id desc limit 26`, [middle]],
    ['first page by email', 'limit=25&sort=email', `${rows} order by u.email, u.id limit 26`, []],
    [
      'deep page by email',
      `limit=25&cursor=${cursor([`user${middle}@example.com`, middle], 'email', 'asc')}`,
      `${rows} and (u.email, u.id) > ($1, $2) order by u.email, u.id limit 26`,
      [`user${middle}@example.com`, middle],
    ],
    ['q, one match', 'limit=25&q=user777777@', searched(rows), ['%user777777@%']],
    ['q, an email address that matches', 'limit=25&q=user777123@example.com', searched(rows), ['%user777123@example.com%']],
    ['q, hundreds of matches', 'limit=25&q=er7777', searched(rows), ['%er7777%']],
    [
      'q, all users match',
      'limit=25&q=example',
      `${rows} and exists (select 1 from user_search s where s.user_id = u.id and s.text ilike $1) order by u.id desc limit 26`,
      ['%example%'],
    ],
    ['q, no matches', 'limit=25&q=zzzqqq', searched(rows), ['%zzzqqq%']],
    [
      'q, two common characters',
      'limit=25&q=er',
      `${rows} and exists (select 1 from user_search s where s.user_id = u.id and s.text ilike $1) order by u.id desc limit 26`,
      ['%er%'],
    ],
  ]
  for (const [name, query, statement, values] of pages) await page(server, pool, name, query, statement, values)
  const rare = await timed(server, 'limit=25&q=zq', 100, 1)
  const longer = await timed(server, 'limit=25&q=zqq', 100, 1)
  report(
    'list, q of two characters without matches',
    longer.p50 / rare.p50,
    `p50 ${rare.p50.toFixed(1)} ms, of three ${longer.p50.toFixed(1)}`,
  )
  await pool.end()
}

const searched = (rows: string) =>
  `${rows} and u.id in (with found as materialized (select user_id from user_search where project_id = 1 and text ilike $1) select user_id from found) order by u.id desc limit 26`

async function page(server: BenchServer, pool: pg.Pool, name: string, query: string, statement: string, values: unknown[]): Promise<void> {
  const requests = name.includes('match') ? REQUESTS / 10 : REQUESTS
  const ours = await timed(server, query, requests, CONNECTIONS)
  const bare = await bareRate(pool, { name, text: statement, values }, requests)
  const alone = await timed(server, query, 100, 1)
  const target = name.startsWith('q') ? '≥ 0.5, p99 ≤ 50 ms' : '≥ 0.4'
  const rate = requests / ours.seconds
  report(
    `list, ${name}`,
    rate / bare,
    `${Math.round(rate)} pages/s, bare ${Math.round(bare)}; alone p50 ${alone.p50.toFixed(1)} ms, p99 ${alone.p99.toFixed(1)} ms`,
    target,
  )
}

async function bareRate(pool: pg.Pool, query: pg.QueryConfig, requests: number): Promise<number> {
  let left = requests
  const started = performance.now()
  const connection = async () => {
    while (left-- > 0) await pool.query(query)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, connection))
  return requests / ((performance.now() - started) / 1000)
}

const timed = (server: BenchServer, query: string, requests: number, connections: number) =>
  load(server.url, connections, requests, () => ({
    method: 'GET',
    path: `/api/client/users?${query}`,
    headers: { authorization: `Bearer ${server.secretKey}` },
  }))
