import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { inTx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import { Count } from '../../lib/shapes.ts'
import { totalNames } from './frequent-names.ts'
import { listMonths, saveEvents } from './queries.ts'
import { eventRemovalToFollow, noteRemovalFollowed, removeExpired } from './retention.ts'
import { createEventMonths } from './service.ts'
import { countEvents } from './stats.ts'

const Row = Type.Object({ name: Type.String(), partition: Type.String() })
const stored = async (w: World) =>
  (
    await w.db.many(
      Row,
      sql`select name, tableoid::regclass::text as partition from events where project_id = ${w.projectId} order by created_at, name`,
    )
  ).map(({ name, partition }) => `${name} in ${partition}`)

const store = (w: World, ...times: string[]) =>
  inTx(w.ctx, async (ctx) => {
    const events = times.map((time) => ({ userId: 1 as UserId, event: { name: time, createdAt: new Date(time) } }))
    await saveEvents(
      ctx,
      events.map(({ event: { name, createdAt } }) => ({
        project_id: w.projectId,
        user_id: 1 as UserId,
        name,
        data: {},
        created_at: createdAt,
        received_at: createdAt,
        source: 'api',
        journey_id: null,
        entrance_id: null,
      })),
    )
    await countEvents(ctx, events, 0)
  })

/** Runs the job until nothing is left to remove. Returns the removals after which lists have to be updated, and marks them as done. */
async function removeAll(w: World): Promise<string[]> {
  while ((await removeExpired(w.ctx)) > 0);
  const followed: string[] = []
  for (let before = await eventRemovalToFollow(w.ctx); before; before = await eventRemovalToFollow(w.ctx)) {
    followed.push(before.toISOString().slice(0, 10))
    await noteRemovalFollowed(w.ctx, before)
  }
  return followed
}

/** A world at a later time, with a partition for every month since November 2026. */
async function worldAt(time: string, months: number): Promise<World> {
  const w = await world({ env: { EVENT_RETENTION_MONTHS: String(months) } })
  w.clock.set(new Date(time))
  await createEventMonths(w.ctx)
  return w
}

describe('EVENT_RETENTION_MONTHS', () => {
  test('removes expired events from the partition for everything older', async () => {
    await using w = await worldAt('2026-11-24', 6)
    await store(w, '1999-01-01', '2026-04-30T23:59:59.999Z', '2026-05-01')
    expect(await removeAll(w)).toEqual(['2026-05-01'])
    expect(await stored(w)).toEqual(['2026-05-01 in events_past'])
  })

  test('if nothing is expired, lists need no update', async () => {
    await using w = await worldAt('2028-01-15', 24)
    await store(w, '2026-11-01')
    expect(await removeAll(w)).toEqual([])
    expect(await stored(w)).toHaveLength(1)
  })

  test('with 0, keeps everything', async () => {
    await using w = await worldAt('2028-03-15', 0)
    await store(w, '1999-01-01', '2026-11-01')
    expect(await removeAll(w)).toEqual([])
    expect(await stored(w)).toHaveLength(2)
  })

  test('removes expired months, everything older, and their counts', async () => {
    await using w = await worldAt('2028-02-15', 12)
    await store(w, '1999-01-01', '2026-12-31', '2027-01-31T23:59:59.999Z', '2027-02-01', '2028-02-15')
    expect(await removeAll(w)).toEqual(['2027-02-01'])
    expect(await stored(w)).toEqual(['2027-02-01 in events_2027_02', '2028-02-15 in events_2028_02'])
    expect([...(await listMonths(w.ctx))].filter((name) => name < 'events_2027_02')).toEqual([])
    const { body } = await w.get('/api/client/schema/events')
    expect(body.results.map(({ name }: { name: string }) => name)).toEqual(['2027-02-01', '2028-02-15'])
    expect((await w.get('/api/client/events/stats?since=2026-12-01&until=2027-02-02')).body.total).toBe(1)
    const days = sql`select count(*) from event_day_totals where project_id = ${w.projectId} and day < '2027-02-01'`
    expect(await w.db.value(Count, days)).toBe(0)
  })

  test('the count of a name is that of the events that are left', async () => {
    await using w = await worldAt('2028-05-15', 12)
    const event = (time: string) => ({ userId: 1 as UserId, event: { name: 'a', createdAt: new Date(time) } })
    await inTx(w.ctx, (ctx) => countEvents(ctx, [event('2027-04-30T23:59:59Z'), event('2027-06-01')], 0))
    await removeAll(w)
    expect((await w.get('/api/client/schema/events?q=a')).body.results).toMatchObject([
      { name: 'a', count: 1, first_seen: '2027-05-01T00:00:00.000Z', last_seen: '2027-06-01T00:00:00.000Z' },
    ])
  })

  test('the total of a name is gone with its last event', async () => {
    await using w = await worldAt('2028-06-15', 12)
    const named = (time: string, names: number) =>
      Array.from({ length: names }, (_, at) => ({ userId: 1 as UserId, event: { name: `name ${at}`, createdAt: new Date(time) } }))
    await inTx(w.ctx, (ctx) => countEvents(ctx, [...named('2027-05-31', 200), ...named('2028-06-10', 130)], 0))
    expect(await totalNames(w.ctx)).toBe(200)
    await removeAll(w)
    await totalNames(w.ctx)
    const Totals = Type.Object({ names: Type.Integer(), events: Type.Integer() })
    const totals = sql`select count(*) as names, sum(events)::bigint as events from event_name_totals where project_id = ${w.projectId}`
    expect(await w.db.one(Totals, totals)).toEqual({ names: 130, events: 130 })
  })

  test('an event with an expired time is stored, and removed with the next month', async () => {
    await using w = await worldAt('2029-01-15', 12)
    await removeAll(w)
    await store(w, '2027-12-31', '1970-01-01')
    expect(await removeAll(w)).toEqual([])
    expect(await stored(w)).toEqual(['1970-01-01 in events_past', '2027-12-31 in events_past'])
    w.clock.set(new Date('2029-02-01'))
    expect(await removeAll(w)).toEqual(['2028-02-01'])
    expect(await stored(w)).toEqual([])
  })

  test('lists have to be updated once after a removal, even if it is late', async () => {
    await using w = await worldAt('2030-02-15', 12)
    await store(w, '2028-12-31')
    while ((await removeExpired(w.ctx)) > 0);
    expect(await eventRemovalToFollow(w.ctx)).toEqual(new Date('2029-02-01'))
    expect(await removeExpired(w.ctx)).toBe(0)
    expect(await removeAll(w)).toEqual(['2029-02-01'])
    expect(await removeAll(w)).toEqual([])
  })

  test('neither waits for transactions that write events nor blocks others', async () => {
    await using w = await worldAt('2031-02-15', 12)
    await store(w, '2029-12-31')
    await w.db.transaction(async (db) => {
      await db.run(sql`lock table events in row exclusive mode`)
      expect(await removeExpired(w.ctx)).toBe(0)
      await store(w, '2031-02-01')
    })
    expect(await stored(w)).toHaveLength(2)
    await removeAll(w)
    expect(await stored(w)).toHaveLength(1)
  })
})
