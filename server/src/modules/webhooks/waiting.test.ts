/**
 * Deliveries that wait, because receivers are slow or away, slow nothing else: neither what stores new events, nor what finds the deliveries of
 * other endpoints. Counted in pages that PostgreSQL reads, and observed at a receiver. WEBHOOKS_WAITING=1000000 makes it a million.
 */
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { explaining, type Reading, rolledBack } from '../../../test/explain.ts'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { type Ctx, inClaim, inTx, quickly } from '../../infra/runtime/ctx.ts'
import type { EndpointId } from '../../lib/ids.ts'
import { emit, eventsAfter, numberEvents, webhookEvents } from '../webhook-events/index.ts'
import { insertWanted } from '../webhook-events/queries.ts'
import { backlogsOf, claimDeliveries } from './deliveries.queries.ts'

const WAITING = Number(process.env.WEBHOOKS_WAITING ?? 100_000)
const TYPE = 'delivery.null-mx'
const STORED = 100
/** What storing or claiming a hundred may read. It is the same however many wait. */
const PAGES_MAX = 3000
/** What a look of one endpoint may read. */
const LOOK_PAGES_MAX = 300

async function endpoint(w: World, url: string, types: string[] = [TYPE]): Promise<EndpointId> {
  const made = await w.post('/api/client/webhooks', { name: 'Endpoint', url, event_types: types })
  expect(made.status, made.text).toBe(201)
  return made.body.id
}

async function change(w: World, id: EndpointId, types: string[]): Promise<void> {
  const changed = await w.patch(`/api/client/webhooks/${id}`, { event_types: types })
  expect(changed.status, changed.text).toBe(200)
}

/** Events that have positions. They occurred at the present version of the subscriptions. */
async function fillEvents(w: World): Promise<void> {
  const at = w.clock.now()
  // What earlier tests deleted is read until it is vacuumed.
  await w.db.run(sql`vacuum webhook_events, webhook_deliveries`)
  await w.db.run(
    sql`insert into webhook_events (id, project_id, type, occurred_at, data, version, created_at, position)
        select 'evt_0' || lpad(nextval('webhook_positions')::text, 25, '0'), v.project_id, ${TYPE}, ${at}, '{"domain":"a.example"}', v.version, ${at},
               nextval('webhook_positions')
        from webhook_versions v
        cross join generate_series(1, ${WAITING}::int) as i
        where v.project_id = ${w.projectId}`,
  )
  await w.db.run(sql`analyze webhook_events`)
}

/** Events, each with a delivery to an endpoint that waits for its next attempt. */
const fill = async (w: World, id: EndpointId) => {
  const at = w.clock.now()
  await fillEvents(w)
  await w.db.run(
    sql`insert into webhook_deliveries (project_id, endpoint_id, event_id, event_type, status, attempts, next_attempt_at, created_at)
        select project_id, ${id}, id, type, 'pending', 1, ${new Date(at.getTime() + 60_000)}, created_at from webhook_events
        where project_id = ${w.projectId}`,
  )
  await w.db.run(sql`update webhook_cursors set position = nextval('webhook_positions') where project_id = ${w.projectId}`)
  await w.db.run(sql`analyze webhook_deliveries`)
}

/** The pages that work reads. */
async function pagesOf(w: World, work: (ctx: Ctx & World['ctx']) => Promise<unknown>): Promise<{ pages: number; plans: string }> {
  const readings: Reading[] = []
  await rolledBack(w.ctx, (ctx) => work(explaining(ctx, readings) as Ctx & World['ctx']))
  return { pages: readings.reduce((sum, { pages }) => sum + pages, 0), plans: readings.map(({ plan }) => plan).join('\n') }
}

