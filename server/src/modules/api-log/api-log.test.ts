/** The API log (D-CON-36): it has what programs did and no secret, it is bounded, and no request waits for it. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { member } from '../../../test/members.ts'
import { select } from '../../../test/select.ts'
import { SOON } from '../../../test/wait.ts'
import { type World, world } from '../../../test/world.ts'
import { authenticator } from '../../authenticator.ts'
import type { ServedRequest } from '../../infra/http/served-request.ts'
import { createHttpServer } from '../../infra/http/server.ts'
import type { Ctx } from '../../infra/runtime/ctx.ts'
import { ApiError } from '../../lib/errors.ts'
import { recordWrite } from '../audit/index.ts'
import { eventRoutes } from '../events/index.ts'
import { listRoutes } from '../lists/index.ts'
import { type ApiLog, openApiLog } from './api-log.ts'
import { apiLogRoutes } from './routes.ts'

let w: World
const closing = new AsyncDisposableStack()
beforeAll(async () => {
  w = closing.use(await world())
})
afterAll(() => closing.disposeAsync())

const logOf = async (project = w.keys, query = '') =>
  (await w.get(`/api/client/requests?limit=100&${query}`, { key: project.secret })).body.results

/** A server with this log, and no other routes than those that are called. */
function serving(log: ApiLog) {
  const routes = [
    ...listRoutes({ archiveList: async () => undefined as never, referencedCampaigns: async () => [] as never }),
    ...eventRoutes,
    ...apiLogRoutes,
  ]
  const app = createHttpServer({
    ctx: w.ctx,
    routes,
    pages: [],
    authenticator,
    recordWrite,
    logRequest: log.put,
    baseUrl: w.ctx.baseUrl,
    lag: () => 0,
  })
  closing.defer(() => app.close())
  return (method: 'GET' | 'POST' | 'PATCH', url: string, body?: unknown, headers: Record<string, string> = {}) =>
    app.inject({
      method,
      url: `/api/client/${url}`,
      headers: {
        ...(!('cookie' in headers) && { authorization: `Bearer ${w.keys.secret}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
}

test('has each request with its key, its result and its replay, for keys with the role `admin`', async () => {
  await using log = openApiLog(w.ctx)
  const call = serving(log)
  const created = await call('POST', 'lists', { name: 'Ana’s friends', type: 'static' }, { 'idempotency-key': 'once' })
  const replayed = await call('POST', 'lists', { name: 'Ana’s friends', type: 'static' }, { 'idempotency-key': 'once' })
  await call('GET', `lists/${created.json().id}?secret=hush`)
  await call('PATCH', 'lists/999999', { name: 'Bo’s' })
  await call('POST', 'lists', '{"name": "Cy')
  await log.flush()
  const [malformed, missing, read, again, first] = await logOf()
  expect(first).toMatchObject({
    request_id: created.headers['x-request-id'],
    method: 'POST',
    route: '/api/client/lists',
    params: {},
    query: {},
    body: { name: '[text, 13 characters]', type: 'static' },
    status: 201,
    code: null,
    param: null,
    actor: { type: 'key', id: expect.any(Number), name: expect.any(String) },
    via: 'api',
    original_request: null,
    left_out: 0,
  })
  expect(again).toMatchObject({ request_id: replayed.headers['x-request-id'], original_request: first.request_id, status: 201 })
  expect(read).toMatchObject({
    params: { listId: String(created.json().id) },
    query: {},
    status: 400,
    code: 'parameter_unknown',
    param: null,
  })
  expect(missing).toMatchObject({ status: 404, code: 'resource_missing', body: { name: '[text, 4 characters]' } })
  expect(malformed).toMatchObject({ status: 400, code: 'parameter_invalid_format', param: 'body', body: null })
  expect(await logOf(w.keys, 'status=4xx&method=PATCH')).toMatchObject([{ id: missing.id }])
  expect(await logOf(w.keys, 'is_replay=true')).toMatchObject([{ id: again.id }])
  expect(await logOf(w.keys, `request_id=${read.request_id}`)).toMatchObject([{ id: read.id }])
  expect(await logOf(w.keys, 'actor_type=member')).toEqual([])
  expect((await w.get('/api/client/requests', { key: w.keys.publisher })).status).toBe(403)
  const stored = JSON.stringify(await select(w, 'select * from api_requests'))
  for (const secret of [w.keys.secret, 'Ana', 'Bo', 'Cy', 'hush', 'once']) expect(stored).not.toContain(secret)
})

test('has what a member writes in the console, and not what an open page reads', async () => {
  await using log = openApiLog(w.ctx)
  const call = serving(log)
  const { headers } = await member(w, 'owner')
  const given = { ...headers, 'carillon-project': String(w.projectId) }
  expect((await call('GET', 'lists', undefined, given)).statusCode).toBe(200)
  expect((await call('POST', 'lists', { name: 'By hand', type: 'static' }, given)).statusCode).toBe(201)
  await log.flush()
  expect(await logOf(w.keys, 'actor_type=member')).toMatchObject([
    { method: 'POST', via: 'console', actor: { type: 'member', name: expect.any(String) } },
  ])
})

describe('the bounds', () => {
  const request = (about: Partial<ServedRequest> = {}): ServedRequest => ({
    route: apiLogRoutes[0] as ServedRequest['route'],
    projectId: w.projectId,
    actor: { kind: 'key', id: 1, name: 'Shop' },
    via: 'api',
    requestId: 'req_1',
    params: {},
    query: '',
    body: undefined,
    status: 200,
    error: undefined,
    originalRequest: undefined,
    elapsedMs: 1,
    ...about,
  })
  const countOf = async (id = w.projectId) =>
    Number((await select(w, `select count(*) as count from api_requests where project_id = ${id}`))[0]?.count)

  test('of a burst, the first of each kind of result are kept, and the others counted', async () => {
    await using w = await world()
    await using log = openApiLog(w.ctx)
    const failure = { status: 429, error: new ApiError('rate_limited', 'Slower.') }
    for (let count = 0; count < 1000; count++) log.put(request({ projectId: w.projectId }))
    for (let count = 0; count < 50; count++) log.put(request({ projectId: w.projectId, ...failure }))
    await log.flush()
    for (let count = 0; count < 2; count++) log.put(request({ projectId: w.projectId, requestId: 'req_next' }))
    await log.flush()
    const kept = (await w.get('/api/client/requests?limit=100')).body.results
    expect(kept.map(({ left_out }: { left_out: number }) => left_out).filter(Boolean)).toEqual([30, 980])
    expect(kept.filter(({ code }: { code: string }) => code === 'rate_limited')).toHaveLength(20)
    expect(kept).toHaveLength(42)
  })

  test('a project keeps the latest, of all processes together', async () => {
    await using w = await world()
    const { projectId } = await w.other()
    const ctx: Ctx = { ...w.ctx, config: { ...w.ctx.config, API_LOG_MAX: 30 } }
    await using logs = new AsyncDisposableStack()
    const processes = [logs.use(openApiLog(ctx)), logs.use(openApiLog(ctx))]
    for (let second = 0; second < 12; second++) {
      for (const log of processes) {
        for (let count = 0; count < 20; count++) log.put(request({ projectId: w.projectId, requestId: `req_${second}` }))
        log.put(request({ projectId }))
        await log.flush()
      }
    }
    // 480 were written. Each process trims at the latest after 100.
    expect(await countOf(w.projectId)).toBeLessThanOrEqual(30 + 2 * 100)
    expect(await countOf(projectId)).toBe(24)
    const latest = (await w.get('/api/client/requests')).body.results
    expect(latest[0].request_id).toBe('req_11')
  })

  test('with API_LOG_MAX=0 nothing is kept', async () => {
    await using w = await world()
    await using log = openApiLog({ ...w.ctx, config: { ...w.ctx.config, API_LOG_MAX: 0 } })
    log.put(request({ projectId: w.projectId }))
    await log.flush()
    expect(await countOf(w.projectId)).toBe(0)
  })

  test('it is written by itself after a second, and at the end; while the database is away, requests are served and forgotten', async () => {
    await using w = await world()
    {
      await using log = openApiLog(w.ctx)
      log.put(request({ projectId: w.projectId }))
      w.advance('1 second')
      await vi.waitFor(async () => expect(await countOf(w.projectId)).toBe(1), SOON)
      log.put(request({ projectId: w.projectId }))
    }
    expect(await countOf(w.projectId)).toBe(2)
    const run = async () => {
      throw new Error('away')
    }
    await using log = openApiLog({ ...w.ctx, db: { ...w.ctx.db, run } })
    log.put(request({ projectId: w.projectId }))
    await log.flush()
    expect(await countOf(w.projectId)).toBe(2)
  })
})
