import { describe, expect, test } from 'vitest'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { inTx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import { saveEvents } from './queries.ts'
import { countEvents } from './stats.ts'

const SCHEMA = '/api/client/schema/events'

type Given = { name: string; data?: Record<string, unknown>; at?: string; user?: number }

/** Stores and counts events like a batch. */
const store = (w: World, events: Given[], partition = 0) =>
  inTx(w.ctx, async (ctx) => {
    const counted = events.map(({ name, at, user = 1 }) => ({
      userId: user as UserId,
      event: { name, createdAt: at === undefined ? w.clock.now() : new Date(at) },
    }))
    await saveEvents(
      ctx,
      counted.map(({ userId, event }, index) => ({
        project_id: w.projectId,
        user_id: userId,
        name: event.name,
        data: events[index]?.data ?? {},
        created_at: event.createdAt,
        received_at: w.clock.now(),
        source: 'api',
        journey_id: null,
        entrance_id: null,
      })),
    )
    await countEvents(ctx, counted, partition)
  })

const only = async (w: World) => (await w.get(SCHEMA)).body.results[0]

describe('GET /schema/events', () => {
  test('shows at once which events were sent, when, and with which attributes', async () => {
    await using w = await world()
    await w.post('/api/client/events', [
      { name: 'bought', external_id: 'kim', data: { total: 9.5, 'a.b': 'x', absent: null, tags: ['a', 'b'] } },
      { name: 'bought', external_id: 'lee', data: { total: '9.50', paid: true }, created_at: '2026-11-01' },
    ])
    await w.drain()
    expect((await w.get(`${SCHEMA}?q=OUGH`, { key: w.keys.support })).body).toEqual({
      results: [
        {
          name: 'bought',
          count: 2,
          first_seen: '2026-11-01T00:00:00.000Z',
          last_seen: '2026-11-23T09:00:00.000Z',
          attributes: [
            { key: 'data.total', types: ['number', 'string'], coverage: 1, samples: ['9.50', 9.5] },
            { key: 'data.a\\.b', types: ['string'], coverage: 0.5, samples: ['x'] },
            { key: 'data.paid', types: ['boolean'], coverage: 0.5, samples: [true] },
            { key: 'data.tags', types: ['array'], coverage: 0.5, samples: ['["a", "b"]'] },
          ],
        },
      ],
      nextCursor: null,
      prevCursor: null,
      limit: 25,
    })
  })

  test('reads the events that were stored last, in all partitions', async () => {
    await using w = await world()
    await store(w, [{ name: 'a', data: { before: 1 } }])
    for (let batch = 0; batch < 3; batch++) {
      w.advance('1 second')
      await store(
        w,
        Array.from({ length: 20 }, (_, index) => ({ name: 'a', data: { since: index } })),
        batch,
      )
    }
    expect(await only(w)).toMatchObject({ count: 61, attributes: [{ key: 'data.since', coverage: 1 }] })
    expect((await only(w)).attributes[0].samples).toHaveLength(5)
  })

  test('shortens long texts', async () => {
    await using w = await world()
    await store(w, [{ name: 'a', data: { text: 'é'.repeat(65), short: 'é'.repeat(64), list: ['x'.repeat(100)] } }])
    const samples = Object.fromEntries((await only(w)).attributes.map(({ key, samples: [sample] }: any) => [key, sample]))
    expect(samples).toEqual({ 'data.text': `${'é'.repeat(64)}…`, 'data.short': 'é'.repeat(64), 'data.list': `["${'x'.repeat(62)}…` })
  })

  test('shows nothing of the events of erased users', async () => {
    await using w = await world()
    await store(w, [{ name: 'a', data: { secret: 'kim' }, user: 5 }])
    await w.db.run(sql`delete from events where project_id = ${w.projectId} and user_id = 5`)
    expect(await only(w)).toMatchObject({ name: 'a', count: 1, attributes: [] })
  })

  test('is sorted and paged by name, count and the last time, over all partitions', async () => {
    await using w = await world()
    const other = await w.other()
    await inTx(other.ctx, (ctx) => countEvents(ctx, [{ userId: 1 as UserId, event: { name: 'theirs', createdAt: w.clock.now() } }], 0))
    await store(w, [{ name: 'b' }, { name: 'b' }, { name: 'c', at: '2026-11-20' }])
    await store(
      w,
      [
        { name: 'a', at: '2026-11-22' },
        { name: 'c', at: '2026-11-20' },
        { name: 'c', at: '2026-11-19' },
      ],
      1,
    )
    const names = async (query: string) => (await w.get(`${SCHEMA}?${query}`)).body.results.map(({ name }: { name: string }) => name)
    expect(await names('')).toEqual(['a', 'b', 'c'])
    expect(await names('sort=count&direction=desc')).toEqual(['c', 'b', 'a'])
    expect(await names('sort=last_seen')).toEqual(['c', 'a', 'b'])
    const first = (await w.get(`${SCHEMA}?sort=count&limit=2`)).body
    expect(await names(`cursor=${first.nextCursor}`)).toEqual(['c'])
    expect((await w.get(`${SCHEMA}?limit=0`)).body.results).toEqual([])
  })
})
