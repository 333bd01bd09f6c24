import { expect, test } from 'vitest'
import { mapWithConcurrency } from './concurrency.ts'

test('results are in the order of the items, and no more calls run at a time than the limit', async () => {
  const waiting: (() => void)[] = []
  let running = 0
  let runningMax = 0
  const all = mapWithConcurrency([1, 2, 3, 4, 5], 2, async (item) => {
    runningMax = Math.max(runningMax, ++running)
    await new Promise<void>((resolve) => waiting.push(resolve))
    running--
    return item * 10
  })
  // The call that started last finishes first.
  while (waiting.length > 0) {
    waiting.pop()?.()
    await new Promise(setImmediate)
  }
  expect(await all).toEqual([10, 20, 30, 40, 50])
  expect(runningMax).toBe(2)
})

test('an error is thrown after the other calls have finished', async () => {
  const done: number[] = []
  const work = mapWithConcurrency([1, 2, 3], 1, async (item) => {
    if (item === 1) throw new Error('first')
    done.push(item)
  })
  await expect(work).rejects.toThrow('first')
  expect(done).toEqual([2, 3])
})

test('nothing runs when there are no items', async () =>
  expect(await mapWithConcurrency([], 3, () => Promise.reject(new Error('never')))).toEqual([]))
