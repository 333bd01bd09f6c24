import { Type } from 'typebox'
import { expect, test, vi } from 'vitest'
import { world } from '../../../test/world.ts'
import { HOUR_MS } from '../../lib/times.ts'
import { sql } from '../postgres/db.ts'
import { systemClock } from '../runtime/clock.ts'
import type { Ctx } from '../runtime/ctx.ts'
import type { Jobs } from './jobs.ts'
import { type OtherProcesses, openOtherProcesses } from './other-processes.ts'

const APPLY = { name: 'apply' }

/** Jobs that record their wake-ups. Those named are busy. */
function recordedJobs(...busy: string[]): Jobs & { woken: string[] } {
  const woken: string[] = []
  return {
    woken,
    wake: ({ name }) => void woken.push(name),
    wakeAll: () => void woken.push('all'),
    isRunning: () => true,
    isBusy: ({ name }) => busy.includes(name),
    [Symbol.asyncDispose]: async () => undefined,
  }
}

const CONNECTED_MS = 20_000

/** Processes on a database of their own, which count their notifications. */
async function processes() {
  const closing = new AsyncDisposableStack()
  const w = closing.use(await world({ own: true }))
  const open = async (jobs: Jobs | null, clock = systemClock): Promise<{ others: OtherProcesses; sent: () => number }> => {
    let sent = 0
    const run: Ctx['db']['run'] = (statement) => {
      sent++
      return w.db.run(statement)
    }
    const db = { ...w.db, run }
    const others = closing.use(openOtherProcesses({ ...w.ctx, clock, db }, w.databaseUrl, () => jobs, jobs !== null))
    await vi.waitFor(() => expect(others.pollMs()).toBe(CONNECTED_MS), 5000)
    // The first one said that the process is there.
    return { others, sent: () => sent - 1 }
  }
  return { w, open, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

test('a process without jobs wakes a job of another at once, and many wake-ups share few notifications', async () => {
  await using p = await processes()
  const jobs = recordedJobs()
  await p.open(jobs)
  const api = await p.open(null)
  jobs.woken.length = 0
  api.others.wake(APPLY)
  await vi.waitFor(() => expect(jobs.woken).toEqual(['apply']))
  for (let at = 0; at < 1000; at++) api.others.wake({ name: `job-${at % 3}` })
  await vi.waitFor(() => expect(new Set(jobs.woken)).toEqual(new Set(['apply', 'job-0', 'job-1', 'job-2'])))
  // The first wake-up of the burst goes out at once, and one notification follows with the others.
  expect(api.sent()).toBe(3)
})

test('a process with jobs asks for help only with those that are still busy', async () => {
  await using p = await processes()
  const jobs = recordedJobs()
  await p.open(jobs)
  const working = await p.open(recordedJobs('apply'))
  jobs.woken.length = 0
  working.others.wake({ name: 'idle' })
  working.others.wake(APPLY)
  await vi.waitFor(() => expect(jobs.woken).toEqual(['apply']))
  expect(working.sent()).toBe(1)
})

test('a process that is alone finds that out with one statement, until another one starts', async () => {
  await using p = await processes()
  const api = await p.open(null)
  api.others.wake(APPLY)
  await vi.waitFor(() => expect(api.sent()).toBe(1))
  for (let at = 0; at < 10; at++) {
    api.others.wake(APPLY)
    await p.w.db.run(sql`select 1`)
  }
  expect(api.sent()).toBe(1)
  const jobs = recordedJobs()
  await p.open(jobs)
  await vi.waitFor(() => {
    api.others.wake(APPLY)
    expect(jobs.woken).toContain('apply')
  })
})

test('a process whose clock was set back wakes a job of another at once', async () => {
  await using p = await processes()
  const jobs = recordedJobs()
  await p.open(jobs)
  let behindMs = 0
  const api = await p.open(null, { ...systemClock, now: () => new Date(systemClock.now().getTime() - behindMs) })
  api.others.wake(APPLY)
  await vi.waitFor(() => expect(jobs.woken).toContain('apply'))
  jobs.woken.length = 0
  behindMs = HOUR_MS
  api.others.wake(APPLY)
  await vi.waitFor(() => expect(jobs.woken).toEqual(['apply']))
})

test('when the connection is lost, jobs look for work every second until notifications arrive again', async () => {
  await using p = await processes()
  const jobs = recordedJobs()
  const { others } = await p.open(jobs)
  expect(jobs.woken).toEqual(['all'])
  const Pid = Type.Object({ pid: Type.Integer() })
  const listening = sql`select pid from pg_stat_activity where datname = current_database() and application_name like 'carillon listen %'`
  const [{ pid } = { pid: 0 }] = await p.w.db.many(Pid, listening)
  await p.w.db.run(sql`select pg_terminate_backend(${pid}::int)`)
  await vi.waitFor(() => expect(others.pollMs()).toBe(1000))
  // Once because the connection was lost, and once because it is there again.
  await vi.waitFor(() => expect(jobs.woken).toEqual(['all', 'all', 'all']), 5000)
  expect(others.pollMs()).toBe(CONNECTED_MS)
})
