import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { routes } from '../../../test/all-routes.ts'
import { sendOver } from '../../../test/mailing.ts'
import { select } from '../../../test/select.ts'
import { openSilentHost } from '../../../test/silent-host.ts'
import { type Reply, type RequestOptions, type World, world } from '../../../test/world.ts'
import type { KeyId } from '../../lib/ids.ts'
import { DAY_MS } from '../../lib/times.ts'
import { sql } from '../postgres/db.ts'
import { runOnce } from './idempotency.ts'
import { findRecord, keepRecord, type StoredRecord } from './idempotency-records.ts'
import type { Route } from './route.ts'

const batch = '/api/client/users/batch'
const key = (value: string) => ({ headers: { 'idempotency-key': value } })

describe('Idempotency-Key', () => {
  test('a repeated request gets the same reply and has no effect', async () => {
    await using w = await world()
    const first = await w.post('/api/client/keys', { name: 'one', role: 'editor' }, key('k1'))
    const again = await w.post('/api/client/keys', { role: 'editor', name: 'one' }, key('k1'))
    expect(again.text).toBe(first.text)
    expect([again.status, again.headers.location]).toEqual([201, first.headers.location])
    expect(again.headers).toMatchObject({
      'idempotent-replayed': 'true',
      'idempotency-key': 'k1',
      'original-request': first.headers['x-request-id'],
    })
    expect(again.headers['x-request-id']).not.toBe(first.headers['x-request-id'])
    expect(first.headers['idempotent-replayed']).toBeUndefined()
    expect((await w.get('/api/client/keys?q=one')).body.results).toHaveLength(1)
  })

  test('a key costs two statements: one to claim it, and one to keep the reply', async () => {
    await using w = await world({ own: true, env: {} })
    const count = async () => Number(/^app_db_statement_duration_seconds_count (\d+)/m.exec((await w.ctx.metrics.exposition()).text)?.[1])
    const statementsOf = async (request: () => Promise<Reply>) => {
      const before = await count()
      expect((await request()).status).toBe(200)
      return (await count()) - before
    }
    const save = (name: string, options?: RequestOptions) => () => w.post(batch, [{ external_id: name }], options)
    await save('first')()
    const bare = await statementsOf(save('second'))
    expect((await statementsOf(save('third', key('k')))) - bare).toBeLessThanOrEqual(2)
    expect(await statementsOf(save('third', key('k')))).toBeLessThanOrEqual(bare)
  })

  test('a secret in a stored reply is encrypted', async () => {
    await using w = await world()
    const { body } = await w.post('/api/client/keys', { name: 'one' }, key('sealed'))
    const Row = Type.Object({ body: Type.String() })
    const stored = await w.db.first(Row, sql`select body from idempotency_records where idempotency_key = 'sealed'`)
    expect(stored?.body).not.toContain(body.value)
  })

  const HASH = createHash('sha256').update('POST\n/api/client/keys\n[]\n{"name":"one"}').digest('hex')

  test('a record has no hash from which the body could be found by trying', async () => {
    await using w = await world()
    await w.post('/api/client/keys', { name: 'one' }, key('keyed'))
    const [stored] = await select(w, `select fingerprint from idempotency_records where idempotency_key = 'keyed'`)
    expect(stored?.fingerprint).not.toBe(HASH)
  })

  test('a request whose values are trimmed is repeated after SECRETS_KEY got a new first key, also if it is only appended', async () => {
    const former = `a:${Buffer.alloc(32, 1).toString('base64')}`
    await using w = await world({ env: { SECRETS_KEY: former } })
    await using rotated = await world({ env: { SECRETS_KEY: `b:${Buffer.alloc(32, 2).toString('base64')},${former}` } })
    for (const [method, path, body] of [
      ['PATCH', '/api/client/users', [{ external_id: 'a', email: ' a@example.com ' }]],
      ['POST', '/api/client/events', [{ name: ' order ', external_id: 'a' }]],
    ] as const) {
      const send = (of: World) => of.request(method, path, body, { ...key(path), key: w.keys.secret })
      const replies = [await send(w), await send(rotated), await send(w)]
      expect(replies.map(({ status, headers }) => [status, headers['idempotent-replayed']])).toEqual([
        [204, undefined],
        [204, 'true'],
        [204, 'true'],
      ])
    }
  })

  test('a request is repeated after SECRETS_KEY got a new first key, and one of an earlier release too; another is not', async () => {
    const former = `a:${Buffer.alloc(32, 1).toString('base64')}`
    await using w = await world({ env: { SECRETS_KEY: former } })
    await using rotated = await world({ env: { SECRETS_KEY: `b:${Buffer.alloc(32, 2).toString('base64')},${former}` } })
    const send = async (of: World, name: string) => {
      const { status, headers } = await of.post('/api/client/keys', { name }, { ...key('rotation'), key: w.keys.secret })
      return [status, headers['idempotent-replayed']]
    }
    expect(await send(w, 'one')).toEqual([201, undefined])
    expect([await send(rotated, 'one'), await send(rotated, 'two')]).toEqual([
      [201, 'true'],
      [409, undefined],
    ])
    await select(w, `update idempotency_records set fingerprint = $1 where idempotency_key = 'rotation'`, [HASH])
    expect([await send(rotated, 'one'), await send(rotated, 'two')]).toEqual([
      [201, 'true'],
      [409, undefined],
    ])
  })

  test.each<[string, string, unknown]>([
    ['another body', batch, [{ external_id: 'lee' }]],
    ['another order in an array', batch, [{ external_id: 'b' }, { external_id: 'a' }]],
    ['another route', '/api/client/keys', { name: 'x' }],
  ])('%s under the same key is refused with 409', async (_, path, body) => {
    await using w = await world()
    await w.post(batch, [{ external_id: 'a' }, { external_id: 'b' }], key('k'))
    const reply = await w.post(path, body, key('k'))
    expect([reply.status, reply.body.code, reply.body.error.reason]).toEqual([409, 'idempotency_key_mismatch', 'different_request'])
  })

  test.each([
    ['a/', 'a', '/api/client/users/a%2F', '/api/client/users/a'],
    ['a/', 'a%2F', '/api/client/users/a%2F', '/api/client/users/a%252F'],
  ])('deleting the users %j and %j are different requests', async (one, other, first, second) => {
    await using w = await world()
    expect((await w.post(batch, [{ external_id: one }, { external_id: other }])).body.succeeded).toBe(2)
    expect((await w.delete(first, key('k'))).status).toBe(204)
    const reply = await w.delete(second, key('k'))
    expect([reply.status, reply.body?.error.reason]).toEqual([409, 'different_request'])
    expect((await w.get(`/api/client/users/${encodeURIComponent(other)}`)).status).toBe(200)
  })

  test('a path with and without a last slash, and however it is encoded, is the same request', async () => {
    await using w = await world()
    await w.post(batch, [{ external_id: 'a:b' }])
    const replies = [await w.delete('/api/client/users/a:b', key('k')), await w.delete('/api/client/users/a%3A%62/', key('k'))]
    expect(replies.map(({ status, headers }) => [status, headers['idempotent-replayed']])).toEqual([
      [204, undefined],
      [204, 'true'],
    ])
  })

  test('two credentials can use the same key independently', async () => {
    await using w = await world()
    await w.post(batch, [{ external_id: 'a' }], key('k'))
    const reply = await w.post(batch, [{ external_id: 'b' }], { ...key('k'), key: w.keys.editor })
    expect([reply.status, reply.headers['idempotent-replayed']]).toEqual([200, undefined])
  })

  test('two users of a publishable key can use the same key independently', async () => {
    await using w = await world()
    await w.users('kim', 'lee')
    const path = '/api/client/users/me/subscriptions'
    const own = async (name: string) => ({
      key: w.keys.public,
      headers: { ...key('k').headers, 'x-service-user-token': await w.token(name) },
    })
    const [kim, lee] = [await own('kim'), await own('lee')]
    const { subscription_id } = (await w.get(path, kim)).body.results[0]
    const optOut = (user: RequestOptions) => w.patch(path, [{ subscription_id, state: 0 }], user)
    const replies = [await optOut(kim), await optOut(lee), await optOut(kim)]
    expect(replies.map(({ status, headers }) => [status, headers['idempotency-key'], headers['idempotent-replayed']])).toEqual([
      [200, 'k', undefined],
      [200, 'k', undefined],
      [200, 'k', 'true'],
    ])
    const states = async (user: RequestOptions) =>
      (await w.get(path, user)).body.results.flatMap((row: any) => (row.subscription_id === subscription_id ? [row.state] : []))
    expect([await states(kim), await states(lee)]).toEqual([[0], [0]])
  })

  test('ten simultaneous requests have one effect and one reply', async () => {
    await using w = await world()
    const replies = await Promise.all(Array.from({ length: 10 }, () => w.post('/api/client/keys', { name: 'once' }, key('parallel'))))
    const created = replies.filter(({ status }) => status === 201)
    const busy = replies.filter(({ status }) => status === 409)
    expect(created.length + busy.length).toBe(10)
    expect(new Set(created.map(({ body }) => body.id)).size).toBe(1)
    expect(created.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).toHaveLength(1)
    for (const { body, headers } of busy) expect([body.error.reason, headers['retry-after']]).toEqual(['in_progress', '1'])
    expect((await w.get('/api/client/keys?q=once')).body.results).toHaveLength(1)
  })

  test('a rejected request can be corrected and sent again with the same key', async () => {
    await using w = await world()
    expect((await w.post('/api/client/keys', { nom: 'x' }, key('k'))).status).toBe(422)
    const corrected = await w.post('/api/client/keys', { name: 'x' }, key('k'))
    expect([corrected.status, corrected.headers['idempotent-replayed']]).toEqual([201, undefined])
  })

  test('a refusal by the handler is replayed and has no effect', async () => {
    await using w = await world()
    const first = await w.patch('/api/client/keys/999999', { name: 'x' }, key('gone'))
    const again = await w.patch('/api/client/keys/999999', { name: 'x' }, key('gone'))
    expect([first.status, again.status, again.headers['idempotent-replayed']]).toEqual([404, 404, 'true'])
    expect(again.text).toBe(first.text)
  })

  test('a key expires after 24 hours, to the millisecond', async () => {
    await using w = await world()
    const send = () => w.post(batch, [{ external_id: 'a' }], key('day'))
    await send()
    w.advance(DAY_MS - 1)
    expect((await send()).headers['idempotent-replayed']).toBe('true')
    w.advance(1)
    expect((await send()).headers['idempotent-replayed']).toBeUndefined()
  })

  test('an archived API key gets 401, not a replay', async () => {
    await using w = await world()
    const made = (await w.post('/api/client/keys', { name: 'x', role: 'editor' })).body
    await w.post(batch, [{ external_id: 'a' }], { ...key('k'), key: made.value })
    await w.delete(`/api/client/keys/${made.id}`)
    expect((await w.post(batch, [{ external_id: 'a' }], { ...key('k'), key: made.value })).status).toBe(401)
  })

  test.each<[string, string, string]>([
    ['empty', ' ', 'parameter_invalid_empty'],
    ['too long', 'x'.repeat(256), 'parameter_invalid_format'],
    ['not ASCII', 'schlüssel', 'parameter_invalid_format'],
  ])('a key that is %s is refused', async (_, value, code) => {
    await using w = await world()
    expect((await w.post(batch, [{ external_id: 'a' }], key(value))).body).toMatchObject({ code, error: { param: 'Idempotency-Key' } })
  })

  test('an accepted event and the record of its reply are committed together', async () => {
    await using w = await world()
    const send = () => w.post('/api/client/events', [{ name: 'x', external_id: 'kim' }], key('event'))
    expect([(await send()).status, (await send()).headers['idempotent-replayed']]).toEqual([204, 'true'])
    const Row = Type.Object({ count: Type.Integer() })
    expect((await w.db.first(Row, sql`select count(*) as count from queue_entries where project_id = ${w.projectId}`))?.count).toBe(1)
  })

  test('reads ignore the header', async () => {
    await using w = await world()
    expect((await w.get('/api/client/users', key('k'))).headers['idempotency-key']).toBeUndefined()
  })
})

