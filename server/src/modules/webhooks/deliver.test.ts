/** What happens to a delivery while its request is under way. Requests are counted at a receiver. */
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { run } from '../../../test/blasts.ts'
import type { Receiver } from '../../../test/receiver.ts'
import { SOON } from '../../../test/wait.ts'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { type Ctx, inTx } from '../../infra/runtime/ctx.ts'
import { HOUR_MS } from '../../lib/times.ts'
import { emit, webhookEvents } from '../webhook-events/index.ts'
import { deliverDue } from './deliver.ts'

const WEBHOOKS = '/api/client/webhooks'
const TYPE = 'delivery.null-mx'

async function endpoint(w: World): Promise<{ path: string; receiver: Receiver }> {
  const receiver = await w.receiver()
  const made = await w.post(WEBHOOKS, { name: 'Warehouse', url: receiver.url, event_types: [TYPE] })
  expect(made.status, made.text).toBe(201)
  return { path: `${WEBHOOKS}/${made.body.id}`, receiver }
}

/** An endpoint with one delivery that is due. */
async function open(w: World): Promise<{ path: string; receiver: Receiver }> {
  const opened = await endpoint(w)
  expect((await w.post(`${opened.path}/test`)).status).toBe(202)
  return opened
}

const deliveryOf = async (w: World, path: string) => {
  const { results } = (await w.get(`${path}/deliveries`)).body
  expect(results).toHaveLength(1)
  return results[0]
}

/** A worker whose requests are answered, and whose answers reach it only after `meanwhile`. */
const slowly = (w: World, meanwhile: () => Promise<void>): Ctx => ({
  ...w.ctx,
  fetch: {
    ...w.ctx.fetch,
    async request(request) {
      const answer = await w.ctx.fetch.request(request)
      await meanwhile()
      return answer
    },
  },
})

/** A worker that cannot make requests to a receiver. */
const faulty = (w: World, { url }: Receiver): Ctx => ({
  ...w.ctx,
  fetch: {
    ...w.ctx.fetch,
    async request(request) {
      if (request.url.startsWith(url)) throw new Error('It fails.')
      return w.ctx.fetch.request(request)
    },
  },
})

const deliver = (ctx: Ctx) => deliverDue(ctx, new AbortController().signal)

test('the result of a worker that lost its lease is dropped: the delivery is as the other worker has recorded it', async () => {
  await using w = await world()
  const { path, receiver } = await open(w)
  receiver.answer(500)
  await deliver(
    slowly(w, async () => {
      await w.db.run(sql`update webhook_deliveries set lease_until = now() - interval '1 second' where project_id = ${w.projectId}`)
      receiver.answer(200)
      expect(await run(w, 'webhooks.deliver')).toBe(1)
    }),
  )
  expect(receiver.requests).toHaveLength(2)
  expect(await deliveryOf(w, path)).toMatchObject({ status: 'succeeded', attempts: 1, last_status_code: 200, next_attempt_at: null })
  w.advance('1 day')
  await w.drain()
  expect(receiver.requests).toHaveLength(2)
})

const Held = Type.Object({ is_held: Type.Boolean() })

/** Ends the lease of a delivery that is under way, and lets the time pass until its worker has renewed it. */
async function untilRenewed(w: World): Promise<void> {
  await w.db.run(sql`update webhook_deliveries set lease_until = now() - interval '1 second' where project_id = ${w.projectId}`)
  const isHeld = async () => {
    w.advance(100)
    const held = sql`select coalesce(lease_until > now(), false) as is_held from webhook_deliveries where project_id = ${w.projectId}`
    return (await w.db.one(Held, held)).is_held
  }
  await expect.poll(isHeld, SOON).toBe(true)
}

/** A worker that cannot lease deliveries once it is told so. */
const leasingNothing = (ctx: Ctx, isBroken: () => boolean): Ctx => ({
  ...ctx,
  db: {
    ...ctx.db,
    within(limits) {
      if (isBroken()) throw new Error('It fails.')
      return ctx.db.within(limits)
    },
  },
})

test('the lease of a request that is under way is renewed after the clock was set back', async () => {
  await using w = await world()
  const { receiver } = await open(w)
  let byOthers: number | undefined
  await deliver(
    slowly(w, async () => {
      w.clock.set(new Date(w.clock.now().getTime() - HOUR_MS))
      await untilRenewed(w)
      byOthers = await run(w, 'webhooks.deliver')
    }),
  )
  expect([byOthers, receiver.requests.length]).toEqual([0, 1])
})

test('the lease of a request that is under way is renewed after its worker has failed', async () => {
  await using w = await world()
  const { receiver } = await open(w)
  let isBroken = false
  let byOthers: number | undefined
  const slow = slowly(w, async () => {
    isBroken = true
    await untilRenewed(w)
    byOthers = await run(w, 'webhooks.deliver')
  })
  await expect(deliver(leasingNothing(slow, () => isBroken))).rejects.toThrow('It fails.')
  expect([byOthers, receiver.requests.length]).toEqual([0, 1])
})

