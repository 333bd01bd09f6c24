import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type World, world } from '../../../test/world.ts'
import { availableFrom, postponeUses, returnUses, type SharedRate, takeUses } from './shared-rate.ts'

let buckets = 0
const bucketOf = (w: World, rate: SharedRate) => {
  const name = `test:${++buckets}`
  return {
    take: (wanted: number) => takeUses(w.ctx, name, rate, wanted),
    giveBack: (uses: number, grantedAtMs: number) => returnUses(w.ctx, name, rate, { uses, grantedAtMs }),
    postpone: (uses: number, grantedAtMs: number, atMs: number) => postponeUses(w.ctx, name, rate, { uses, grantedAtMs, atMs }),
  }
}

describe('a rate', () => {
  test('is exceeded in no interval, wherever it begins', async () => {
    await using w = await world()
    const step = fc.record({ afterMs: fc.integer({ min: 0, max: 700 }), wanted: fc.integer({ min: 1, max: 30 }) })
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 25 }), fc.array(step, { minLength: 5, maxLength: 25 }), async (limit, steps) => {
        const rate = { limit, intervalMs: 1000 }
        const { take } = bucketOf(w, rate)
        const uses: number[] = []
        for (const { afterMs, wanted } of steps) {
          w.advance(afterMs)
          const { granted, atMs } = await take(wanted)
          uses.push(...Array.from({ length: granted }, () => atMs))
        }
        for (const from of uses) expect(uses.filter((at) => at >= from && at < from + 1000).length).toBeLessThanOrEqual(limit)
      }),
      { numRuns: 15 },
    )
  })

  test('is reached: what was used is available after an interval', async () => {
    await using w = await world()
    const { take } = bucketOf(w, { limit: 20, intervalMs: 1000 })
    const start = w.clock.now().getTime()
    expect(await take(12)).toMatchObject({ granted: 12, availableAtMs: [] })
    w.advance(400)
    const second = await take(12)
    expect(second.granted).toBe(8)
    expect(second.availableAtMs).toEqual(Array.from({ length: 4 }, () => start + 1000))
    w.advance(599)
    expect((await take(12)).granted).toBe(0)
    w.advance(1)
    expect((await take(20)).granted).toBe(12)
    w.advance(400)
    expect((await take(20)).granted).toBe(8)
  })

  test('has what is given back at once, and what was used after an interval', async () => {
    await using w = await world()
    const { take, giveBack } = bucketOf(w, { limit: 5, intervalMs: 1000 })
    const { atMs } = await take(4)
    await giveBack(3, atMs)
    expect((await take(9)).granted).toBe(4)
    w.advance(999)
    expect((await take(1)).granted).toBe(0)
    w.advance(1)
    expect((await take(9)).granted).toBe(5)
    await giveBack(5, w.clock.now().getTime())
    expect((await take(9)).granted).toBe(5)
  })

  test('counts from a later time what was made later', async () => {
    await using w = await world()
    const { take, postpone } = bucketOf(w, { limit: 5, intervalMs: 1000 })
    const { atMs } = await take(5)
    await postpone(5, atMs, atMs + 300)
    w.advance(1000)
    expect((await take(5)).granted).toBe(0)
    w.advance(300)
    expect((await take(5)).granted).toBe(5)
  })

  test('grants again soon after the clock was set back', async () => {
    await using w = await world()
    const { take } = bucketOf(w, { limit: 5, intervalMs: 1000 })
    const start = w.clock.now()
    w.advance('1 day')
    expect((await take(5)).granted).toBe(5)
    w.clock.set(start)
    expect((await take(5)).granted).toBe(5)
    expect((await take(5)).granted).toBe(0)
    w.advance(1000)
    expect((await take(5)).granted).toBe(5)
  })

  test('that was lowered grants nothing until there is room', async () => {
    await using w = await world()
    const name = `test:${++buckets}`
    await takeUses(w.ctx, name, { limit: 10, intervalMs: 1000 }, 10)
    const lowered = await takeUses(w.ctx, name, { limit: 3, intervalMs: 1000 }, 2)
    expect(lowered.granted).toBe(0)
    expect(lowered.availableAtMs).toEqual([lowered.atMs + 1000, lowered.atMs + 1000])
  })
})

test.each([
  ['nothing that is wanted', [], 0, []],
  ['further rounds follow after an interval each', [[0, 2]], 5, [1000, 1000, 2000, 2000, 3000]],
  [
    'single uses are waited for together',
    [
      [0, 1],
      [100, 1],
      [200, 1],
      [300, 1],
      [400, 1],
      [500, 1],
      [600, 1],
      [700, 1],
    ],
    3,
    [1100, 1100, 1200],
  ],
] as [string, [number, number][], number, number[]][])('available: %s', (_, grants, wanted, expected) => {
  const limit = grants.reduce((sum, [, uses]) => sum + uses, 0)
  expect(availableFrom(grants, { limit, intervalMs: 1000 }, wanted)).toEqual(expected)
})