describe('Idempotency-Key on requests that are applied later', () => {
  const EVENTS = '/api/client/events'
  const entries = (w: World) =>
    w.db.value(Type.Integer(), sql`select count(*)::int as count from queue_entries where project_id = ${w.projectId}`)

  test('of ten simultaneous requests one is appended, and all get its reply', async () => {
    await using w = await world()
    const replies = await Promise.all(Array.from({ length: 10 }, () => w.post(EVENTS, [{ name: 'x', external_id: 'kim' }], key('k'))))
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 204))
    expect(replies.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).toHaveLength(1)
    expect(await entries(w)).toBe(1)
  })

  test('requests with other keys, or without one, in the same commit are appended too', async () => {
    await using w = await world()
    await w.post(EVENTS, [{ name: 'x', external_id: 'kim' }], key('b'))
    await Promise.all(
      ['a', 'b', 'c', undefined].map((name) => w.post(EVENTS, [{ name: 'x', external_id: 'kim' }], name === undefined ? {} : key(name))),
    )
    expect(await entries(w)).toBe(4)
  })

  test('another request under the key is refused with 409, and so is one that is refused itself', async () => {
    await using w = await world()
    await w.post(EVENTS, [{ name: 'x', external_id: 'kim' }], key('k'))
    for (const items of [[{ name: 'y', external_id: 'kim' }], [{ name: 'y' }]]) {
      const reply = await w.post(EVENTS, items, key('k'))
      expect([reply.status, reply.body.error.reason]).toEqual([409, 'different_request'])
    }
  })

  test.each<['post' | 'patch', string, object, object]>([
    ['post', EVENTS, { name: 'x', external_id: 'kim' }, { user: { timezone: 'x'.repeat(51) } }],
    ['post', EVENTS, { name: 'x', external_id: 'kim' }, { event_id: 1, nom: 'x' }],
    ['patch', '/api/client/users', { external_id: 'kim' }, { timezone: 'x'.repeat(51) }],
    ['patch', '/api/client/users', { external_id: 'kim' }, { email: 'kim', nom: 'x' }],
  ])('a %s of %s that is refused with 422 can be corrected under its key', async (method, path, item, wrong) => {
    await using w = await world()
    const refused = await w[method](path, [{ ...item, ...wrong }], key('k'))
    const corrected = await w[method](path, [item], key('k'))
    expect([refused.status, corrected.status, corrected.headers['idempotent-replayed']]).toEqual([422, 204, undefined])
    expect(await entries(w)).toBe(1)
  })

  test('a repeat gets its reply although there is no room in the queue any more', async () => {
    await using w = await world({ env: { BACKLOG_ITEMS_MAX: '1' } })
    await w.db.run(sql`delete from queue_entries`)
    const send = (name: string) => w.post(EVENTS, [{ name: 'x', external_id: 'kim' }], key(name))
    const first = await send('k')
    w.advance('2 seconds')
    expect([first.status, (await send('other')).status, (await send('k')).status]).toEqual([204, 429, 204])
  })

  test('a key expires here too', async () => {
    await using w = await world()
    const send = () => w.post(EVENTS, [{ name: 'x', external_id: 'kim' }], key('day'))
    await send()
    w.advance('24 hours')
    expect([(await send()).headers['idempotent-replayed'], (await send()).headers['idempotent-replayed']]).toEqual([undefined, 'true'])
    expect(await entries(w)).toBe(2)
  })
})

