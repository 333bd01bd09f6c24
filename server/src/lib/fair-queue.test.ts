import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ratioOf } from '../../test/cpu-time.ts'
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

test('whatever is pushed, taken and done, the next job is that of the key with the least at work that was served longest ago', () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('push' as const), key: fc.nat(5) }),
    fc.record({ do: fc.constantFrom('take' as const, 'done' as const, 'untake' as const), key: fc.nat(20) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.constantFrom(1, 2, Number.POSITIVE_INFINITY), (steps, perKey) => {
      const queue = createFairQueue<number, number>(perKey)
      const lines = new Map<number, { waiting: number[]; running: number; servedAt: number }>()
      const begun: { key: number; job: number }[] = []
      let [jobs, served] = [0, 0]
      for (const { do: what, key } of steps) {
        if (what === 'push') {
          const line = lines.get(key) ?? { waiting: [], running: 0, servedAt: 0 }
          lines.set(key, line)
          line.waiting.push(++jobs)
          queue.push(key, jobs)
        } else if (what === 'take') {
          const ready = [...lines].filter(([, { waiting, running }]) => waiting.length > 0 && running < perKey)
          const [first] = ready.sort(([, a], [, b]) => a.running - b.running || a.servedAt - b.servedAt)
          const taken = queue.take()
          expect(taken).toEqual(first && { key: first[0], job: first[1].waiting[0] })
          if (!first || !taken) continue
          first[1].waiting.shift()
          first[1].running++
          first[1].servedAt = ++served
          begun.push(taken)
        } else {
          const [one] = begun.splice(key % Math.max(1, begun.length), 1)
          const line = one && lines.get(one.key)
          if (!one || !line) continue
          line.running--
          if (what === 'untake') {
            line.waiting.unshift(one.job)
            line.servedAt = 0
            queue.untake(one.key, one.job)
          } else {
            if (line.running === 0 && line.waiting.length === 0) lines.delete(one.key)
            queue.done(one.key)
          }
        }
        expect(queue.size).toBe([...lines.values()].reduce((sum, { waiting }) => sum + waiting.length, 0))
      }
    }),
  )
})

test('twice as many keys take about twice as long, not four times', () => {
  const serve = (text: string) => {
    const queue = createFairQueue<number, number>()
    for (let key = 0; key < text.length / 50; key++) queue.push(key, key)
    for (let next = queue.take(); next; next = queue.take()) queue.done(next.key)
  }
  expect(ratioOf(serve, (length) => ' '.repeat(length))).toBeLessThan(3)
})
