import { beforeEach, expect, test } from 'vitest'
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