describe('Idempotency-Key on operations that wait for other servers', () => {
  const open = async (env: Record<string, string> = {}) => {
    const closing = new AsyncDisposableStack()
    const silent = closing.use(await openSilentHost())
    const w = closing.use(await world({ env }))
    const path = `/api/client/providers/${await sendOver(w, silent)}/test`
    const ask = (name: string) => w.post(path, undefined, key(name))
    return { w, silent, ask, [Symbol.asyncDispose]: () => closing.disposeAsync() }
  }

  test('a repeat gets 409 while the first is running, and its reply afterwards', async () => {
    await using opened = await open({ IDEMPOTENCY_WAIT_MS: '0' })
    const { silent, ask } = opened
    const first = ask('k')
    await silent.reached(1)
    const early = await ask('k')
    expect([early.status, early.body.error.reason, early.headers['retry-after']]).toEqual([409, 'in_progress', '1'])
    silent.release()
    const [reply, late] = [await first, await ask('k')]
    expect([reply.status, late.status, late.text, late.headers['idempotent-replayed']]).toEqual([200, 200, reply.text, 'true'])
  })

  test('a repeat waits for the reply of the first', async () => {
    await using opened = await open()
    const { w, silent, ask } = opened
    const first = ask('k')
    await silent.reached(1)
    const repeat = ask('k')
    silent.release()
    await first
    const replayed = repeat.then(({ headers }) => headers['idempotent-replayed'] ?? 'no')
    let found: string | undefined
    while (found === undefined) {
      w.advance(100)
      found = await Promise.race([replayed, w.get('/readyz').then(() => undefined)])
    }
    expect(found).toBe('true')
  })

  test('a request whose process stopped can be repeated after ten minutes', async () => {
    await using opened = await open({ IDEMPOTENCY_WAIT_MS: '0' })
    const { w, silent, ask } = opened
    const lost = ask('k')
    await silent.reached(1)
    w.advance('10 minutes')
    const again = ask('k')
    await silent.reached(2)
    silent.release()
    expect((await again).headers['idempotent-replayed']).toBeUndefined()
    await lost
    expect((await ask('k')).headers['original-request']).toBe((await again).headers['x-request-id'])
  })

  test('a refusal is replayed', async () => {
    await using w = await world()
    const ask = () => w.post('/api/client/providers/999999/test', undefined, key('gone'))
    const [first, again] = [await ask(), await ask()]
    expect([first.status, again.status, again.headers['idempotent-replayed']]).toEqual([404, 404, 'true'])
  })
})

