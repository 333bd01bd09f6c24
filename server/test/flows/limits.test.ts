/** Limits that settings choose for a whole server: overload, the log of requests, and the projects of an organisation. And limits on counts. */
import { describe, expect, test } from 'vitest'
import { type Sql, sql } from '../../src/infra/postgres/db.ts'
import { allPages } from '../../src/routes.ts'
import { routes } from '../all-routes.ts'
import { type Reply, type World, world } from '../world.ts'

const USERS = '/api/client/users'

describe('an overloaded server', () => {
  const ESSENTIAL = [
    'GET /c/{token}',
    'GET /callbacks/providers/{providerId}',
    'GET /o/{token}.gif',
    'GET /s/confirm/{token}',
    'GET /s/p/{token}',
    'GET /s/u/{token}',
    'PATCH /api/client/users',
    'POST /api/client/events',
    'POST /api/client/users/batch',
    'POST /callbacks/providers/{providerId}',
    'POST /s/confirm/{token}',
    'POST /s/p/{token}',
    'POST /s/u/{token}',
  ]

  test('serves these essential requests', () => {
    const pages = allPages({ engagementBuffer: null as never })
    const found = [...routes, ...pages].filter(({ essential }) => essential).map(({ method, path }) => `${method} ${path}`)
    expect(found.sort()).toEqual(ESSENTIAL)
  })

  test('refuses all others with 503 and Retry-After, until the event loop has caught up', async () => {
    let lag = 501
    await using w = await world({ lag: () => lag })
    const refused = [await w.get(USERS), await w.get('/v/unsigned', { key: null }), await w.get(USERS, { key: null })]
    for (const { status, headers, body } of refused) {
      expect([status, headers['retry-after'], body.error.reason]).toEqual([503, '2', 'overloaded'])
    }
    const served = [
      await w.post('/api/client/events', [{ name: 'x', external_id: 'kim' }]),
      await w.post('/api/client/users/batch', [{ external_id: 'kim' }]),
      await w.patch(USERS, [{ external_id: 'kim' }]),
      await w.get('/c/unsigned', { key: null }),
      await w.get('/s/u/unsigned', { key: null }),
      await w.get('/livez', { key: null }),
      await w.get('/readyz', { key: null }),
      await w.get('/metrics', { key: null }),
    ]
    expect(served.map(({ status }) => status)).toEqual([204, 200, 204, 404, 404, 200, 200, 200])
    expect(served.at(-1)?.text).toMatch(/^app_event_loop_lag_seconds 0\.501$/m)
    expect(served.at(-1)?.text).toMatch(/^app_overload_refused_total 3$/m)
    lag = 500
    expect((await w.get(USERS)).status).toBe(200)
  })

  test('refuses nothing with EVENT_LOOP_LAG_MAX_MS=0', async () => {
    await using w = await world({ lag: () => 60_000, env: { EVENT_LOOP_LAG_MAX_MS: '0' } })
    expect((await w.get(USERS)).status).toBe(200)
  })
})

describe('the request log', () => {
  /** The statuses that are logged of five successful requests, a refused one and a failed one. */
  async function loggedWith(env: Record<string, string>): Promise<number[]> {
    const lines: string[] = []
    await using w = await world({ env, log: { write: (line) => lines.push(line) } })
    for (let call = 0; call < 5; call++) await w.get(USERS)
    await w.get(`${USERS}/nobody`)
    return lines
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === 'request')
      .map(({ status }) => status)
  }

  test.each<[string, number[]]>([
    ['', [200, 200, 200, 200, 200, 404]],
    ['2', [200, 200, 200, 404]],
    ['100', [200, 404]],
    ['0', [404]],
  ])('has, with LOG_SUCCESS_EVERY=%s, %j', async (every, expected) => {
    expect(await loggedWith({ LOG_SUCCESS_EVERY: every })).toEqual(expected)
  })
})

