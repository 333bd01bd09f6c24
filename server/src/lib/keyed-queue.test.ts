import { expect, test } from 'vitest'
import { createKeyedQueue, type KeyedQueue } from './keyed-queue.ts'

/** Work that notes when it starts, and ends when told. */
function notebook(queue: KeyedQueue) {
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const take = (key: number, name: string) =>
    queue.take(key, () => {
      started.push(name)
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)))
    })
  const end = async (name: string) => {
    ends.get(name)?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { started, take, end }
}

test('many of one key do not delay the first of another', async () => {
  const { started, take, end } = notebook(createKeyedQueue({ atOnce: 2, waitingMax: 9 }))
  for (const name of ['a1', 'a2', 'a3', 'a4']) take(1, name)
  take(2, 'b1')
  take(2, 'b2')
  take(3, 'c1')
  await end('none')
  expect(started).toEqual(['a1', 'b1'])
  await end('a1')
  expect(started).toEqual(['a1', 'b1', 'c1'])
  await end('c1')
  await end('a2')
  expect(started).toEqual(['a1', 'b1', 'c1', 'a2', 'a3'])
  await end('b1')
  expect(started.at(-1)).toBe('b2')
})

test('too many of one key are refused, and those of others are not', async () => {
  const { started, take, end } = notebook(createKeyedQueue({ atOnce: 1, waitingMax: 2 }))
  const first = take(1, 'a1')
  take(1, 'a2')
  take(1, 'a3')
  expect(await take(1, 'a4')).toBe('full')
  take(2, 'b1')
  await end('a1')
  expect(await first).toBe('a1')
  expect(started).toEqual(['a1', 'b1'])
  await end('b1')
  expect(started).toEqual(['a1', 'b1', 'a2'])
})

test('work that fails gives its place back', async () => {
  const queue = createKeyedQueue({ atOnce: 1, waitingMax: 1 })
  await expect(queue.take(1, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await queue.take(1, async () => 'done')).toBe('done')
})
