/** What holds for both places where accepted requests are stored: the queue itself, and a log in front of it. */
import { Type } from 'typebox'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { hasNats, logSettings, type Nats, openNats } from '../../../test/nats.ts'
import { select } from '../../../test/select.ts'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../postgres/db.ts'
import { type AcceptedRequest, createAppender } from './append.ts'
import { openAppender } from './log/open-appender.ts'

const request = (w: World, body: Buffer, more: Partial<AcceptedRequest> = {}): AcceptedRequest => ({
  projectId: w.projectId,
  kind: 'events',
  userId: null,
  requestId: `req_${body.subarray(0, 20).toString('hex')}_${body.length}`,
  receivedAt: w.clock.now(),
  items: 1,
  body,
  ...more,
})

const Row = Type.Object({ body: Type.Unsafe<Buffer>({}) })
/** The bodies in the queue, in order. */
async function stored(w: World): Promise<Buffer[]> {
  await w.drain('ingest.move')
  return (await w.db.many(Row, sql`select body from queue_entries where project_id = ${w.projectId} order by position`)).map(
    ({ body }) => body,
  )
}

// Bodies that are no requests must not wait for another test.
afterEach(async () => {
  await using w = await world()
  await w.db.run(sql`delete from queue_entries`)
})

let nats: Nats | undefined
beforeAll(async () => {
  if (hasNats) nats = await openNats()
})
afterAll(() => nats?.[Symbol.asyncDispose]())

