import { expect, test } from 'vitest'
import { mapWithConcurrency } from './concurrency.ts'

test('answers come in the order of the items, and never more than so many are under way', async () => {
  const waiting: (() => void)[] = []
  let under = 0
  let most = 0
  const all = mapWithConcurrency([1, 2, 3, 4, 5], 2, async (item) => {
    most = Math.max(most, ++under)
    await new Promise<void>((resolve) => waiting.push(resolve))
    under--
    return item * 10
  })
  // The later one finishes first.
  while (waiting.length > 0) {
    waiting.pop()?.()
    await new Promise(setImmediate)
  }
  expect(await all).toEqual([10, 20, 30, 40, 50])
  expect(most).toBe(2)
})

test('after an error the rest is finished before it is thrown on', async () => {
  const done: number[] = []
  const work = mapWithConcurrency([1, 2, 3], 1, async (item) => {
    if (item === 1) throw new Error('first')
    done.push(item)
  })
  await expect(work).rejects.toThrow('first')
  expect(done).toEqual([2, 3])
})

test('no items take no work', async () => expect(await mapWithConcurrency([], 3, () => Promise.reject(new Error('never')))).toEqual([]))
