/** Past events are delivered again, observed at a receiver. */
import { expect, test, vi } from 'vitest'
import { waitingForLocks } from '../../../test/besides.ts'
import { run } from '../../../test/blasts.ts'
import type { Receiver } from '../../../test/receiver.ts'
import { select } from '../../../test/select.ts'
import { SOON } from '../../../test/wait.ts'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import { ulid } from '../../lib/ids.ts'
import { DAY_MS, HOUR_MS } from '../../lib/times.ts'
import { emit, webhookEvents } from '../webhook-events/index.ts'
import { nextReplayAt } from './replays.queries.ts'

const WEBHOOKS = '/api/client/webhooks'
const NULL_MX = 'delivery.null-mx'
const FAILED = 'delivery.failed'

const emitNullMx = (ctx: ProjectCtx, ...domains: string[]) =>
  inTx(ctx, (ctx) => emit(ctx, () => domains.map((domain) => webhookEvents.deliveryNullMx.of({ domain }))))

const domainsOf = ({ requests }: Receiver) => requests.map(({ json }) => (json.data as { domain?: string }).domain).sort()

async function endpoint(w: World, url: string, event_types = [NULL_MX]): Promise<string> {
  const made = await w.post(WEBHOOKS, { name: 'Warehouse', url, event_types })
  expect(made.status, made.text).toBe(201)
  return `${WEBHOOKS}/${made.body.id}`
}

const deliver = (w: World) => w.drain('webhooks.dispatch', 'webhooks.replay', 'webhooks.deliver')

/** Two events an hour ago and one now, which a receiver got. */
async function delivered() {
  const w = await world()
  const receiver = await w.receiver()
  const path = await endpoint(w, receiver.url)
  await emitNullMx(w.ctx, 'old.example', 'older.example')
  await deliver(w)
  w.advance('1 hour')
  const between = new Date(w.clock.now().getTime() - 1000).toISOString()
  await emitNullMx(w.ctx, 'new.example')
  await deliver(w)
  expect(domainsOf(receiver)).toEqual(['new.example', 'old.example', 'older.example'])
  const ids = receiver.requests.map(({ headers }) => headers['webhook-id']).sort()
  receiver.requests.length = 0
  return { w, receiver, path, between, ids, since: new Date(w.clock.now().getTime() - 7_200_000).toISOString() }
}

test('all events since a time are delivered again, with the same ids', async () => {
  const { w, receiver, path, ids, since } = await delivered()
  await using _ = w
  const started = await w.post(`${path}/replays`, { since })
  expect(started.status, started.text).toBe(202)
  expect(started.body).toMatchObject({ since, event_types: [NULL_MX], unaccepted_only: false, status: 'running', deliveries: 0 })
  await deliver(w)
  expect(receiver.requests.map(({ headers }) => headers['webhook-id']).sort()).toEqual(ids)
  const { results } = (await w.get(`${path}/replays`)).body
  expect(results).toEqual([{ ...started.body, status: 'finished', deliveries: 3, finished_at: expect.stringMatching(/^2026-/) }])
})

test('only those of the given time', async () => {
  const { w, receiver, path, between, since } = await delivered()
  await using _ = w
  await w.post(`${path}/replays`, { since: between })
  await deliver(w)
  expect(domainsOf(receiver)).toEqual(['new.example'])
  receiver.requests.length = 0
  await w.post(`${path}/replays`, { since, until: between })
  await deliver(w)
  expect(domainsOf(receiver)).toEqual(['old.example', 'older.example'])
})

test('only those of the given types, which another endpoint may have subscribed to', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  const other = await w.receiver()
  await endpoint(w, other.url, [FAILED, NULL_MX])
  const since = new Date(w.clock.now().getTime() - 1000).toISOString()
  await inTx(w.ctx, (ctx) =>
    emit(ctx, () => [webhookEvents.deliveryFailed.of({ reason: 'x' }), webhookEvents.deliveryNullMx.of({ domain: 'a.example' })]),
  )
  await deliver(w)
  const path = await endpoint(w, receiver.url)
  await w.post(`${path}/replays`, { since, event_types: [FAILED] })
  await deliver(w)
  expect(receiver.requests.map(({ json }) => json.type)).toEqual([FAILED])
  await w.post(`${path}/replays`, { since })
  await deliver(w)
  expect(receiver.requests.map(({ json }) => json.type)).toEqual([FAILED, NULL_MX])
  expect(other.requests).toHaveLength(2)
})

