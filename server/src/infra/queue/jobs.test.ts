import { expect, test, vi } from 'vitest'
import { world } from '../../../test/world.ts'
import { HOUR_MS } from '../../lib/times.ts'
import { job, startJobs } from './jobs.ts'

test('a job that found work runs again at once, and a job that found none waits for its idle time', async () => {
  await using w = await world()
  const work = [3, 2, 1]
  let runs = 0
  const counting = job({ name: 'counting', idleMs: HOUR_MS, run: async () => work[runs++] ?? 0 })
  await using _ = startJobs(w.ctx, [counting])
  await vi.waitFor(() => expect(runs).toBe(4))
  w.advance(HOUR_MS - 1)
  await Promise.resolve()
  expect(runs).toBe(4)
  w.advance(1)
  await vi.waitFor(() => expect(runs).toBe(5))
})

test('a wake-up during a run starts another run at once', async () => {
  await using w = await world()
  let runs = 0
  const looking = Promise.withResolvers<void>()
  const slow = job({
    name: 'slow',
    idleMs: HOUR_MS,
    run: async () => {
      runs++
      if (runs === 1) await looking.promise
      return 0
    },
  })
  await using jobs = startJobs(w.ctx, [slow])
  jobs.wake({ name: 'slow' })
  looking.resolve()
  await vi.waitFor(() => expect(runs).toBe(2))
})

test('a job that fails is retried later, and does not delay other jobs', async () => {
  await using w = await world()
  let failures = 0
  let others = 0
  const broken = job({
    name: 'broken',
    idleMs: 1,
    run: async () => {
      failures++
      throw new Error('no')
    },
  })
  const sound = job({ name: 'sound', idleMs: HOUR_MS, run: async () => (others++ < 5 ? 1 : 0) })
  await using _ = startJobs(w.ctx, [broken, sound])
  await vi.waitFor(() => expect(others).toBe(6))
  expect(failures).toBe(1)
  w.advance('1 second')
  await vi.waitFor(() => expect(failures).toBe(2))
})

test('stopping waits for the batch that is running', async () => {
  await using w = await world()
  const running = Promise.withResolvers<void>()
  const began = Promise.withResolvers<void>()
  let finished = false
  const long = job({
    name: 'long',
    idleMs: 1,
    run: async () => {
      began.resolve()
      await running.promise
      finished = true
      return 0
    },
  })
  const jobs = startJobs(w.ctx, [long])
  await began.promise
  const stopped = jobs[Symbol.asyncDispose]()
  running.resolve()
  await stopped
  expect(finished).toBe(true)
})
