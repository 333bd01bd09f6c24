/** Limits that settings choose for a whole server: overload, the log of requests, and the projects of an organisation. */
import { describe, expect, test } from 'vitest'
import { allPages } from '../../src/routes.ts'
import { routes } from '../all-routes.ts'
import { type World, world } from '../world.ts'

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