test('also those of a transaction that was open when it began, from before the endpoint subscribed', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  await endpoint(w, (await w.receiver()).url)
  const since = new Date(w.clock.now().getTime() - 1000).toISOString()
  const path = await inTx(w.ctx, async (ctx) => {
    await emit(ctx, () => [webhookEvents.deliveryNullMx.of({ domain: 'open.example' })])
    const path = await endpoint(w, receiver.url)
    await w.post(`${path}/replays`, { since })
    await deliver(w)
    return path
  })
  w.advance('1 second')
  await deliver(w)
  expect(domainsOf(receiver)).toEqual(['open.example'])
  expect((await w.get(`${path}/replays`)).body.results[0]).toMatchObject({ status: 'finished', deliveries: 1 })
})

test('only those that the endpoint has not accepted', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  const path = await endpoint(w, receiver.url)
  const since = new Date(w.clock.now().getTime() - 1000).toISOString()
  await emitNullMx(w.ctx, 'accepted.example')
  await deliver(w)
  receiver.answer(500)
  await emitNullMx(w.ctx, 'refused.example')
  await deliver(w)
  receiver.answer(200)
  receiver.requests.length = 0
  await w.post(`${path}/replays`, { since, unaccepted_only: true })
  await deliver(w)
  expect(domainsOf(receiver)).toEqual(['refused.example'])
  expect((await w.get(`${path}/replays`)).body.results[0]).toMatchObject({ deliveries: 1, unaccepted_only: true })
})

test.each<[string, (w: World, path: string, since: string) => Promise<unknown>]>([
  ['replayed', (w, path, since) => w.post(`${path}/replays`, { since })],
  [
    'sent again',
    async (w, path) => {
      const { results } = (await w.get(`${path}/deliveries`)).body
      for (const { id } of results) await w.post(`${path}/deliveries/${id}/resend`)
    },
  ],
])('nor those that it accepted before they were %s and cancelled', async (_name, again) => {
  const { w, receiver, path, since } = await delivered()
  await using _ = w
  receiver.answer(500)
  await again(w, path, since)
  await deliver(w)
  await w.patch(path, { status: 'inactive' })
  await w.patch(path, { status: 'active' })
  receiver.answer(200)
  await emitNullMx(w.ctx, 'late.example')
  await w.drain('webhooks.dispatch')
  await w.patch(path, { status: 'inactive' })
  await w.patch(path, { status: 'active' })
  receiver.requests.length = 0
  await w.post(`${path}/replays`, { since, unaccepted_only: true })
  await deliver(w)
  expect(domainsOf(receiver)).toEqual(['late.example'])
  receiver.requests.length = 0
  await w.post(`${path}/replays`, { since })
  await deliver(w)
  expect(domainsOf(receiver)).toEqual(['late.example', 'new.example', 'old.example', 'older.example'])
})

test('a long replay has at most half of the places of its endpoint, so that new events come through', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  const path = await endpoint(w, receiver.url)
  const since = new Date(w.clock.now().getTime() - 1000).toISOString()
  await emitNullMx(w.ctx, ...Array.from({ length: 300 }, (_, at) => `d${at}.example`))
  await w.drain('webhooks.dispatch', 'webhooks.deliver')
  expect(receiver.requests).toHaveLength(300)
  receiver.requests.length = 0
  await w.post(`${path}/replays`, { since })
  await w.drain('webhooks.replay')
  const [{ count }] = (await select(
    w,
    `select count(*)::int as count from webhook_deliveries where status = 'pending' and project_id = $1`,
    [w.projectId],
  )) as [{ count: number }]
  expect(count).toBe(50)
  await emitNullMx(w.ctx, 'new.example')
  await w.drain('webhooks.dispatch')
  for (let part = 0; part < 300 / 50; part++) {
    await deliver(w)
    w.advance(200)
  }
  expect(domainsOf(receiver)).toHaveLength(301)
  expect(new Set(domainsOf(receiver)).size).toBe(301)
  expect(receiver.requests.findIndex(({ json }) => (json.data as { domain: string }).domain === 'new.example')).toBeLessThan(60)
})

test('a replay of the last hour does not read the events of the day before', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  const path = await endpoint(w, receiver.url)
  const [now, yesterday] = [w.clock.now(), new Date(w.clock.now().getTime() - DAY_MS)]
  const id = `evt_${ulid(yesterday, new Uint8Array(10)).slice(0, 10)}`
  await w.db.run(
    sql`insert into webhook_events (id, project_id, type, occurred_at, data, version, created_at, position)
        select ${id} || lpad(i::text, 16, '0'), ${w.projectId}, ${NULL_MX}, ${yesterday}, '{"domain":"old.example"}', 1, ${yesterday},
               nextval('webhook_positions')
        from generate_series(1, 2000) as i`,
  )
  await w.db.run(sql`update webhook_cursors set position = nextval('webhook_positions') where project_id = ${w.projectId}`)
  await emitNullMx(w.ctx, 'new.example')
  await deliver(w)
  receiver.requests.length = 0
  await w.post(`${path}/replays`, { since: new Date(now.getTime() - HOUR_MS).toISOString() })
  await run(w, 'webhooks.replay')
  await w.drain('webhooks.deliver')
  expect(domainsOf(receiver)).toEqual(['new.example'])
})