test('a hundred thousand deliveries that wait do not slow what is sent', { timeout: 600_000 }, async () => {
  await using w = await world({ own: true })
  const receiver = await w.receiver()
  const slow = await endpoint(w, 'https://127.0.0.1:1024/')
  await fill(w, slow)
  const quick = await endpoint(w, receiver.url)

  const ids = Array.from({ length: STORED }, (_, at) => `evt_1${String(at).padStart(25, '0')}`)
  const batch = { ids, types: ids.map(() => TYPE), occurredAt: ids.map(() => w.clock.now()), data: ids.map(() => '{}') }
  const stored = await pagesOf(w, (ctx) => inTx(ctx, (ctx) => insertWanted(ctx, batch)))
  expect(stored.pages, stored.plans).toBeLessThan(PAGES_MAX)

  await inTx(w.ctx, (ctx) =>
    emit(ctx, () => Array.from({ length: STORED }, (_, at) => webhookEvents.deliveryNullMx.of({ domain: `d${at}.example` }))),
  )
  const ofEndpoints = [slow, quick].map((endpoint_id) => ({ project_id: w.projectId, endpoint_id }))
  const found = await pagesOf(w, (ctx) =>
    inClaim(ctx, async (ctx) => {
      await backlogsOf(ctx, ofEndpoints, 100, 200)
      await eventsAfter(
        ctx,
        ofEndpoints.map((one) => ({ ...one, position: WAITING, reads: STORED })),
      )
    }),
  )
  expect(found.pages, found.plans).toBeLessThan(PAGES_MAX)

  await w.drain('webhooks.dispatch')
  const room = { total: STORED, usual: 60, rooms: new Map(), failingAfter: 10, projects: { usual: STORED, rooms: new Map() } }
  const claimed = await pagesOf(w, (ctx) => claimDeliveries(quickly(ctx), room, 10))
  expect(claimed.pages, claimed.plans).toBeLessThan(PAGES_MAX)

  await w.drain('webhooks.dispatch', 'webhooks.deliver')
  expect(receiver.requests).toHaveLength(STORED)
})

const emitOne = (w: World) => inTx(w.ctx, (ctx) => emit(ctx, () => [webhookEvents.deliveryNullMx.of({ domain: 'new.example' })]))

const Position = Type.Object({ position: Type.Integer() })

/** What giving positions to new events and a look of an endpoint read. */
async function lookOf(w: World, endpoint_id: EndpointId) {
  const { position } = await w.db.one(
    Position,
    sql`select position from webhook_cursors where project_id = ${w.projectId} and endpoint_id = ${endpoint_id}`,
  )
  return pagesOf(w, (ctx) =>
    inClaim(ctx, async (ctx) => {
      await numberEvents(ctx, [w.projectId], STORED)
      await eventsAfter(ctx, [{ project_id: w.projectId, endpoint_id, position, reads: STORED }])
    }),
  )
}

test('an endpoint that subscribes to a type of which many events are stored does not read these', { timeout: 600_000 }, async () => {
  await using w = await world({ own: true })
  const receiver = await w.receiver()
  const late = await endpoint(w, receiver.url, ['delivery.failed'])
  await endpoint(w, 'https://127.0.0.1:1024/')
  await fillEvents(w)
  await change(w, late, ['delivery.failed', TYPE])
  await emitOne(w)
  const look = await lookOf(w, late)
  expect(look.pages, look.plans).toBeLessThan(LOOK_PAGES_MAX)
  await w.db.run(
    sql`update webhook_cursors set position = nextval('webhook_positions') where project_id = ${w.projectId} and endpoint_id <> ${late}`,
  )
  await w.drain('webhooks.dispatch', 'webhooks.deliver')
  expect(receiver.requests.map(({ json }) => json.data)).toEqual([{ domain: 'new.example' }])
})

test('an endpoint whose types change while many events wait for it reads few of them at a time', { timeout: 600_000 }, async () => {
  await using w = await world({ own: true })
  const changed = await endpoint(w, 'https://127.0.0.1:1024/')
  await fillEvents(w)
  await w.db.run(sql`update webhook_cursors set due_at = ${w.clock.now()} where project_id = ${w.projectId}`)
  await change(w, changed, [TYPE, 'delivery.failed'])
  await emitOne(w)
  const former = await lookOf(w, changed)
  expect(former.pages, former.plans).toBeLessThan(LOOK_PAGES_MAX)

  await w.db.run(sql`update webhook_cursors set position = nextval('webhook_positions') where project_id = ${w.projectId}`)
  await fillEvents(w)
  const present = await lookOf(w, changed)
  expect(present.pages, present.plans).toBeLessThan(LOOK_PAGES_MAX)
})

test('deliveries to a receiver share a few connections', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  await endpoint(w, receiver.url)
  await inTx(w.ctx, (ctx) =>
    emit(ctx, () => Array.from({ length: 200 }, (_, at) => webhookEvents.deliveryNullMx.of({ domain: `d${at}.example` }))),
  )
  await w.drain('webhooks.dispatch', 'webhooks.deliver')
  expect(receiver.requests).toHaveLength(200)
  // Ten at a time, each of which may begin before the connection of the one before is free.
  expect(receiver.connections()).toBeLessThanOrEqual(20)
})
