/** Deliveries are created when there is room for them, with a share for each project. Counted in rows and in requests. */
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { run } from '../../../test/blasts.ts'
import type { Receiver } from '../../../test/receiver.ts'
import { type Tenant, type World, world } from '../../../test/world.ts'
import { raw, sql } from '../../infra/postgres/db.ts'
import { type Ctx, inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import { emit, webhookEvents } from '../webhook-events/index.ts'
import { deliverDue } from './deliver.ts'

const WEBHOOKS = '/api/client/webhooks'
const TYPE = 'delivery.null-mx'
/** More than an endpoint gets at a time. */
const EVENTS = 150

const emitMany = (ctx: ProjectCtx, count: number) =>
  inTx(ctx, (ctx) =>
    emit(ctx, () => Array.from({ length: count }, (_, at) => webhookEvents.deliveryNullMx.of({ domain: `d${at}.example` }))),
  )

async function endpoints(w: World, url: string, count: number, { keys }: Tenant = w): Promise<number[]> {
  const ids: number[] = []
  for (let at = 0; at < count; at++) {
    const made = await w.post(WEBHOOKS, { name: `Endpoint ${at}`, url, event_types: [TYPE] }, { key: keys.secret })
    expect(made.status, made.text).toBe(201)
    ids.push(made.body.id)
  }
  return ids
}

const Count = Type.Object({ count: Type.Integer() })
const rowsOf = async (w: World, { projectId }: Pick<Tenant, 'projectId'>) =>
  (await w.db.first(Count, sql`select count(*) as count from webhook_deliveries where project_id = ${projectId}`))?.count

const domainsOf = ({ requests }: Receiver) => requests.map(({ json }) => (json.data as { domain: string }).domain)

test('events from before a change of types come also if no worker ran for long, and the purge runs first', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  const [id] = await endpoints(w, receiver.url, 1)
  await emitMany(w.ctx, 1)
  const changed = await w.patch(`${WEBHOOKS}/${id}`, { event_types: [TYPE, 'delivery.failed'] })
  expect(changed.status, changed.text).toBe(200)
  await emitMany(w.ctx, 1)
  const subscriptions = async () =>
    (await w.db.first(Count, sql`select count(*) as count from webhook_event_subscriptions where project_id = ${w.projectId}`))?.count
  w.advance('61 minutes')
  await run(w, 'webhooks.purge')
  await w.drain('webhooks.dispatch', 'webhooks.deliver')
  expect(receiver.requests).toHaveLength(2)
  await run(w, 'webhooks.purge')
  expect(await subscriptions()).toBe(1)
})

test('an endpoint gets the events of the types that it had when they were stored, past many that it did not have', async () => {
  await using w = await world()
  const [changed, former] = [await w.receiver(), await w.receiver()]
  const [id] = await endpoints(w, changed.url, 1)
  await endpoints(w, former.url, 1)
  const change = async (event_types: string[]) => expect((await w.patch(`${WEBHOOKS}/${id}`, { event_types })).status).toBe(200)
  await emitMany(w.ctx, 30)
  await run(w, 'webhooks.dispatch')
  await emitMany(w.ctx, 3)
  await change(['delivery.failed'])
  await emitMany(w.ctx, 700)
  await change(['delivery.failed', TYPE])
  await emitMany(w.ctx, 5)
  await w.drain('webhooks.dispatch', 'webhooks.deliver')
  expect(changed.requests).toHaveLength(30 + 3 + 5)
  expect(former.requests).toHaveLength(30 + 3 + 700 + 5)
})

test('a project whose events cannot be dispatched does not hold up those of others', async () => {
  await using w = await world({ own: true })
  const other = await w.other()
  const [receiver, others] = [await w.receiver(), await w.receiver()]
  const [id] = await endpoints(w, receiver.url, 1)
  await endpoints(w, others.url, 1, other)
  await w.db.run(sql`alter table webhook_deliveries add constraint fails check (endpoint_id <> ${raw(String(id))})`)
  await emitMany(w.ctx, 1)
  await emitMany(other.ctx, 1)
  await w.drain('webhooks.dispatch', 'webhooks.deliver')
  expect(others.requests).toHaveLength(1)
  // It is left out for a time, so that the others share a round again.
  await emitMany(other.ctx, 1)
  await w.drain('webhooks.dispatch', 'webhooks.deliver')
  expect(others.requests).toHaveLength(2)
  expect(receiver.requests).toHaveLength(0)
  await w.db.run(sql`alter table webhook_deliveries drop constraint fails`)
  w.advance('1 minute')
  await w.drain('webhooks.dispatch', 'webhooks.deliver')
  expect(receiver.requests).toHaveLength(1)
})

