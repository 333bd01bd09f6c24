import { expect, test, vi } from 'vitest'
import { SOON } from '../../../test/wait.ts'
import { world } from '../../../test/world.ts'
import type { Clock } from '../../lib/clock.ts'
import { HOUR_MS } from '../../lib/times.ts'
import type { Ctx } from '../runtime/ctx.ts'
import { failedPiecesOf } from './failed-pieces.ts'
import { job, startJobs } from './jobs.ts'

const hourly = () => HOUR_MS

test('a job that found work runs again at once, and a job that found none waits for its idle time', async () => {
  await using w = await world()
  const work = [3, 2, 1]
  let runs = 0
  const counting = job({ name: 'counting', idleMs: HOUR_MS, run: async () => work[runs++] ?? 0 })
  await using _ = startJobs(w.ctx, [counting], hourly)
  await vi.waitFor(() => expect(runs).toBe(4), SOON)
  w.advance(HOUR_MS - 1)
  await Promise.resolve()
  expect(runs).toBe(4)
  w.advance(1)
  await vi.waitFor(() => expect(runs).toBe(5), SOON)
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
  await using jobs = startJobs(w.ctx, [slow], hourly)
  jobs.wake({ name: 'slow' })
  looking.resolve()
  await vi.waitFor(() => expect(runs).toBe(2), SOON)
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
  await using _ = startJobs(w.ctx, [broken, sound], hourly)
  await vi.waitFor(() => expect(others).toBe(6), SOON)
  expect(failures).toBe(1)
  w.advance('1 second')
  await vi.waitFor(() => expect(failures).toBe(2), SOON)
})

test('after each failure in a row the wait is twice as long, up to 15 seconds, and a success ends the row', async () => {
  await using w = await world()
  const script = [...Array.from({ length: 8 }, () => 'failed'), 'idle', 'failed', 'failed', 'done', 'failed']
  const waits: number[] = []
  const run = async () => {
    const next = script.shift()
    if (next === 'failed') throw new Error('no')
    return next === 'done' ? 1 : 0
  }
  // It sleeps for no time until the script is over, and then for good.
  const sleep: Clock['sleep'] = async (ms, signal) => {
    if (script.length === 0) return w.clock.sleep(HOUR_MS, signal)
    waits.push(ms)
  }
  await using _ = startJobs({ ...w.ctx, clock: { ...w.clock, sleep } }, [job({ name: 'failing', idleMs: 7, run })], hourly)
  await vi.waitFor(() => expect(script).toEqual([]), SOON)
  expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000, 7, 500, 1000])
})

test('a run is measured if it did work or failed, and not if it found none', async () => {
  await using w = await world()
  const script = [0, 3, 0, 'failed' as const, 1]
  const measured: [string, string][] = []
  const metrics = { ...w.ctx.metrics, jobRun: (name: string, result: string) => void measured.push([name, result]) }
  const run = async () => {
    const next = script.shift() ?? 0
    if (next === 'failed') throw new Error('no')
    return next
  }
  const sleep: Clock['sleep'] = async (_, signal) => (script.length === 0 ? w.clock.sleep(HOUR_MS, signal) : undefined)
  await using _ = startJobs({ ...w.ctx, metrics, clock: { ...w.clock, sleep } }, [job({ name: 'measured', idleMs: 1, run })], hourly)
  await vi.waitFor(() => expect(measured).toHaveLength(3), SOON)
  expect(measured).toEqual([
    ['measured', 'done'],
    ['measured', 'failed'],
    ['measured', 'done'],
  ])
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
  const jobs = startJobs(w.ctx, [long], hourly)
  await began.promise
  const stopped = jobs[Symbol.asyncDispose]()
  running.resolve()
  await stopped
  expect(finished).toBe(true)
})

test('a job sleeps until its next work is due, and looks again after its retry time while that cannot be done', async () => {
  await using w = await world()
  const dueAt = new Date(w.clock.now().getTime() + 5000)
  let runs = 0
  const looking = async () => {
    runs++
    return 0
  }
  const timed = job({ name: 'timed', nextAt: async () => dueAt, retryMs: 100, run: looking })
  await using jobs = startJobs(w.ctx, [timed], hourly)
  const slept = () => vi.waitFor(() => expect(jobs.isBusy(timed)).toBe(false))
  await slept()
  w.advance(4999)
  await slept()
  expect(runs).toBe(1)
  w.advance(1)
  await vi.waitFor(() => expect(runs).toBe(2))
  await slept()
  w.advance(99)
  await slept()
  expect(runs).toBe(2)
  w.advance(1)
  await vi.waitFor(() => expect(runs).toBe(3))
})

test('a job that nothing wakes looks for work when the polling interval is over', async () => {
  await using w = await world()
  let runs = 0
  const looking = async () => {
    runs++
    return 0
  }
  const unwoken = job({ name: 'unwoken', run: looking })
  await using jobs = startJobs(w.ctx, [unwoken], () => 7000)
  await vi.waitFor(() => expect(jobs.isBusy(unwoken)).toBe(false))
  w.advance(6999)
  await Promise.resolve()
  expect(runs).toBe(1)
  w.advance(1)
  await vi.waitFor(() => expect(runs).toBe(2))
})

test('wake-ups within the gathering time share a run', async () => {
  await using w = await world()
  let runs = 0
  const looking = async () => {
    runs++
    return 0
  }
  const gathering = job({ name: 'gathering', gatherMs: 100, run: looking })
  await using jobs = startJobs(w.ctx, [gathering], hourly)
  await vi.waitFor(() => expect(jobs.isBusy(gathering)).toBe(false))
  jobs.wake(gathering)
  w.advance(99)
  jobs.wake(gathering)
  await Promise.resolve()
  expect(runs).toBe(1)
  w.advance(1)
  await vi.waitFor(() => expect(runs).toBe(2))
})

test.each([{}, { gatherMs: 100 }])('a job that is woken after the clock was set back runs all the same, with %j', async (gathering) => {
  await using w = await world()
  let runs = 0
  const looking = async () => {
    runs++
    return 0
  }
  const sleeping = job({ name: 'sleeping', ...gathering, run: looking })
  await using jobs = startJobs(w.ctx, [sleeping], hourly)
  await vi.waitFor(() => expect(jobs.isBusy(sleeping)).toBe(false))
  w.clock.set(new Date(w.clock.now().getTime() - HOUR_MS))
  jobs.wake(sleeping)
  await vi.waitFor(() => {
    w.advance(100)
    expect(runs).toBe(2)
  }, SOON)
})

test('a job of which a piece failed tries that piece again when it is due, although it looks for work once an hour only', async () => {
  await using w = await world({ own: true })
  const [asleep, tried] = [vi.fn(), vi.fn()]
  const sleep: Clock['sleep'] = (ms, signal) => {
    asleep()
    return w.clock.sleep(ms, signal)
  }
  const run = async (ctx: Ctx) => {
    // A part of a job has failures of its own, under its name.
    const failed = failedPiecesOf(ctx, { name: 'tidying.mail' })
    if (failed.leftOut().includes(7)) return 0
    tried()
    failed.fail([7], new Error('no'), performance.now(), {})
    return 0
  }
  const tidying = job({ name: 'tidying', idleMs: HOUR_MS, run })
  await using _ = startJobs({ ...w.ctx, clock: { ...w.clock, sleep } }, [tidying], hourly)
  for (const times of [1, 2, 3]) {
    await vi.waitFor(() => expect(asleep).toHaveBeenCalledTimes(times), SOON)
    expect(tried).toHaveBeenCalledTimes(times)
    w.advance('15 seconds')
  }
})