test('a request whose key another process records meanwhile has no effect, and gets the reply of the other', async () => {
  await using w = await world()
  const created = routes.find(({ method, path }) => method === 'POST' && path === '/api/client/journeys') as Route
  const request = { key: 'k', keyId: 1 as KeyId, route: created, path: '/', query: {}, body: {}, requestId: 'req_ours' }
  const replied = (body: string) => ({ status: 200, body, location: null })
  await runOnce(w.ctx, { ...request, key: 'the fingerprint' }, async () => replied('""'))
  const { fingerprint } = (await findRecord(w.ctx, { ...request, key: 'the fingerprint', fingerprint: '' })) as StoredRecord
  let effects = 0
  const reply = await runOnce(w.ctx, request, async (ctx) => {
    effects++
    await ctx.db.run(sql`insert into usage_counters (project_id, name, period, used) values (${w.projectId}, 'effect', '2026-01-01', 1)`)
    const expiresAt = new Date(w.clock.now().getTime() + 1000)
    await keepRecord(w.ctx, { ...request, ...replied('"theirs"'), fingerprint, requestId: 'req_theirs', isSealed: false, expiresAt })
    return replied('"ours"')
  })
  const used = await w.db.value(
    Type.Integer(),
    sql`select count(*)::int as count from usage_counters where name = 'effect' and project_id = ${w.projectId}`,
  )
  expect([reply.body, reply.originalRequest, effects, used]).toEqual(['"theirs"', 'req_theirs', 1, 0])
})

