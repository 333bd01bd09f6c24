/** A worker that dies between two partitions of one batch: what they did is done once, and lists say what the events say. */
import { request } from 'undici'
import { expect, test, vi } from 'vitest'
import { rowsOf } from '../child-server.ts'
import { startGroup } from './group.ts'
import { settled } from './load.ts'

const USERS = 150
const REQUESTS = 90
const KILLS = 4

test('the worker is killed in mid-batch: every event is stored once, and lists count each of them once', { timeout: 90_000 }, async () => {
  await using group = await startGroup(['api'])
  const [url = ''] = group.urls
  const api = async (method: 'GET' | 'POST', path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${group.key}`, ...(body !== undefined && { 'content-type': 'application/json' }) }
    const reply = await request(`${url}/api/client${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
    const text = await reply.body.text()
    expect(reply.statusCode, text).toBeLessThan(300)
    return (text === '' ? undefined : JSON.parse(text)) as any
  }
  // Exactly as often as each of them does it: one event lost or counted twice moves somebody.
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
  let killed = 0
  for (let kill = 0; kill < KILLS; kill++) {
    const worker = await group.start('worker')
    const begun = async () => {
      const [row] = await rowsOf<{ windows: number; waiting: number }>(
        group.databaseUrl,
        'select (select count(*)::int from queue_batches) as windows, (select count(*)::int from queue_entries) as waiting',
      )
      expect(row?.windows === 1 || row?.waiting === 0).toBe(true)
      return row?.windows === 1
    }
    if (await vi.waitFor(begun, { timeout: 20_000, interval: 5 })) killed++
    await worker.end('SIGKILL')
  }
  expect(killed, 'a batch was under way when the worker was killed').toBeGreaterThan(0)
  await using _ = await group.start('worker')
  await settled(group.databaseUrl)
  const [events] = await rowsOf(
    group.databaseUrl,
    `select count(*)::int as all, count(distinct data->>'id')::int as different from events where name = 'clicked'`,
  )
  expect(events).toEqual({ all: REQUESTS * 100, different: REQUESTS * 100 })
  const entered = `select count(*)::int as times from events where name = 'list_entered'`
  expect(await rowsOf(group.databaseUrl, entered), 'each move is told once').toEqual([{ times: USERS }])
  await vi.waitFor(async () => expect(await api('GET', `/lists/${list.id}`)).toMatchObject({ state: 'ready', users_count: USERS }), {
    timeout: 10_000,
    interval: 100,
  })
})