test('a round creates a limited number of deliveries, and those of another project among them', async () => {
  await using w = await world()
  const other = await w.other()
  await endpoints(w, 'https://127.0.0.1:1024/', 60)
  await endpoints(w, 'https://127.0.0.1:1024/', 1, other)
  await emitMany(w.ctx, 20)
  await emitMany(other.ctx, 1)
  await run(w, 'webhooks.dispatch')
  expect(await rowsOf(w, other)).toBe(1)
  const first = (await rowsOf(w, w)) ?? 0
  expect(first).toBeGreaterThan(0)
  expect(first).toBeLessThanOrEqual(500)
  await run(w, 'webhooks.dispatch', 20)
  expect(await rowsOf(w, w)).toBe(60 * 20)
})

test('an endpoint gets no further deliveries while a hundred are due', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  await endpoints(w, receiver.url, 1)
  await emitMany(w.ctx, EVENTS)
  await run(w, 'webhooks.dispatch', 10)
  expect(await rowsOf(w, w)).toBe(100)
  await w.drain('webhooks.dispatch', 'webhooks.deliver')
  expect(new Set(domainsOf(receiver)).size).toBe(EVENTS)
  expect(receiver.requests).toHaveLength(EVENTS)
})

test('an endpoint that keeps failing gets hardly any deliveries, and all of its events once it answers', async () => {
  // Retries are after about a day, so that only new deliveries are attempted meanwhile.
  await using w = await world({ env: { WEBHOOK_RETRY_SCHEDULE: '86400' } })
  const receiver = await w.receiver()
  receiver.answer(500)
  const [id] = await endpoints(w, receiver.url, 1)
  await emitMany(w.ctx, EVENTS)
  await w.drain('webhooks.dispatch', 'webhooks.deliver')
  expect(await rowsOf(w, w)).toBeLessThanOrEqual(101)
  for (let minutes = 0; minutes < 2; minutes++) {
    w.advance('1 minute')
    await w.drain('webhooks.dispatch', 'webhooks.deliver')
  }
  expect(await rowsOf(w, w)).toBeLessThanOrEqual(103)
  receiver.answer(200)
  receiver.requests.length = 0
  w.advance('1 minute')
  await w.drain('webhooks.dispatch', 'webhooks.deliver')
  w.advance('2 days')
  await w.drain('webhooks.dispatch', 'webhooks.deliver')
  expect(domainsOf(receiver).sort()).toEqual(Array.from({ length: EVENTS }, (_, at) => `d${at}.example`).sort())
  const { results } = (await w.get(`${WEBHOOKS}/${id}/deliveries?limit=100`)).body
  expect(results.every(({ status }: { status: string }) => status === 'succeeded')).toBe(true)
})

test('endpoints that never answer leave room for those of another project', async () => {
  await using w = await world()
  const other = await w.other()
  await endpoints(w, 'https://127.0.0.1:1024/', 120)
  const [quick] = await endpoints(w, 'https://127.0.0.1:1025/', 1, other)
  await emitMany(w.ctx, 12)
  await run(w, 'webhooks.dispatch', 8)
  await emitMany(other.ctx, 12)
  await run(w, 'webhooks.dispatch')
  const received = Promise.withResolvers<void>()
  let open = 0
  let openMax = 0
  let quickDeliveries = 0
  const answered = { is: 'answered' as const, status: 200, headers: {}, body: '', elapsedMs: 1 }
  const ctx: Ctx = {
    ...w.ctx,
    fetch: {
      ...w.ctx.fetch,
      async request({ url }) {
        if (url === 'https://127.0.0.1:1025/') {
          if (++quickDeliveries === 12) received.resolve()
          return answered
        }
        openMax = Math.max(openMax, ++open)
        // The others are answered only after all of the quick ones.
        await received.promise
        open--
        return answered
      },
    },
  }
  await deliverDue(ctx, new AbortController().signal)
  expect(quickDeliveries).toBe(12)
  expect(openMax).toBeLessThanOrEqual(150)
  const { results } = (await w.get(`${WEBHOOKS}/${quick}/deliveries`, { key: other.keys.secret })).body
  expect(results).toHaveLength(12)
})
