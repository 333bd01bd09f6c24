import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../postgres/db.ts'
import { measureBacklog, retryAfter } from './backlog.ts'
import { backlog } from './queue.ts'

const EVENTS = '/api/client/events'
const events = (count: number) => Array.from({ length: count }, () => ({ name: 'x', external_id: 'kim' }))

const fill = (w: World, requests: number, items = 2) =>
  w.db.run(
    sql`insert into queue_entries (project_id, kind, request_id, received_at, items, body)
        select ${w.projectId}, 'events', 'req', ${w.clock.now()}, ${items}::int, '[0123456789]'::bytea from generate_series(1, ${requests}::int)`,
  )
/** Leaves a gap in the positions. */
const skip = (w: World, positions: number) =>
  w.db.run(sql`select setval(s, nextval(s) + ${positions}::bigint) from pg_get_serial_sequence('queue_entries', 'position') s`)
const shrink = (w: World, requests: number) =>
  w.db.run(
    sql`delete from queue_entries where position = any(array(select position from queue_entries order by position limit ${requests}))`,
  )
const empty = (w: World) => w.db.run(sql`delete from queue_entries`)

const Count = Type.Object({ count: Type.Integer() })
const appended = async (w: World) =>
  (await w.db.first(Count, sql`select count(*) as count from queue_entries where project_id = ${w.projectId}`))?.count

describe('measuring', () => {
  test('of an empty queue gives 0', async () => {
    await using w = await world()
    await empty(w)
    expect(await measureBacklog(w.ctx)).toEqual({ requests: 0, items: 0, bytes: 0, oldest: null })
  })

  test('of a small queue is exact, with the time of the oldest entry', async () => {
    await using w = await world()
    await empty(w)
    await fill(w, 150, 3)
    await w.db.run(sql`delete from queue_entries where position % 3 = 0`)
    expect(await measureBacklog(w.ctx)).toEqual({ requests: 100, items: 300, bytes: 1200, oldest: w.clock.now() })
    await empty(w)
  })

  test('of a large queue without gaps is exact when requests are alike', async () => {
    await using w = await world()
    await empty(w)
    await fill(w, 20_000)
    expect(await measureBacklog(w.ctx)).toMatchObject({ requests: 20_000, items: 40_000, bytes: 240_000 })
    await empty(w)
  })

  test('of a large queue with gaps is roughly right', async () => {
    await using w = await world()
    await empty(w)
    await fill(w, 20_000)
    await w.db.run(sql`delete from queue_entries where position % 2 = 0`)
    const { requests } = await measureBacklog(w.ctx)
    expect(requests).toBeGreaterThan(5000)
    expect(requests).toBeLessThan(15_000)
    await empty(w)
  })

  test('is not distorted by one old entry far behind the others', async () => {
    await using w = await world()
    await empty(w)
    await fill(w, 1)
    await skip(w, 1_000_000_000)
    await fill(w, 100)
    const { requests } = await measureBacklog(w.ctx)
    expect(requests).toBe(100)
    await empty(w)
  })

  test('feeds /metrics', async () => {
    await using w = await world({ own: true })
    await empty(w)
    await fill(w, 10)
    expect(await backlog(w.ctx)).toEqual({ waiting: 10, oldest: w.clock.now(), parked: 0 })
    w.ctx.metrics.eventLag(0.2, 3)
    const { text } = await w.get('/metrics')
    expect(text).toMatch(/^app_ingest_backlog_items 20$/m)
    expect(text).toMatch(/^app_ingest_backlog_bytes 120$/m)
    expect(text).toMatch(/^app_event_lag_seconds_count 3$/m)
    await empty(w)
  })
})

describe('a full queue', () => {
  test('answers 429 and stores nothing until it has room again', async () => {
    await using w = await world({ env: { BACKLOG_ITEMS_MAX: '150' } })
    await empty(w)
    expect((await w.post(EVENTS, events(100))).status).toBe(204)
    w.advance('1 second')
    expect((await w.post(EVENTS, events(100))).status).toBe(204)
    w.advance('1 second')
    const refused = await w.post(EVENTS, events(1))
    expect([refused.status, refused.body.code, refused.headers['retry-after']]).toEqual([429, 'rate_limited', '60'])
    expect((await w.patch('/api/client/users', [{ external_id: 'kim' }])).status).toBe(429)
    expect(await appended(w)).toBe(2)
    await w.drain()
    w.advance('1 second')
    expect((await w.post(EVENTS, events(1))).status).toBe(204)
    await w.drain()
    expect((await w.get('/metrics')).text).toMatch(/^app_rate_limited_total\{scope="backlog"\} 2$/m)
  })

  test('refuses requests with an Idempotency-Key, and the key can be used again', async () => {
    await using w = await world({ env: { BACKLOG_ITEMS_MAX: '10' } })
    await empty(w)
    await fill(w, 10)
    const headers = { 'idempotency-key': 'later' }
    expect((await w.post(EVENTS, events(1), { headers })).status).toBe(429)
    expect(await appended(w)).toBe(10)
    await empty(w)
    w.advance('1 second')
    const taken = await w.post(EVENTS, events(1), { headers })
    expect([taken.status, taken.headers['idempotent-replayed']]).toEqual([204, undefined])
    await w.drain()
  })

  test('can be full by its bytes', async () => {
    await using w = await world({ env: { BACKLOG_BYTES_MAX: '119', BACKLOG_ITEMS_MAX: '0' } })
    await empty(w)
    await fill(w, 10)
    expect((await w.post(EVENTS, events(1))).status).toBe(429)
    await shrink(w, 1)
    w.advance('1 second')
    expect((await w.post(EVENTS, events(1))).status).toBe(204)
    await empty(w)
  })

  test('is measured once a second, and not at all without a limit', async () => {
    await using w = await world({ env: { BACKLOG_ITEMS_MAX: '10' } })
    await using free = await world({ env: { BACKLOG_ITEMS_MAX: '0', BACKLOG_BYTES_MAX: '0' } })
    await empty(w)
    expect((await w.post(EVENTS, events(1))).status).toBe(204)
    await fill(w, 10)
    w.advance(999)
    expect((await w.post(EVENTS, events(1))).status).toBe(204)
    w.advance(1)
    expect((await w.post(EVENTS, events(1))).status).toBe(429)
    expect((await free.post(EVENTS, events(1))).status).toBe(204)
    await empty(w)
  })

  test('sets Retry-After by how fast it shrinks', async () => {
    await using w = await world({ env: { BACKLOG_ITEMS_MAX: '100' } })
    await empty(w)
    await fill(w, 100)
    expect((await w.post(EVENTS, events(1))).headers['retry-after']).toBe('60')
    await shrink(w, 20)
    w.advance('2 seconds')
    const { headers, body } = await w.post(EVENTS, events(1))
    expect(headers['retry-after']).toBe('4')
    expect(body.message).toContain('Retry after 4 seconds.')
    await empty(w)
  })
})

test.each([
  [1, 0, 60],
  [2, -1, 60],
  [1, 0.2, 1],
  [1, 10, 1],
  [1.2, 0.1, 3],
  [100, 0.01, 60],
])('%d of the limit, shrinking by %d of it each second: %d seconds', (fullness, shrinking, seconds) =>
  expect(retryAfter({ fullness, shrinking })).toBe(seconds),
)