test('a delivery that a fault keeps from being sent is recorded and retried later, and all others are sent', async () => {
  await using w = await world()
  const { path, receiver: never } = await endpoint(w)
  const { path: sound, receiver } = await endpoint(w)
  await inTx(w.ctx, (ctx) => emit(ctx, () => [webhookEvents.deliveryNullMx.of({ domain: 'a.example' })]))
  await w.drain('webhooks.dispatch')
  for (let event = 0; event < 11; event++) expect((await w.post(`${sound}/test`)).status).toBe(202)
  await deliver(faulty(w, never))
  expect(receiver.requests).toHaveLength(12)
  expect(await deliveryOf(w, path)).toMatchObject({ status: 'pending', attempts: 1 })
  w.advance('1 day')
  await w.drain('webhooks.deliver')
  expect([never.requests.length, (await deliveryOf(w, path)).status]).toEqual([1, 'succeeded'])
})

test.each([
  ['that fails', 500, 'cancelled'],
  ['that arrives', 200, 'succeeded'],
])('an attempt %s after its endpoint was paused is recorded, and never followed by another', async (_, answer, status) => {
  await using w = await world()
  const { path, receiver } = await open(w)
  receiver.answer(answer)
  await deliver(
    slowly(w, async () => {
      expect((await w.patch(path, { status: 'inactive' })).body.status).toBe('inactive')
    }),
  )
  expect(await deliveryOf(w, path)).toMatchObject({ status, attempts: 1, last_status_code: answer, next_attempt_at: null })
  expect((await w.patch(path, { status: 'active' })).body.status).toBe('active')
  w.advance('1 day')
  await w.drain()
  expect(receiver.requests).toHaveLength(1)
})

test.each([
  ['the last attempt', '60', 1],
  ['an earlier attempt', '60,36000', 1],
  ['the first attempt', '60,36000', 0],
])('a delivery that is sent again while %s is under way, which fails, is sent at once', async (_, schedule, failuresBefore) => {
  await using w = await world({ env: { WEBHOOK_RETRY_SCHEDULE: schedule } })
  const { path, receiver } = await open(w)
  receiver.answer(500)
  for (let failures = 0; failures < failuresBefore; failures++) {
    await run(w, 'webhooks.deliver')
    w.advance('2 minutes')
  }
  await deliver(
    slowly(w, async () => {
      if (receiver.requests.length !== failuresBefore + 1) return
      // The clock moves on, as it does between the claim of a delivery and its answer.
      w.advance('1 second')
      const { id } = await deliveryOf(w, path)
      expect((await w.post(`${path}/deliveries/${id}/resend`)).status).toBe(202)
    }),
  )
  await w.drain('webhooks.deliver')
  expect(receiver.requests).toHaveLength(failuresBefore + 2)
  // The schedule has begun again with the second of them.
  const { status, next_attempt_at } = await deliveryOf(w, path)
  const delayMs = new Date(next_attempt_at).getTime() - w.clock.now().getTime()
  expect([status, delayMs > 0, delayMs <= 72_000]).toEqual(['pending', true, true])
})

test.each([
  ['is under way is sent at once if that fails', true, 4],
  ['is due begins its schedule anew with it', false, 3],
])('a delivery that a replay comes to while its last attempt %s', async (_, isUnderWay, requests) => {
  await using w = await world({ env: { WEBHOOK_RETRY_SCHEDULE: '60' } })
  const { path, receiver } = await endpoint(w)
  const since = new Date(w.clock.now().getTime() - 1000).toISOString()
  receiver.answer(500)
  await inTx(w.ctx, (ctx) => emit(ctx, () => [webhookEvents.deliveryNullMx.of({ domain: 'a.example' })]))
  await w.drain('webhooks.dispatch', 'webhooks.deliver')
  expect(receiver.requests).toHaveLength(1)
  w.advance('2 minutes')
  let replays = 0
  const replay = async () => {
    if (replays++ > 0) return
    expect((await w.post(`${path}/replays`, { since })).status).toBe(202)
    await run(w, 'webhooks.replay')
  }
  if (isUnderWay) await deliver(slowly(w, replay))
  else await replay()
  await w.drain('webhooks.deliver')
  receiver.answer(200)
  w.advance('2 minutes')
  await w.drain('webhooks.deliver')
  expect(receiver.requests).toHaveLength(requests)
  expect((await deliveryOf(w, path)).status).toBe('succeeded')
  expect((await w.get(`${path}/replays`)).body.results).toMatchObject([{ status: 'finished', deliveries: 1 }])
})

test('a delivery that is sent again while an attempt is under way, which succeeds, has succeeded', async () => {
  await using w = await world()
  const { path, receiver } = await open(w)
  await deliver(
    slowly(w, async () => {
      w.advance('1 second')
      const { id } = await deliveryOf(w, path)
      if (receiver.requests.length === 1) expect((await w.post(`${path}/deliveries/${id}/resend`)).status).toBe(202)
    }),
  )
  expect(await deliveryOf(w, path)).toMatchObject({ status: 'succeeded', next_attempt_at: null })
})
