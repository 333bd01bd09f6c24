import { readFileSync } from 'node:fs'
import { Type } from 'typebox'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { sourcesOf } from '../../../test/house/sources.ts'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { EndpointId } from '../../lib/ids.ts'
import { matches } from '../../lib/validate.ts'
import {
  cursorsDue,
  EVENT_TYPES,
  emit,
  eventsAfter,
  lockVersions,
  numberEvents,
  saveCursors,
  subscribe,
  unsubscribe,
  type WebhookEvent,
  webhookEvents,
} from './index.ts'

const SPECIFIED = [
  'queue.queue-message-authenticated',
  'queue.rescheduled',
  'queue.quota-exceeded',
  'delivery.concurrency-limit-exceeded',
  'delivery.attempt-start',
  'delivery.attempt-end',
  'delivery.completed',
  'delivery.delivered',
  'delivery.dsn-perm-fail',
  'delivery.dsn-temp-fail',
  'delivery.failed',
  'delivery.mail-from-rejected',
  'delivery.message-rejected',
  'delivery.rcpt-to-rejected',
  'delivery.rcpt-to-failed',
  'delivery.mx-lookup-failed',
  'delivery.ip-lookup-failed',
  'delivery.null-mx',
  'delivery.connect-error',
  'delivery.greeting-failed',
  'delivery.ehlo-rejected',
  'delivery.start-tls-error',
  'delivery.start-tls-unavailable',
  'delivery.implicit-tls-error',
  'incoming-report.abuse-report',
  'incoming-report.fraud-report',
  'incoming-report.virus-report',
]