test('a replay whose endpoint has no room reads no events, and goes on a moment after there is room', async () => {
  await using w = await world({ own: true })
  const receiver = await w.receiver()
  const path = await endpoint(w, receiver.url)
  const since = new Date(w.clock.now().getTime() - 1000).toISOString()
  await emitNullMx(w.ctx, ...Array.from({ length: 60 }, (_, at) => `d${at}.example`))
  await w.drain('webhooks.dispatch', 'webhooks.deliver')
  receiver.requests.length = 0
  await w.post(`${path}/replays`, { since })
  await run(w, 'webhooks.replay')
  await inTx(w.ctx, async (ctx) => {
    await ctx.db.run(sql`lock table webhook_events in access exclusive mode`)
    expect(await run(w, 'webhooks.replay')).toBe(0)
  })
  expect(await nextReplayAt(w.ctx)).toEqual(new Date(w.clock.now().getTime() + 200))
  await deliver(w)
  expect(receiver.requests).toHaveLength(50)
  w.advance(200)
  await deliver(w)
  expect(new Set(domainsOf(receiver)).size).toBe(60)
  expect(receiver.requests).toHaveLength(60)
})

test.each([
  ['after an outage', 0],
  ['after events that the endpoint had accepted and an outage', 20],
])('%s a delivery a minute finds out whether the endpoint answers, and then the replay goes on', async (_, accepted) => {
  await using w = await world({ env: { WEBHOOK_RETRY_SCHEDULE: '1' } })
  const receiver = await w.receiver()
  const path = await endpoint(w, receiver.url)
  const since = new Date(w.clock.now().getTime() - 1000).toISOString()
  await emitNullMx(w.ctx, ...Array.from({ length: accepted }, (_, at) => `accepted${at}.example`))
  await deliver(w)
  receiver.answer(500)
  const domains = Array.from({ length: 12 }, (_, at) => `d${String(at).padStart(2, '0')}.example`)
  await emitNullMx(w.ctx, ...domains)
  for (let minutes = 0; minutes < 20; minutes++) {
    await deliver(w)
    w.advance('1 minute')
  }
  await deliver(w)
  const statuses = (await w.get(`${path}/deliveries?limit=100`)).body.results.map(({ status }: { status: string }) => status)
  expect(statuses.filter((status: string) => status !== 'succeeded')).toEqual(domains.map(() => 'failed'))
  receiver.requests.length = 0
  expect((await w.post(`${path}/replays`, { since, unaccepted_only: true })).status).toBe(202)
  await deliver(w)
  expect(receiver.requests).toHaveLength(1)
  receiver.answer(200)
  receiver.requests.length = 0
  for (let minutes = 0; minutes < 3; minutes++) {
    w.advance('1 minute')
    await deliver(w)
  }
  expect(domainsOf(receiver)).toEqual(domains)
  expect((await w.get(`${path}/replays`)).body.results).toMatchObject([{ status: 'finished', deliveries: 12 }])
})

test('pausing the endpoint cancels its replay; another can be started later, and one at a time', async () => {
  const { w, receiver, path, since } = await delivered()
  await using _ = w
  expect((await w.post(`${path}/replays`, { since })).status).toBe(202)
  const second = await w.post(`${path}/replays`, { since })
  expect([second.status, second.body.code]).toEqual([422, 'validation_failed'])
  await w.patch(path, { status: 'inactive' })
  const paused = await w.post(`${path}/replays`, { since })
  expect([paused.status, paused.body.code]).toEqual([422, 'validation_failed'])
  await deliver(w)
  expect(receiver.requests).toEqual([])
  await w.patch(path, { status: 'active' })
  expect((await w.post(`${path}/replays`, { since })).status).toBe(202)
  expect((await w.get(`${path}/replays`)).body.results).toMatchObject([{ status: 'running' }, { status: 'cancelled', deliveries: 0 }])
  await deliver(w)
  expect(receiver.requests).toHaveLength(3)
})