describe.each([
  { log: 'PostgreSQL', isHere: true, open: (env = {}) => world({ env }) },
  { log: 'NATS', isHere: hasNats, open: (env = {}) => world({ env: { ...env, ...logSettings(nats as Nats) } }) },
])('with $log', ({ isHere, open }) => {
  const cases = test.runIf(isHere)
  const EVENTS = '/api/client/events'
  const key = (name: string) => ({ headers: { 'idempotency-key': name } })
  const kim = (name: string) => [{ name, external_id: 'kim' }]

  cases('each of many concurrent requests is in the queue once, with its body unchanged', async () => {
    await using w = await open()
    const appender = openAppender(w.ctx)
    const bodies = Array.from({ length: 300 }, (_, at) => Buffer.from(`[{"name":"é${'x'.repeat(at)}","n":${at}}]`))
    await Promise.all(bodies.map((body, at) => appender.append(request(w, body, { requestId: `req_${at}` }))))
    expect((await stored(w)).map(String).sort()).toEqual(bodies.map(String).sort())
  })

  cases('a request that is sent after the reply to another is later in the queue', async () => {
    await using w = await open()
    const appender = openAppender(w.ctx)
    const noise = Array.from({ length: 50 }, (_, at) => appender.append(request(w, Buffer.from(`noise ${at}`))))
    for (const name of ['first', 'second', 'third']) await appender.append(request(w, Buffer.from(name)))
    await Promise.all(noise)
    expect((await stored(w)).map(String).filter((body) => !body.startsWith('noise'))).toEqual(['first', 'second', 'third'])
  })

  cases('with too much in memory further requests get 429, and are taken after that is written', async () => {
    await using w = await open()
    const appender = openAppender(w.ctx)
    const body = Buffer.alloc(1_048_576, 'x')
    const outcomes = await Promise.allSettled(
      Array.from({ length: 80 }, (_, at) => appender.append(request(w, body, { requestId: `req_${at}` }))),
    )
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    expect(refused.length).toBeGreaterThan(0)
    expect(refused[0]).toMatchObject({ code: 'rate_limited', headers: { 'retry-after': '1' } })
    await appender.append(request(w, Buffer.from('later')))
    expect(await stored(w)).toHaveLength(80 - refused.length + 1)
  })

  cases('events and user updates are applied in order, and an item that cannot be applied is parked', async () => {
    await using w = await open()
    for (const plan of ['free', 'pro']) await w.patch('/api/client/users', [{ external_id: 'kim', data: { plan } }])
    expect((await w.post(EVENTS, kim('opened'))).status).toBe(204)
    await openAppender(w.ctx).append(request(w, Buffer.from('[{"no":"event"}]')))
    await w.drain()
    expect((await w.get('/api/client/users/kim')).body.data).toEqual({ plan: 'pro' })
    expect(await select(w, `select name from events where project_id = $1 and name = 'opened'`, [w.projectId])).toEqual([
      { name: 'opened' },
    ])
    expect(await select(w, 'select item from parked_items where project_id = $1', [w.projectId])).toEqual([{ item: { no: 'event' } }])
  })

  cases('of ten simultaneous requests with an Idempotency-Key one is stored, and all get its reply', async () => {
    await using w = await open()
    const replies = await Promise.all(Array.from({ length: 10 }, () => w.post(EVENTS, kim('x'), key('k'))))
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 204))
    expect(replies.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).toHaveLength(1)
    expect(new Set(replies.map(({ headers }) => headers['original-request'])).size).toBe(2)
    expect(await stored(w)).toHaveLength(1)
    expect((await w.post(EVENTS, kim('x'), key('k'))).headers['idempotent-replayed']).toBe('true')
    expect(await stored(w)).toHaveLength(1)
    await w.drain()
  })

  cases('requests of two users of a publishable key with the same Idempotency-Key are both stored', async () => {
    await using w = await open()
    await w.users('kim', 'lee')
    await w.drain()
    const send = async (name: string) => {
      const headers = { ...key('k').headers, 'x-service-user-token': await w.token(name) }
      const reply = await w.post(EVENTS, [{ name: 'x' }], { key: w.keys.public, headers })
      return [reply.status, reply.headers['idempotent-replayed']]
    }
    expect([await send('kim'), await send('lee'), await send('kim')]).toEqual([
      [204, undefined],
      [204, undefined],
      [204, 'true'],
    ])
    expect(await stored(w)).toHaveLength(2)
    await w.drain()
  })

  cases('another request with an Idempotency-Key is refused, before the first is in the queue and after it', async () => {
    await using w = await open()
    await w.post(EVENTS, kim('x'), key('k'))
    const other = async (items: unknown[]) => {
      const reply = await w.post(EVENTS, items, key('k'))
      return [reply.status, reply.body.error.reason]
    }
    expect(await other(kim('y'))).toEqual([409, 'different_request'])
    await stored(w)
    for (const items of [kim('y'), [{ name: 'y' }]]) expect(await other(items)).toEqual([409, 'different_request'])
    expect((await w.post(EVENTS, kim('y'), key('another'))).status).toBe(204)
    expect((await w.post(EVENTS, kim('y'))).status).toBe(204)
    expect(await stored(w)).toHaveLength(3)
    await w.drain()
  })

  cases('a user who is erased is not created again by what was accepted before', async () => {
    await using w = await open()
    await w.users('kim')
    await w.post(EVENTS, kim('opened'))
    expect((await w.delete('/api/client/users/kim')).status).toBeLessThan(300)
    await w.drain()
    expect((await w.get('/api/client/users/kim')).status).toBe(404)
    await w.post(EVENTS, kim('opened'))
    await w.drain()
    expect((await w.get('/api/client/users/kim')).status).toBe(200)
  })
})

test('requests that come in at the same time share commits', async () => {
  await using w = await world()
  let commits = 0
  const appender = createAppender(w.db, () => commits++)
  await Promise.all(Array.from({ length: 300 }, (_, at) => appender.append(request(w, Buffer.from(`[${at}]`)))))
  expect(commits).toBeLessThan(20)
})

test('a commit that fails fails every request in it, and the next one works', async () => {
  await using w = await world()
  const appender = createAppender(w.db, () => undefined)
  await expect(appender.append(request(w, Buffer.from('x'), { kind: 'nonsense' }))).rejects.toThrow()
  await appender.append(request(w, Buffer.from('fine')))
  expect((await stored(w)).map(String)).toEqual(['fine'])
})

test.each([
  ['at most 500 requests', Array.from({ length: 1202 }, () => Buffer.from('x')), 3],
  ['at most 4 MiB', Array.from({ length: 10 }, () => Buffer.alloc(1_048_576, 'x')), 3],
])('a commit is of %s', async (_, bodies, expected) => {
  await using w = await world()
  let commits = 0
  const appender = createAppender(w.db, () => commits++)
  await Promise.all(bodies.map((body) => appender.append(request(w, body))))
  expect(commits).toBe(expected)
  expect(await stored(w)).toHaveLength(bodies.length)
})
