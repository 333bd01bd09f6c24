import { expect, test } from 'vitest'
import { createFairQueue } from './fair-queue.ts'

const queueOf = (...jobs: string[]) => {
  const queue = createFairQueue<string, string>()
  for (const job of jobs) queue.push(job[0] as string, job)
  return queue
}

const take = (queue: ReturnType<typeof queueOf>) => queue.take()?.job

test('projects take turns, whatever each has waiting', () => {
  const queue = queueOf('a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1')
  const taken: unknown[] = []
  for (let next = queue.take(); next; next = queue.take()) {
    taken.push(next.job)
    queue.done(next.key)
  }
  expect(taken).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'])
  expect(queue.size).toBe(0)
})

test('a project that has work running comes after one that has none', () => {
  const queue = queueOf('a1', 'a2', 'a3')
  expect([take(queue), take(queue)]).toEqual(['a1', 'a2'])
  queue.push('b', 'b1')
  queue.push('b', 'b2')
  expect([take(queue), take(queue), take(queue)]).toEqual(['b1', 'b2', 'a3'])
  expect(take(queue)).toBeUndefined()
})

test('a project counts what waits, and is forgotten with its last job', () => {
  const queue = queueOf('a1', 'a2')
  expect([queue.waitingOf('a'), queue.waitingOf('b')]).toEqual([2, 0])
  take(queue)
  queue.done('a')
  expect(queue.waitingOf('a')).toBe(1)
})

test('a job that was put back is the next one, and its project has no work running', () => {
  const queue = queueOf('a1', 'b1', 'c1')
  expect([take(queue), take(queue)]).toEqual(['a1', 'b1'])
  queue.untake('b', 'b1')
  queue.push('d', 'd1')
  expect(queue.size).toBe(3)
  expect([take(queue), take(queue), take(queue)]).toEqual(['b1', 'c1', 'd1'])
})
