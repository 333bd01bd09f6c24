import { beforeEach, describe, expect, test } from 'vitest'
import { createTestClock, type TestClock } from '../../../test/test-clock.ts'
import { cached } from './cache.ts'
import type { Ctx } from './ctx.ts'

const FOR_MS = 5000

let clock: TestClock
let ctx: Ctx
let loads: PromiseWithResolvers<string>[]
const open = () =>
  cached<string, string>(10, FOR_MS, () => {
    const load = Promise.withResolvers<string>()
    loads.push(load)
    return load.promise
  })

beforeEach(() => {
  clock = createTestClock()
  loads = []
  ctx = { clock, db: {} } as unknown as Ctx
})

test('many who ask for an entry at the same time read it once, and again when it is too old', async () => {
  const cache = open()
  const first = Promise.all([cache.get(ctx, 'a'), cache.get(ctx, 'a')])
  loads[0]?.resolve('one')
  expect(await first).toEqual(['one', 'one'])
  expect(await cache.get(ctx, 'a')).toBe('one')
  expect(loads).toHaveLength(1)
  clock.advance(FOR_MS)
  const second = Promise.all([cache.get(ctx, 'a'), cache.get(ctx, 'a')])
  loads[1]?.resolve('two')
  expect(await second).toEqual(['two', 'two'])
  expect(loads).toHaveLength(2)
})

describe('while the database is away', () => {
  const AWAY_MS = 60_000
  const away = () => Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
  const openKept = () => {
    const cache = cached<string, string | undefined>(
      10,
      FOR_MS,
      () => {
        const load = Promise.withResolvers<string>()
        loads.push(load)
        return load.promise
      },
      { whileAwayMs: () => AWAY_MS },
    )
    const load = async (outcome: 'fails' | 'is gone' | 'is broken') => {
      const asked = cache.get(ctx, 'a')
      if (outcome === 'is gone') loads.at(-1)?.resolve(undefined as never)
      else loads.at(-1)?.reject(outcome === 'fails' ? away() : new Error('a bug'))
      return asked
    }
    return { cache, load }
  }

  test('an entry is used for a limited time, and read again as soon as that is possible', async () => {
    const { cache, load } = openKept()
    const first = cache.get(ctx, 'a')
    loads[0]?.resolve('one')
    await first
    clock.advance(FOR_MS)
    expect(await load('fails')).toBe('one')
    clock.advance(AWAY_MS - FOR_MS)
    await expect(load('fails')).rejects.toThrow('refused')
    const back = cache.get(ctx, 'a')
    loads.at(-1)?.resolve('two')
    expect(await back).toBe('two')
  })

  test('a database that does not answer counts as away after a second, and another failure does not', async () => {
    const { cache, load } = openKept()
    const first = cache.get(ctx, 'a')
    loads[0]?.resolve('one')
    await first
    clock.advance(FOR_MS)
    await expect(load('is broken')).rejects.toThrow('a bug')
    const silent = cache.get(ctx, 'a')
    clock.advance(1000)
    expect(await silent).toBe('one')
  })

  test('an entry that was found to be gone is not used', async () => {
    const { cache, load } = openKept()
    const first = cache.get(ctx, 'a')
    loads[0]?.resolve('one')
    await first
    clock.advance(FOR_MS)
    expect(await load('is gone')).toBeUndefined()
    await expect(load('fails')).rejects.toThrow('refused')
  })
})

test('what is read in a transaction is not shared', async () => {
  const cache = open()
  const both = Promise.all([cache.get({ ...ctx, db: {} as Ctx['db'] }, 'a'), cache.get(ctx, 'a')])
  loads[0]?.resolve('not committed')
  loads[1]?.resolve('committed')
  expect(await both).toEqual(['not committed', 'committed'])
})

test('what was read before a change is neither kept nor shared', async () => {
  const cache = open()
  const before = cache.get(ctx, 'a')
  cache.forget()
  const after = cache.get(ctx, 'a')
  loads[1]?.resolve('new')
  loads[0]?.resolve('old')
  expect(await Promise.all([before, after])).toEqual(['old', 'new'])
  expect(await cache.get(ctx, 'a')).toBe('new')
})

test('a read that failed is not kept', async () => {
  const cache = open()
  const failed = Promise.allSettled([cache.get(ctx, 'a'), cache.get(ctx, 'a')])
  loads[0]?.reject(new Error('away'))
  expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  const again = cache.get(ctx, 'a')
  loads[1]?.resolve('one')
  expect(await again).toBe('one')
})

describe('with a version', () => {
  test('entries that are old are good while it stays the same, which is read once for all of them', async () => {
    const [reads, versions]: [string[], number[]] = [[], [1, 1, 2]]
    const cache = cached<string, string>(10, FOR_MS, async (_, key) => `${key}${reads.push(key)}`, {
      versionOf: async () => versions.shift() ?? 0,
    })
    const both = () => Promise.all([cache.get(ctx, 'a'), cache.get(ctx, 'b')])
    expect(await both()).toEqual(['a1', 'b2'])
    clock.advance(FOR_MS)
    expect(await both()).toEqual(['a1', 'b2'])
    expect([reads, versions]).toEqual([['a', 'b'], [2]])
    clock.advance(FOR_MS)
    expect(await both()).toEqual(['a3', 'b4'])
    expect(versions).toEqual([])
  })

  test('an entry that was read between two changes is read again after the second', async () => {
    let [version, value] = [1, 'one']
    const cache = cached<string, string>(10, FOR_MS, async () => value, { versionOf: async () => version })
    await cache.get(ctx, 'other')
    clock.advance(FOR_MS - 1)
    ;[version, value] = [2, 'two']
    expect(await cache.get(ctx, 'a')).toBe('two')
    ;[version, value] = [3, 'three']
    clock.advance(FOR_MS - 1)
    expect(await cache.get(ctx, 'a')).toBe('two')
    clock.advance(1)
    expect(await cache.get(ctx, 'a')).toBe('three')
  })

  test('a version that cannot be read is asked for again', async () => {
    const versions = [Promise.reject(new Error('away')), Promise.resolve(1)]
    const cache = cached<string, string>(10, FOR_MS, async () => 'one', { versionOf: () => versions.shift() ?? Promise.resolve(0) })
    await expect(cache.get(ctx, 'a')).rejects.toThrow('away')
    expect(await cache.get(ctx, 'a')).toBe('one')
  })
})
