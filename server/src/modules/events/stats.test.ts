import { describe, expect, test } from 'vitest'
import { type World, world } from '../../../test/world.ts'
import { inTx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import { countEvents } from './stats.ts'

const STATS = '/api/client/events/stats'

const count = (w: World, stored: [name: string, time: string][], partition = 0) =>
  inTx(w.ctx, (ctx) =>
    countEvents(
      ctx,
      stored.map(([name, time]) => ({ userId: 1 as UserId, event: { name, createdAt: new Date(time) } })),
      partition,
    ),
  )

const days = (...pairs: [string, number][]) => pairs.map(([day, count]) => ({ day, count }))

describe('GET /events/stats', () => {
  test('counts events by name and day, a late event on its own day', async () => {
    await using w = await world()
    await w.post('/api/client/events', [
      { name: 'viewed', external_id: 'kim' },
      { name: 'viewed', external_id: 'lee', created_at: '2026-11-10T23:59:59.999Z' },
      { name: 'viewed', external_id: 'lee', created_at: '2026-11-23T00:00:00Z' },
      { name: 'old', external_id: 'kim', created_at: '1970-01-01' },
      { name: 'once', external_id: 'kim', event_id: 'e1' },
      { name: 'once', external_id: 'kim', event_id: 'e1' },
    ])
    await w.drain()
    expect((await w.get(STATS, { key: w.keys.support })).body).toEqual({
      since: '2026-10-25',
      until: '2026-11-23',
      total: 6,
      has_more: false,
      results: [
        { name: 'viewed', count: 3, days: days(['2026-11-10', 1], ['2026-11-23', 2]) },
        { name: 'user_created', count: 2, days: days(['2026-11-23', 2]) },
        { name: 'once', count: 1, days: days(['2026-11-23', 1]) },
      ],
    })
    expect((await w.get(`${STATS}?since=1970-01-01&until=1970-01-02`)).body).toMatchObject({ total: 1, results: [{ name: 'old' }] })
  })

  test('counts are sums over all partitions of this project', async () => {
    await using w = await world()
    const other = await w.other()
    await count(w, [['a', '2026-11-20']], 0)
    await count(w, [['a', '2026-11-20']], 0)
    await count(w, [['a', '2026-11-20']], 7)
    await count(w, [], 7)
    await inTx(other.ctx, (ctx) => countEvents(ctx, [{ userId: 1 as UserId, event: { name: 'theirs', createdAt: w.clock.now() } }], 0))
    expect((await w.get(STATS)).body).toMatchObject({ total: 3, results: [{ name: 'a', count: 3, days: days(['2026-11-20', 3]) }] })
  })

  test('counting in one partition does not wait for another', async () => {
    await using w = await world()
    await count(w, [['a', '2026-11-20']], 1)
    await count(w, [['a', '2026-11-20']], 2)
    await inTx(w.ctx, async (ctx) => {
      await countEvents(ctx, [{ userId: 1 as UserId, event: { name: 'a', createdAt: new Date('2026-11-20') } }], 1)
      await count(w, [['a', '2026-11-20']], 2)
    })
    expect((await w.get(STATS)).body.total).toBe(4)
  })

  test.each<[string, string, string, number]>([
    ['', '2026-10-25', '2026-11-23', 2],
    ['?since=2026-11-23', '2026-11-23', '2026-11-23', 1],
    ['?until=2026-11-23', '2026-10-24', '2026-11-22', 2],
    ['?until=2026-11-23T00:00:00.001Z', '2026-10-25', '2026-11-23', 2],
    ['?since=2026-11-22T23:59:59.999Z&until=2026-11-23', '2026-11-22', '2026-11-22', 1],
    ['?since=2026-11-22T23:59:59.999Z&until=2026-11-23T10:00:00Z', '2026-11-22', '2026-11-23', 2],
    ['?since=2026-11-23T05:00:00%2B10:00', '2026-11-22', '2026-11-23', 2],
    ['?since=2027-03-01', '2027-03-01', '2027-03-01', 0],
    ['?since=2026-10-24&until=2026-10-25', '2026-10-24', '2026-10-24', 1],
    ['?name=a', '2026-10-25', '2026-11-23', 1],
  ])('%s counts from %s to %s', async (query, since, until, total) => {
    await using w = await world()
    await count(w, [
      ['a', '2026-11-22T12:00:00Z'],
      ['b', '2026-11-23T00:00:00Z'],
      ['c', '2026-10-24T23:59:59.999Z'],
    ])
    expect((await w.get(`${STATS}${query}`)).body).toMatchObject({ since, until, total })
  })

  test.each<[string, string, string]>([
    ['?since=2025-11-23&until=2026-11-25', 'validation_failed', 'since'],
    ['?since=2026-11-23&until=2026-11-22', 'validation_failed', 'until'],
    ['?until=then', 'parameter_invalid_format', 'until'],
    ['?limit=5', 'parameter_unknown', 'limit'],
  ])('%s is refused', async (query, code, param) => {
    await using w = await world()
    expect((await w.get(`${STATS}${query}`)).body).toMatchObject({ code, error: { param } })
  })

  test('a range of a year and a day is allowed', async () => {
    await using w = await world()
    expect((await w.get(`${STATS}?since=2025-11-23&until=2026-11-24`)).status).toBe(200)
  })

  test('shows the most frequent of very many names, and counts all in the total', async () => {
    await using w = await world()
    const stored = Array.from({ length: 120 }, (_, index): [string, string] => [`e${String(index).padStart(3, '0')}`, '2026-11-20'])
    await count(w, [...stored, ['e119', '2026-11-21']])
    const { body } = await w.get(STATS)
    expect([body.total, body.has_more, body.results.length]).toEqual([121, true, 100])
    expect(body.results.slice(0, 2).map(({ name }: { name: string }) => name)).toEqual(['e119', 'e000'])
  })
})
