import { BroadcastChannel } from 'node:worker_threads'
import { afterAll, expect, test } from 'vitest'
import { createTestClock } from '../../../test/test-clock.ts'
import { burn, fail, hoard, load, sign, wait } from '../../../test/thread-tasks.ts'
import type { ProjectId } from '../../lib/ids.ts'
import { systemClock } from '../runtime/clock.ts'
import { createMetrics } from '../runtime/metrics.ts'
import { createSecrets } from '../runtime/secrets.ts'
import { createThreads } from './pool.ts'

const secretsKeys = [`test:${Buffer.alloc(32, 7).toString('base64')}`]
const metrics = createMetrics('test')
const entry = new URL('../../../test/thread-tasks.ts', import.meta.url)
const options = { entry, count: 1, secretsKeys, metrics, clock: systemClock }
/** Less than a second, so that the tests of what is stopped take less. */
const ITEM_MAX_MS = 250
const threads = createThreads({ ...options, itemMaxMs: ITEM_MAX_MS })
/** With the limits of a server. */
const patient = createThreads(options)
afterAll(() => Promise.all([threads[Symbol.asyncDispose](), patient[Symbol.asyncDispose]()]))

const project = (id: number, kind: 'system' | 'anonymous' = 'system') => ({ projectId: id as ProjectId, caller: { kind } })
const [one, other] = [project(1), project(2)]

test('a task is done for each item, in order, with what the items share', async () => {
  expect(await threads.map(one, burn, 'did', [1, 0, 2])).toEqual([{ value: 'did 1' }, { value: 'did 0' }, { value: 'did 2' }])
  expect(await threads.map(one, burn, 'did', [])).toEqual([])
})

test('a thread signs as the server does', async () => {
  expect(await threads.run(one, sign, 'text')).toEqual({ value: createSecrets(secretsKeys).sign('text', 'test') })
})

test('a bug in a task rejects, and the thread goes on', async () => {
  await expect(threads.run(one, fail, 'a bug')).rejects.toThrow('a bug')
  expect(await threads.map(one, burn, 'did', [0])).toEqual([{ value: 'did 0' }])
})

test('an item that takes more than a second is stopped, and the others are done', async () => {
  const [before, long, after] = await patient.map(one, burn, 'did', [700, 60_000, 2])
  expect([before, after]).toEqual([{ value: 'did 700' }, { value: 'did 2' }])
  expect(long).toEqual({ exceeded: 'it takes more than a second of processor time' })
  expect((await metrics.exposition()).text).toContain('app_threads_stopped_total{limit="time"} 1')
})

test('time that a thread does not work does not count', async () => {
  expect(await threads.run(one, wait, 4 * ITEM_MAX_MS)).toEqual({ value: 'waited' })
})

test('time that an item takes to load something does not count, and the rest of it does', async () => {
  const outcomes = [await threads.run(one, load, [400, 150]), await threads.run(one, load, [100, 60_000])]
  expect(outcomes).toEqual([{ value: 'worked 150' }, { exceeded: 'it takes more than a second of processor time' }])
})

test('many items that are each quick enough may take longer together', async () => {
  const items = Array.from({ length: 3 }, () => 120)
  expect(await threads.map(one, burn, 'did', items)).toEqual(items.map(() => ({ value: 'did 120' })))
})

test('an item that needs too much memory is stopped', async () => {
  expect(await patient.run(one, hoard, null)).toEqual({ exceeded: 'it needs more than 512 MB of memory' })
})

test('after three items that were stopped, the others are skipped', async () => {
  const outcomes = await threads.map(one, burn, 'did', [60_000, 60_000, 60_000, 60_000, 0])
  expect(outcomes.filter((outcome) => 'exceeded' in outcome)).toHaveLength(3)
  expect(outcomes.slice(3)).toEqual([{ skipped: true }, { skipped: true }])
})