describe('the projects of an organisation', () => {
  const create = (w: World) =>
    w.post('/api/client/projects', { name: 'One more', locale: 'en', timezone: 'UTC' }, { key: w.keys.organisation })

  test('are at most PROJECTS_MAX', async () => {
    await using w = await world({ env: { PROJECTS_MAX: '2' } })
    const [second, third] = [await create(w), await create(w)]
    expect([second.status, third.status, third.body.code]).toEqual([201, 429, 'quota_exceeded'])
    expect(third.body.message).toBe('An organisation may have at most 2 projects.')
  })

  test('are not limited with PROJECTS_MAX=0', async () => {
    await using w = await world({ env: { PROJECTS_MAX: '0' } })
    expect((await create(w)).status).toBe(201)
  })
})

describe('of six requests at the same time, one takes the last place', () => {
  const now = sql`now(), now()`
  const upTo = (count: number) => sql`generate_series(1, ${count}::int) as n`
  const cases: [string, (w: World) => Sql, string, (n: number) => object][] = [
    [
      'for a key',
      (w) =>
        sql`insert into api_keys (organization_id, project_id, scope, role, name, hash, prefix, last4, created_at, updated_at)
            select ${w.organisationId}, ${w.projectId}, 'secret', 'support', 'n', ${String(w.projectId)} || ' ' || n, 'sk_', '0000', ${now}
            from ${upTo(193)}`,
      'keys',
      (n) => ({ name: `Key ${n}` }),
    ],
    [
      'for a webhook endpoint',
      (w) =>
        sql`insert into webhook_endpoints (project_id, name, url, status, event_types, api_version, created_at, updated_at)
            select ${w.projectId}, 'n', 'https://hooks.example.com/', 'active', array['delivery.null-mx'], '2026-11-20', ${now} from ${upTo(499)}`,
      'webhooks',
      (n) => ({ name: `Endpoint ${n}`, url: 'https://hooks.example.com/', event_types: ['delivery.null-mx'] }),
    ],
    [
      'for a subscription type',
      (w) =>
        sql`insert into subscriptions (project_id, name, channel, is_public, created_at, updated_at)
            select ${w.projectId}, 'n' || n, 'email', true, ${now} from ${upTo(194)}`,
      'subscriptions',
      (n) => ({ name: `Type ${n}`, channel: 'email' }),
    ],
    [
      'for a provider',
      (w) =>
        sql`insert into providers (project_id, name, kind, channel, settings, is_default, created_at, updated_at)
            select ${w.projectId}, 'n', 'discard', 'email', '{}', false, ${now} from ${upTo(99)}`,
      'providers',
      (n) => ({ name: `Provider ${n}`, kind: 'discard', channel: 'email', settings: {} }),
    ],
    [
      'for a domain',
      (w) =>
        sql`insert into domains (project_id, host, verification_token, created_at, updated_at)
            select ${w.projectId}, 'n' || n || '.example.com', 'token', ${now} from ${upTo(99)}`,
      'domains',
      (n) => ({ host: `last${n}.example.com` }),
    ],
  ]
  const sixAtOnce = async (create: (n: number) => Promise<Reply>) =>
    (await Promise.all([1, 2, 3, 4, 5, 6].map(create))).map(({ status }) => status).sort()
  const FIVE_REFUSED = [429, 429, 429, 429, 429]

  test.each(cases)('%s', async (_, fill, path, body) => {
    await using w = await world()
    await w.db.run(fill(w))
    expect(await sixAtOnce((n) => w.post(`/api/client/${path}`, body(n)))).toEqual([201, ...FIVE_REFUSED])
  })

  test('for a project', async () => {
    await using w = await world({ env: { PROJECTS_MAX: '2' } })
    const body = { name: 'One more', locale: 'en', timezone: 'UTC' }
    expect(await sixAtOnce(() => w.post('/api/client/projects', body, { key: w.keys.organisation }))).toEqual([201, ...FIVE_REFUSED])
  })

  test('for an import', async () => {
    await using w = await world()
    const list = (await w.post('/api/client/lists', { name: 'Imported', type: 'static' })).body.id
    const send = () =>
      w.post(`/api/client/lists/${list}/import`, undefined, { raw: 'external_id\nkim\n', headers: { 'content-type': 'text/csv' } })
    for (let n = 0; n < 19; n++) expect((await send()).status).toBe(202)
    expect(await sixAtOnce(send)).toEqual([202, ...FIVE_REFUSED])
  })
})
