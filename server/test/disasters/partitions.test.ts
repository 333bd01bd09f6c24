/** A worker is killed between two partitions of a batch: each event is stored once, and lists match the events. */
import { request } from 'undici'
import { expect, test, vi } from 'vitest'
import { holdAt } from '../fault-points.ts'
import { rowsOf } from '../statements.ts'
import { startGroup } from './group.ts'
import { allApplied, WAIT } from './load.ts'

const USERS = 150
const REQUESTS = 90

test('a worker killed in the middle of a batch: every event is stored once, and lists count each event once', {
  timeout: 180_000,
}, async () => {
  await using group = await startGroup(['api'])
  const [url = ''] = group.urls
  const api = async (method: 'GET' | 'POST', path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${group.key}`, ...(body !== undefined && { 'content-type': 'application/json' }) }
    const reply = await request(`${url}/api/client${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
    const text = await reply.body.text()
    expect(reply.statusCode, text).toBeLessThan(300)
    return (text === '' ? undefined : JSON.parse(text)) as any
  }
  // The exact number of events of each user: if one is lost or counted twice, its user is not in the list.
  const exactly = (REQUESTS * 100) / USERS
  const list = await api('POST', '/lists', { name: 'Often', type: 'dynamic', rule: { event: 'clicked', exactly, within: '1d' } })
  for (let at = 0; at < REQUESTS; at++) {
    const items = Array.from({ length: 100 }, (_, index) => ({
      external_id: `person-${(at * 100 + index) % USERS}`,
      name: 'clicked',
      data: { id: `${at}-${index}` },
    }))
    await api('POST', '/events', items)
  }
  // Killed once with one partition committed, and once with two.
  for (const passes of [0, 1]) {
    await using held = await holdAt(group.databaseUrl, 'between partitions', { passes })
    await using worker = await group.start('worker')
    await held.reached()
    await worker.end('SIGKILL')
  }
  await using _ = await group.start('worker')
  await allApplied(group.databaseUrl)
  const [events] = await rowsOf(
    group.databaseUrl,
    `select count(*)::int as all, count(distinct data->>'id')::int as different from events where name = 'clicked'`,
  )
  expect(events).toEqual({ all: REQUESTS * 100, different: REQUESTS * 100 })
  const entered = `select count(*)::int as times from events where name = 'list_entered'`
  expect(await rowsOf(group.databaseUrl, entered), 'each membership change has one event').toEqual([{ times: USERS }])
  await vi.waitFor(async () => expect(await api('GET', `/lists/${list.id}`)).toMatchObject({ state: 'ready', users_count: USERS }), WAIT)
})
