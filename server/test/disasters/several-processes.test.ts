/** Several processes on one database work as one server: everything is applied once and in order, and any of them can be stopped. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { request } from 'undici'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { ChildServer } from '../child-server.ts'
import { rowsOf } from '../statements.ts'
import { type Group, startGroup } from './group.ts'
import { allApplied, createRequestLog, expectKept, type RequestLog, startLoad, WAIT } from './load.ts'

/** A generator of numbers that gives the same sequence in every run. */
function createNumbers(): (end: number) => number {
  let last = 0
  return (end) => {
    last = (last * 7 + 3) % 1009
    return last % end
  }
}

/** Two processes with all roles, and what they were sent. The tests use them one after the other; the last one stops them. */
let two: Group
const toTwo = createRequestLog()
beforeAll(async () => {
  two = await startGroup(['all', 'all'], { isEmpty: true })
})
afterAll(() => two[Symbol.asyncDispose]())

async function expectStoredOnce(group: Group, requests: RequestLog): Promise<void> {
  const load = startLoad(requests, group.urls, group.key, 6, createNumbers())
  await load.acknowledged(600)
  await load.stop()
  await allApplied(group.databaseUrl)
  expect(requests.unanswered).toEqual([])
  await expectKept(requests, group.databaseUrl, 'all are acknowledged')
}

test('an api and a worker: each event and each user is stored once', { timeout: 180_000 }, async () => {
  await using group = await startGroup(['api', 'worker'], { isEmpty: true })
  await expectStoredOnce(group, createRequestLog())
})

test('two processes with all roles: each event and each user is stored once', { timeout: 180_000 }, () => expectStoredOnce(two, toTwo))

test('updates of a user that are sent to two processes in turn are applied in that order', { timeout: 180_000 }, async () => {
  const steps = 12
  const write = async (user: string, step: number) => {
    const asEvent = step % 2 === 0
    const [method, path, item] = asEvent
      ? (['POST', 'events', { external_id: user, name: 'stepped', user: { data: { step } } }] as const)
      : (['PATCH', 'users', { external_id: user, data: { step } }] as const)
    const url = two.urls[(step >> 1) % 2]
    const headers = { authorization: `Bearer ${two.key}`, 'content-type': 'application/json' }
    const { statusCode } = await request(`${url}/api/client/${path}`, { method, headers, body: JSON.stringify([item]) })
    expect(statusCode).toBe(204)
  }
  const users = Array.from({ length: 16 }, (_, number) => `stepper-${number}`)
  await Promise.all(
    users.map(async (user) => {
      for (let step = 1; step <= steps; step++) await write(user, step)
    }),
  )
  await allApplied(two.databaseUrl)
  const last = await rowsOf<{ external_id: string; step: number }>(
    two.databaseUrl,
    `select external_id, (data->>'step')::int as step from users where external_id like 'stepper-%' order by id`,
  )
  expect(last.toSorted((a, b) => users.indexOf(a.external_id) - users.indexOf(b.external_id))).toEqual(
    users.map((external_id) => ({ external_id, step: steps })),
  )
})

test('SIGTERM under load: the process exits with 0 and nothing acknowledged is lost', { timeout: 180_000 }, async () => {
  const [leaving, staying] = two.servers as [ChildServer, ChildServer]
  const load = startLoad(toTwo, two.urls, two.key, 6, createNumbers())
  await load.acknowledged(150)
  expect(await leaving.end('SIGTERM')).toEqual({ code: 0, signal: null })
  await load.acknowledged(150)
  await load.stop()
  await allApplied(two.databaseUrl)
  await expectKept(toTwo, two.databaseUrl, 'SIGTERM')
  expect(leaving.log()).not.toContain('"level":"error"')
  expect(await staying.end('SIGTERM')).toEqual({ code: 0, signal: null })
})

test('a request that is partly sent at SIGTERM gets its reply', { timeout: 180_000 }, async () => {
  await using group = await startGroup(['all'])
  const [server] = group.servers as [ChildServer]
  const { hostname, port } = new URL(server.url)
  const body = JSON.stringify([{ external_id: 'late', name: 'counted', data: { id: 'late' } }])
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.write(
    `POST /api/client/events HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${group.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
  )
  // The reply 100 shows that the server has started to read the request.
  expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 100 /)
  socket.write(body.slice(0, 10))
  const ended = server.end('SIGTERM')
  await vi.waitFor(() => expect(request(`${server.url}/healthz`)).rejects.toThrow(), WAIT)
  socket.write(body.slice(10))
  expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 204 /)
  await once(socket, 'end')
  expect(await ended).toEqual({ code: 0, signal: null })
  await using _ = await group.start('worker')
  await allApplied(group.databaseUrl)
  expect(await rowsOf(group.databaseUrl, `select name from events where data->>'id' = 'late'`)).toHaveLength(1)
})
