import fc from 'fast-check'
import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { inTx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import { Count } from '../../lib/shapes.ts'
import { areMostFrequent, countFrequentNames, totalNames } from './frequent-names.ts'
import { countEvents } from './stats.ts'

type Counted = { name: string; day: string; events: number }

const nameOf = (index: number) => `name ${String(index).padStart(5, '0')}`

const count = (w: Pick<World, 'ctx'>, counted: Counted[], partition = 0) =>
  inTx(w.ctx, (ctx) => {
    const event = ({ name, day }: Counted) => ({ userId: 1 as UserId, event: { name, createdAt: new Date(day) } })
    const events = counted.flatMap((one) => Array.from({ length: one.events }, () => event(one)))
    return countEvents(ctx, events, partition)
  })

async function totalAll(w: World): Promise<number> {
  let rows = 0
  for (let done = await totalNames(w.ctx); done > 0; done = await totalNames(w.ctx)) rows += done
  return rows
}

const frequent = async (w: World, from: string, to: string, most: number) => {
  const rows = await countFrequentNames(w.ctx, { from, to }, most)
  return [...Map.groupBy(rows, ({ name }) => name)].map(([name, of]) => ({ name, events: of.reduce((sum, { count }) => sum + count, 0) }))
}

const totals = (w: World) => w.db.value(Count, sql`select count(*) from event_name_totals where project_id = ${w.ctx.projectId}`)

const many = (day: string, events: (index: number) => number, length = 700): Counted[] =>
  Array.from({ length }, (_, index) => ({ name: nameOf(index), day, events: events(index) }))

describe('the most frequent names', () => {
  test.each<[string, [name: string, name_total: number][], total: number, most: number, boolean]>([
    [
      'others have less',
      [
        ['a', 9],
        ['b', 5],
      ],
      4,
      2,
      true,
    ],
    [
      'others have at most the same',
      [
        ['a', 9],
        ['b', 5],
      ],
      5,
      2,
      true,
    ],
    [
      'one may have more',
      [
        ['a', 9],
        ['b', 5],
      ],
      6,
      2,
      false,
    ],
    [
      'fewer than asked for',
      [
        ['a', 9],
        ['b', 5],
      ],
      4,
      3,
      false,
    ],
    [
      'a name on two days is one',
      [
        ['a', 9],
        ['a', 9],
      ],
      4,
      2,
      false,
    ],
  ])('%s', (_, rows, total, most, expected) => {
    expect(
      areMostFrequent(
        rows.map(([name, name_total]) => ({ name, name_total })),
        total,
        most,
      ),
    ).toBe(expected)
  })

  test('are those of all names, whatever the totals have of them', async () => {
    await using w = await world()
    const batch = fc.record({
      day: fc.constantFrom('2026-11-01', '2026-11-20', '2026-11-23'),
      partition: fc.integer({ min: 0, max: 2 }),
      names: fc.constantFrom(30, 600),
      factor: fc.integer({ min: 1, max: 40 }),
      isTotalled: fc.boolean(),
    })
    const ranges = [
      ['2026-11-01', '2026-11-23'],
      ['2026-11-20', '2026-11-20'],
      ['2026-11-21', '2026-11-23'],
    ] as const
    await fc.assert(
      fc.asyncProperty(fc.array(batch, { minLength: 1, maxLength: 4 }), async (batches) => {
        const other = await w.other()
        const own = { ...w, ctx: other.ctx }
        const all: Counted[] = []
        for (const { day, partition, names, factor, isTotalled } of batches) {
          const counted = many(day, (index) => ((index * factor) % 97 === 1 ? 2 + (index % 20) : 1), names)
          await count(own, counted, partition)
          all.push(...counted)
          if (isTotalled) await totalAll(own)
        }
        for (const [from, to] of ranges) {
          const sums = new Map<string, number>()
          for (const { name, day, events } of all) if (day >= from && day <= to) sums.set(name, (sums.get(name) ?? 0) + events)
          const most = [...sums.values()].sort((a, b) => b - a).slice(0, 10)
          const found = await frequent(own, from, to, 10)
          expect(found.map(({ events }) => events)).toEqual(most)
          expect(found.map(({ name }) => sums.get(name))).toEqual(most)
        }
      }),
      { numRuns: 4, seed: 1 },
    )
  })

  test('are among names that no total has yet, however many there are', async () => {
    await using w = await world()
    await count(w, [...many('2026-11-20', () => 1), { name: 'last', day: '2026-11-20', events: 2 }])
    expect(await frequent(w, '2026-11-01', '2026-11-23', 1)).toEqual([{ name: 'last', events: 2 }])
  })

  test('are among names with lower totals when those with higher ones had their events on other days', async () => {
    await using w = await world()
    await count(w, [
      ...many('2026-11-01', () => 3),
      { name: 'recent', day: '2026-11-20', events: 2 },
      { name: nameOf(0), day: '2026-11-20', events: 1 },
    ])
    await totalAll(w)
    expect(await frequent(w, '2026-11-20', '2026-11-20', 1)).toEqual([{ name: 'recent', events: 2 }])
  })

  test.each([100, 700])('are found among %i names without a sum of every name in the range', async (names) => {
    await using w = await world()
    await count(
      w,
      many('2026-11-20', (index) => (index < 20 ? 5 : 1), names),
    )
    await totalAll(w)
    await count(w, [{ name: 'new', day: '2026-11-20', events: 6 }])
    await w.db.run(
      sql`insert into event_days (project_id, name, day, partition, events) values (${w.projectId}, 'unread', '2026-11-20', 0, 1000)`,
    )
    expect((await frequent(w, '2026-11-01', '2026-11-23', 20)).map(({ events }) => events)).toEqual([
      6,
      ...Array.from({ length: 19 }, () => 5),
    ])
  })
})

describe('totals of names', () => {
  test('are kept for projects with many names only', async () => {
    await using w = await world()
    await count(
      w,
      many('2026-11-20', () => 1, 120),
    )
    expect([await totalAll(w), await totals(w)]).toEqual([0, 0])
    await count(
      w,
      many('2026-11-20', () => 1, 700),
      1,
    )
    expect([await totalAll(w), await totals(w)]).toEqual([820, 700])
    expect(await totalAll(w)).toBe(0)
  })

  test('take each event once, and leave rows that a batch is writing', async () => {
    await using w = await world()
    await count(
      w,
      many('2026-11-20', () => 1),
    )
    await inTx(w.ctx, async (ctx) => {
      await countEvents(ctx, [{ userId: 1 as UserId, event: { name: nameOf(0), createdAt: new Date('2026-11-20') } }], 0)
      expect(await totalNames(w.ctx)).toBe(699)
    })
    await count(
      w,
      many('2026-11-21', () => 2),
    )
    await Promise.all([totalAll(w), totalAll(w)])
    const sums = sql`select sum(events)::bigint from event_name_totals where project_id = ${w.ctx.projectId}`
    expect(await w.db.value(Count, sums)).toBe(700 * 3 + 1)
  })

  test.each<[number, string[]]>([
    [50, []],
    [51, ['events.total-names']],
  ])('after a batch with %i names, wakes %j', async (names, expected) => {
    await using w = await world()
    const woken: string[] = []
    await count(
      { ctx: { ...w.ctx, wake: ({ name }) => void woken.push(name) } },
      many('2026-11-20', () => 1, names),
    )
    expect(woken).toEqual(expected)
  })

  test('counting a name again writes no index', async () => {
    await using w = await world()
    await count(w, [{ name: 'a', day: '2026-11-20', events: 1 }])
    await inTx(w.ctx, async (ctx) => {
      // Of this connection since it last reported them.
      const Updates = Type.Object({ updates: Type.Integer(), hot: Type.Integer() })
      const statement = sql`select pg_stat_get_xact_tuples_updated(t) as updates, pg_stat_get_xact_tuples_hot_updated(t) as hot from (select 'event_names'::regclass as t) names`
      const before = await ctx.db.one(Updates, statement)
      await countEvents(ctx, [{ userId: 1 as UserId, event: { name: 'a', createdAt: new Date('2026-11-20') } }], 0)
      expect(await ctx.db.one(Updates, statement)).toEqual({ updates: before.updates + 1, hot: before.hot + 1 })
    })
  })
})