describe('the catalogue', () => {
  test('has exactly the 27 types of the specification', () => {
    expect([...EVENT_TYPES].sort()).toEqual([...SPECIFIED].sort())
  })

  test.each(Object.values(webhookEvents))('describes $type in a sentence', ({ summary }) => {
    expect(summary).toMatch(/^[A-Z].{20,}\.$/)
  })

  test.each(Object.values(webhookEvents))('has a valid sample of $type', ({ data, sample }) => {
    expect(matches(data)(JSON.parse(JSON.stringify(sample)))).toBeNull()
  })

  test('has exactly the kinds that other modules emit', () => {
    const emitted = sourcesOf('server/src')
      .filter(({ path }) => !path.includes('/webhook-events/'))
      .flatMap(({ text }) => [...text.matchAll(/\bwebhookEvents\.(\w+)\.of\(/g)].map(([, name]) => name as string))
    expect(Object.keys(webhookEvents).sort()).toEqual([...new Set(emitted)].sort())
  })

  test('registers every group in the folder', () => {
    const registry = readFileSync(new URL('./types/index.ts', import.meta.url), 'utf8')
    for (const group of new Set(EVENT_TYPES.map((type) => type.split('.')[0]))) expect(registry).toContain(`'./${group}.ts'`)
  })

  test('refuses data without the required members of its type', () => {
    expectTypeOf(webhookEvents.deliveryNullMx.of).parameter(0).toHaveProperty('domain')
    // @ts-expect-error `delivered` and `failed` are missing.
    webhookEvents.deliveryCompleted.of({ elapsed_ms: 12 })
  })
})

const Stored = Type.Object({
  id: Type.String(),
  type: Type.String(),
  data: Type.String(),
  occurred_at: Type.Unsafe<Date>({ instant: true }),
})

const stored = (ctx: ProjectCtx) =>
  ctx.db.many(
    Stored,
    sql`select id, type, data::text as data, occurred_at from webhook_events where project_id = ${ctx.projectId} order by id`,
  )

/** Reads up to `reads` further events of each endpoint. Returns those that are for it, as `endpoint: domain`. */
const read = (w: World, reads = 100) =>
  inTx(w.ctx, async (ctx) => {
    const locked = await lockVersions(ctx, [w.projectId])
    await numberEvents(ctx, locked, 100)
    const cursors = await cursorsDue(ctx, locked, 100)
    const events = await eventsAfter(
      ctx,
      cursors.map((cursor) => ({ ...cursor, reads })),
    )
    const ofEndpoint = Map.groupBy(events, ({ endpoint_id }) => endpoint_id)
    await saveCursors(
      ctx,
      cursors.map((cursor) => {
        const own = ofEndpoint.get(cursor.endpoint_id) ?? []
        return { ...cursor, position: own.at(-1)?.position ?? cursor.position, due_at: own.length < reads ? null : ctx.clock.now() }
      }),
    )
    const texts = new Map((await stored(ctx)).map(({ id, data }) => [id, Object.values(JSON.parse(data))[0]]))
    return events
      .filter(({ is_wanted }) => is_wanted)
      .map(({ endpoint_id, id }) => `${endpoint_id}: ${texts.get(id)}`)
      .sort()
  })

const emitAll = (ctx: ProjectCtx, ...events: WebhookEvent[]) => inTx(ctx, (ctx) => emit(ctx, () => events))

const nullMx = (domain: string) => webhookEvents.deliveryNullMx.of({ domain })
const [first, second] = [1 as EndpointId, 2 as EndpointId]

describe('emit', () => {
  test('stores an event for the endpoints that are subscribed at that moment', async () => {
    await using w = await world()
    await emitAll(w.ctx, nullMx('before.example'))
    await inTx(w.ctx, (ctx) => subscribe(ctx, second, ['delivery.null-mx', 'delivery.failed']))
    await inTx(w.ctx, (ctx) => subscribe(ctx, first, ['delivery.null-mx']))
    await emitAll(
      w.ctx,
      nullMx('both.example'),
      webhookEvents.deliveryFailed.of({ reason: 'Nothing helped.' }),
      webhookEvents.queueQuotaExceeded.of({ quota: 'q', limit: 1 }),
    )
    await inTx(w.ctx, (ctx) => unsubscribe(ctx, w.projectId, second))
    w.advance(1)
    await emitAll(w.ctx, nullMx('first.example'))
    expect((await stored(w.ctx)).map(({ data }) => JSON.parse(data))).toEqual([
      { domain: 'both.example' },
      { reason: 'Nothing helped.' },
      { domain: 'first.example' },
    ])
    expect(await read(w)).toEqual(['1: both.example', '1: first.example'])
  })

  test('is for the endpoints that subscribed to the type at that moment, whatever they subscribe to when it is read', async () => {
    await using w = await world()
    await inTx(w.ctx, (ctx) => subscribe(ctx, first, ['delivery.null-mx']))
    await inTx(w.ctx, (ctx) => subscribe(ctx, second, ['delivery.failed']))
    await emitAll(w.ctx, nullMx('one.example'), webhookEvents.deliveryFailed.of({ reason: 'No.' }))
    await inTx(w.ctx, (ctx) => subscribe(ctx, first, ['delivery.failed']))
    await inTx(w.ctx, (ctx) => subscribe(ctx, second, ['delivery.null-mx', 'delivery.failed']))
    await emitAll(w.ctx, nullMx('two.example'), webhookEvents.deliveryFailed.of({ reason: 'Nor now.' }))
    expect(await read(w)).toEqual(['1: Nor now.', '1: one.example', '2: No.', '2: Nor now.', '2: two.example'])
    expect(await read(w)).toEqual([])
  })

  test('is read by every cursor once, however few events each look returns, and those that are committed late as well', async () => {
    await using w = await world()
    await inTx(w.ctx, (ctx) => subscribe(ctx, first, ['delivery.null-mx']))
    await inTx(w.ctx, (ctx) => subscribe(ctx, second, ['delivery.null-mx']))
    const late = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const slow = inTx(w.ctx, async (ctx) => {
      await emit(ctx, () => [nullMx('late.example')])
      begun.resolve()
      await late.promise
    })
    await begun.promise
    await emitAll(w.ctx, ...['a', 'b', 'c'].map(nullMx))
    const found = [...(await read(w, 2)), ...(await read(w, 2))]
    late.resolve()
    await slow
    found.push(...(await read(w, 2)), ...(await read(w, 2)))
    expect(found.sort()).toEqual(['a', 'b', 'c', 'late.example'].flatMap((domain) => [`1: ${domain}`, `2: ${domain}`]).sort())
  })

  test('stores nothing for endpoints of another project', async () => {
    await using w = await world()
    const foreign = await w.other()
    await inTx(w.ctx, (ctx) => subscribe(ctx, first, ['delivery.null-mx']))
    await emitAll(foreign.ctx, nullMx('foreign.example'))
    expect([...(await stored(w.ctx)), ...(await stored(foreign.ctx))]).toEqual([])
  })

  test('stores nothing if the transaction is rolled back', async () => {
    await using w = await world()
    await inTx(w.ctx, (ctx) => subscribe(ctx, first, ['delivery.null-mx']))
    const failing = inTx(w.ctx, async (ctx) => {
      await emit(ctx, () => [nullMx('lost.example')])
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await stored(w.ctx)).toEqual([])
  })

  test('keeps the order of the batch and of its members, its own time, and text that jsonb would refuse', async () => {
    await using w = await world()
    await inTx(w.ctx, (ctx) => subscribe(ctx, first, ['delivery.null-mx', 'delivery.failed']))
    const domains = Array.from({ length: 50 }, (_, index) => `d${index}.example`)
    const earlier = new Date('2026-11-23T08:59:59.123Z')
    const strange = webhookEvents.deliveryFailed.of({ to: 'b@example.com', reason: 'NUL \0 and half \ud83d', channel: 'text' }, earlier)
    await emitAll(w.ctx, ...domains.map(nullMx), strange)
    const found = await stored(w.ctx)
    expect(found.slice(0, 50).map(({ data }) => JSON.parse(data).domain)).toEqual(domains)
    expect(found[50]).toMatchObject({
      occurred_at: earlier,
      data: '{"to":"b@example.com","reason":"NUL \\u0000 and half \\ud83d","channel":"text"}',
    })
    expect(new Set(found.map(({ id }) => id)).size).toBe(51)
    expect(found[0]?.id).toMatch(/^evt_[0-9A-HJKMNP-TV-Z]{26}$/)
  })

  test('stores nothing for an empty batch', async () => {
    await using w = await world()
    await emitAll(w.ctx)
    expect(await stored(w.ctx)).toEqual([])
  })
})