test('a long job of one project lets those of others in between', async () => {
  const finished: string[] = []
  const long = threads
    .map(
      one,
      burn,
      'long',
      Array.from({ length: 10 }, () => 60),
    )
    .then(() => finished.push('long'))
  const short = [1, 2, 3].map((number) => threads.map(other, burn, 'short', [number]).then(() => finished.push(`short ${number}`)))
  await Promise.all([long, ...short])
  expect(finished).toEqual(['short 1', 'short 2', 'short 3', 'long'])
})

test('small jobs of several projects that wait together get their own results, whichever of them is stopped or fails', async () => {
  const before = threads.map(one, burn, 'before', [50])
  const waiting = [
    threads.map(project(5), burn, 'five', [0, 1]),
    threads.map(project(6), burn, 'six', [0, 60_000, 2]),
    threads.run(project(7), fail, 'a bug'),
    threads.map(project(8), burn, 'eight', [3]),
    threads.map(project(9), burn, 'nine', [120, 0]),
  ]
  const outcomes = await Promise.allSettled(waiting)
  await before
  expect(outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason.message))).toEqual([
    [{ value: 'five 0' }, { value: 'five 1' }],
    [{ value: 'six 0' }, { exceeded: 'it takes more than a second of processor time' }, { value: 'six 2' }],
    'a bug',
    [{ value: 'eight 3' }],
    [{ value: 'nine 120' }, { value: 'nine 0' }],
  ])
})

test('requests of a project that are too many are refused, and its jobs are not', async () => {
  const client = project(3, 'anonymous')
  const first = threads.map(client, burn, 'did', [20])
  const waiting = Array.from({ length: 100 }, () => threads.map(client, burn, 'did', [0]))
  await expect(threads.map(client, burn, 'did', [0])).rejects.toMatchObject({ code: 'rate_limited', headers: { 'retry-after': '1' } })
  const others = [threads.map(project(3), burn, 'did', [0]), threads.map(project(4, 'anonymous'), burn, 'did', [0])]
  await Promise.all([first, ...waiting, ...others])
})

test('closing rejects what waits and what runs', async () => {
  const closing = createThreads(options)
  const jobs = [closing.map(one, burn, 'did', [60_000]), closing.map(other, burn, 'did', [0])]
  const results = Promise.allSettled(jobs)
  await closing[Symbol.asyncDispose]()
  expect((await results).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await expect(closing.map(one, burn, 'did', [0])).rejects.toThrow('closed')
})

/** A module that says that a thread has started, and the number of threads that have said so. */
function startCounter() {
  const name = `started ${crypto.randomUUID()}`
  const channel = new BroadcastChannel(name)
  const first = Promise.withResolvers<void>()
  channel.onmessage = () => first.resolve()
  const code = `import { BroadcastChannel } from 'node:worker_threads'; new BroadcastChannel('${name}').postMessage('started')`
  return {
    entry: new URL(`data:text/javascript,${encodeURIComponent(code)}`),
    first: first.promise,
    [Symbol.dispose]: () => channel.close(),
  }
}

test('threads are started before there is work, some seconds after the server', async () => {
  using started = startCounter()
  const clock = createTestClock()
  let isWarm = false
  await using pool = createThreads({ entry: started.entry, count: 1, secretsKeys, metrics, clock })
  const warm = pool.warmUp(true).then(() => {
    isWarm = true
  })
  clock.advance('9 seconds')
  await new Promise((resolve) => setImmediate(resolve))
  expect(isWarm).toBe(false)
  clock.advance('1 second')
  await warm
  await started.first
})

test('a pool that is closed before that starts no thread', async () => {
  const clock = createTestClock()
  // To start a thread of this module would fail.
  const pool = createThreads({ entry: new URL('https://example.com'), count: 1, secretsKeys, metrics, clock })
  const warm = pool.warmUp(true)
  await pool[Symbol.asyncDispose]()
  await warm
  clock.advance('1 minute')
  await expect(pool.run(one, sign, 'text')).rejects.toThrow('closed')
})
