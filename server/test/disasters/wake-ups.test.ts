/** Work that one process accepts is done by another at once, however rarely that one looks for work by itself. */
import { request } from 'undici'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/infra/runtime/clock.ts'
import { cloneTemplate } from '../ground.ts'
import { rowsOf } from '../statements.ts'
import { type Group, startGroup } from './group.ts'
import { WAIT } from './load.ts'

const HOUR_S = '3600'
/** A listener needs longer to connect. */
const KILL_EVERY_MS = 5

/** A server and a worker that can listen. The tests use them one after the other. */
let listening: Group
beforeAll(async () => {
  listening = await startGroup(['api', 'worker'], { env: { JOB_POLL_S: HOUR_S } })
})
afterAll(() => listening[Symbol.asyncDispose]())

const LISTENERS = `from pg_stat_activity where datname = current_database() and application_name like 'carillon listen %'`

/** Waits until both processes listen and have nothing to do. */
const areIdle = (url: string) =>
  vi.waitFor(async () => {
    const busy = `select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`
    expect(await rowsOf(url, `select pid ${LISTENERS} and query like 'listen %'`)).toHaveLength(2)
    expect(await rowsOf(url, busy)).toEqual([])
  }, WAIT)

async function call(url: string | undefined, key: string, method: 'POST' | 'DELETE', path: string, body?: object): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const { statusCode } = await request(`${url}/api/client/${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  expect(statusCode).toBeLessThan(300)
}

const event = [{ external_id: 'ana', name: 'counted' }]
const storedEvents = (url: string) => rowsOf(url, `select name from events where name = 'counted'`)

test('a worker that polls once an hour applies an event, erases a user and builds a list at once', { timeout: 180_000 }, async () => {
  const { urls, key, databaseUrl } = listening
  await areIdle(databaseUrl)
  await call(urls[0], key, 'POST', 'events', event)
  await vi.waitFor(async () => expect(await storedEvents(databaseUrl)).toHaveLength(1), WAIT)
  await areIdle(databaseUrl)
  await call(urls[0], key, 'POST', 'lists', { name: 'All', type: 'dynamic', rule: { attribute: 'data.plan', is: 'pro' } })
  await vi.waitFor(
    async () => expect(await rowsOf(databaseUrl, `select id from list_versions where status = 'live'`)).toHaveLength(1),
    WAIT,
  )
  await areIdle(databaseUrl)
  await call(urls[0], key, 'DELETE', 'users/ana')
  await vi.waitFor(async () => expect(await rowsOf(databaseUrl, 'select id from users')).toEqual([]), WAIT)
})

test('while no notification arrives, the worker polls', { timeout: 180_000 }, async () => {
  const { urls, key, databaseUrl } = listening
  await areIdle(databaseUrl)
  const stop = new AbortController()
  const kill = async () => {
    while (!stop.signal.aborted) {
      await rowsOf(databaseUrl, `select pg_terminate_backend(pid) ${LISTENERS}`)
      await systemClock.sleep(KILL_EVERY_MS)
    }
  }
  const killing = kill()
  await call(urls[0], key, 'POST', 'events', event)
  await vi.waitFor(async () => expect(await storedEvents(databaseUrl)).toHaveLength(1), WAIT)
  stop.abort()
  await killing
})

test('without a connection that can listen, the worker polls', { timeout: 180_000 }, async () => {
  // Notifications of one database do not arrive in another.
  await using group = await startGroup(['api', 'worker'], { env: { JOB_POLL_S: HOUR_S, DATABASE_DIRECT_URL: await cloneTemplate() } })
  await call(group.urls[0], group.key, 'POST', 'events', event)
  await vi.waitFor(async () => expect(await storedEvents(group.databaseUrl)).toHaveLength(1), WAIT)
})