test.each<[string, string[]]>([
  ['before the replay is looked at', ['webhooks.dispatch']],
  ['after it', []],
])(
  'events that wait to be put in order when an endpoint is created and its replay begins are replayed: put in order %s',
  async (_, first) => {
    await using w = await world()
    const [other, receiver] = [await w.receiver(), await w.receiver()]
    await endpoint(w, other.url)
    const since = new Date(w.clock.now().getTime() - 1000).toISOString()
    await emitNullMx(w.ctx, 'numbered.example')
    await deliver(w)
    await emitNullMx(w.ctx, ...Array.from({ length: 60 }, (_, at) => `waiting${at}.example`))
    const path = await endpoint(w, receiver.url)
    expect((await w.post(`${path}/replays`, { since })).status).toBe(202)
    await w.drain(...first, 'webhooks.replay')
    await deliver(w)
    w.advance('1 second')
    await deliver(w)
    expect(receiver.requests).toHaveLength(61)
    expect(new Set(domainsOf(receiver)).size).toBe(61)
    expect((await w.get(`${path}/replays`)).body.results).toMatchObject([{ status: 'finished', deliveries: 61 }])
  },
)

/** Runs `stop` while a round of a replay has begun and waits for a lock. Resolves when both have ended. */
async function whileReplaying(w: World, stop: () => Promise<unknown>): Promise<void> {
  const held = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const holding = w.db.transaction(async (db) => {
    await db.run(sql`update webhook_deliveries set attempts = attempts where project_id = ${w.projectId} and status <> 'pending'`)
    held.resolve()
    await release.promise
  })
  await held.promise
  const waiting = (count: number) => vi.waitFor(async () => expect(await waitingForLocks(w)).toBe(count), SOON)
  const round = w.drain('webhooks.replay')
  await waiting(1)
  const stopping = stop()
  await Promise.race([stopping, waiting(2)])
  release.resolve()
  await Promise.all([holding, round, stopping])
}

test.each<[string, number, (w: World, path: string, receiver: Receiver) => Promise<unknown>]>([
  ['paused', 0, (w, path) => w.patch(path, { status: 'inactive' })],
  ['deleted', 0, (w, path) => w.delete(path)],
  [
    'suspended',
    1,
    async (w, path, receiver) => {
      receiver.answer(410)
      await w.post(`${path}/test`)
      await w.drain('webhooks.deliver')
    },
  ],
])('an endpoint that is %s while its replay queues events gets none of them', async (_name, requests, stop) => {
  const { w, receiver, path, since } = await delivered()
  await using _ = w
  await w.post(`${path}/replays`, { since })
  await whileReplaying(w, () => stop(w, path, receiver))
  receiver.answer(200)
  await deliver(w)
  expect(receiver.requests).toHaveLength(requests)
  expect(await select(w, `select status from webhook_deliveries where status = 'pending' and project_id = $1`, [w.projectId])).toEqual([])
})

test('a deleted endpoint gets no replay', async () => {
  const { w, receiver, path, since } = await delivered()
  await using _ = w
  await w.post(`${path}/replays`, { since })
  await w.delete(path)
  await deliver(w)
  expect(receiver.requests).toEqual([])
})

test('a time that is not one of the past 30 days is refused', async () => {
  await using w = await world()
  const path = await endpoint(w, 'https://127.0.0.1:1024/')
  const at = (days: number) => new Date(w.clock.now().getTime() + days * 86_400_000).toISOString()
  const refused = async (body: object) => {
    const { status, body: reply } = await w.post(`${path}/replays`, body)
    return [status, reply.error.param]
  }
  expect(await refused({ since: at(-31) })).toEqual([422, 'since'])
  expect(await refused({ since: at(1) })).toEqual([422, 'since'])
  expect(await refused({ since: at(-1), until: at(-2) })).toEqual([422, 'since'])
  expect(await refused({ since: 'yesterday' })).toEqual([400, 'since'])
  expect(await refused({})).toEqual([400, 'since'])
  expect((await w.post(`${WEBHOOKS}/999/replays`, { since: at(-1) })).status).toBe(404)
  expect((await w.get(`${WEBHOOKS}/999/replays`)).status).toBe(404)
})

test('a replay is deleted 30 days after it ended', async () => {
  const { w, path, since } = await delivered()
  await using _ = w
  await w.post(`${path}/replays`, { since })
  await deliver(w)
  const kept = async () => (await w.get(`${path}/replays`)).body.results.length
  w.advance('29 days')
  await w.drain('webhooks.purge')
  expect(await kept()).toBe(1)
  w.advance('2 days')
  await w.drain('webhooks.purge')
  expect(await kept()).toBe(0)
})