test('a repeat that may not wait gets 409 at once while the first is running', async () => {
  await using w = await world({ env: { IDEMPOTENCY_WAIT_MS: '0' } })
  const route = routes.find(({ method, path }) => method === 'POST' && path === '/api/client/journeys') as Route
  const request = { key: 'no wait', keyId: 1 as KeyId, route, path: '/', query: {}, body: {}, requestId: 'req_1' }
  const reply = { status: 200, body: '""', location: null }
  const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const first = runOnce(w.ctx, request, async () => {
    begun.resolve()
    await over.promise
    return reply
  })
  await begun.promise
  await expect(runOnce(w.ctx, request, async () => reply)).rejects.toMatchObject({ status: 409 })
  over.resolve()
  expect(await first).toEqual(reply)
})

test('a request that runs after one that failed counts as running', async () => {
  await using w = await world()
  const route = routes.find(({ method, path }) => method === 'POST' && path === '/api/client/journeys') as Route
  const request = { key: 'after a failure', keyId: 1 as KeyId, route, path: '/', query: {}, body: {}, requestId: 'req_1' }
  const stage = () => ({ begun: Promise.withResolvers<void>(), over: Promise.withResolvers<void>() })
  const send = ({ begun, over }: ReturnType<typeof stage>) =>
    runOnce(w.ctx, request, async () => {
      begun.resolve()
      await over.promise
      return { status: 200, body: '""', location: null }
    })
  const [failing, running, later] = [stage(), stage(), stage()]
  const first = send(failing)
  await failing.begun.promise
  const second = send(running)
  failing.over.reject(new Error('It failed.'))
  await expect(first).rejects.toThrow('It failed.')
  await running.begun.promise
  later.over.resolve()
  const others = Array.from({ length: 6 }, () => send(later).catch(({ reason }) => reason))
  // Five may wait. The sixth is refused at once.
  expect(await Promise.race([others[5], new Promise((resolve) => setImmediate(() => resolve('waits')))])).toBe('in_progress')
  running.over.resolve()
  expect((await second).originalRequest).toBeUndefined()
  for (const reply of await Promise.all(others.slice(0, 5))) expect(reply).toMatchObject({ status: 200, originalRequest: 'req_1' })
})
