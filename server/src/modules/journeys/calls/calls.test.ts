import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { createJourney, queuedItems, READY } from '../../../../test/journeys.ts'
import { select } from '../../../../test/select.ts'
import { createTestClock } from '../../../../test/test-clock.ts'
import { type World, world } from '../../../../test/world.ts'
import { systemClock } from '../../../infra/runtime/clock.ts'
import { inTx } from '../../../infra/runtime/ctx.ts'
import { MINUTE_MS } from '../../../lib/times.ts'
import { callDue } from './call.ts'
import { claimCalls, nextCallAt } from './queries.ts'

const calling = (url: string, data: object = {}) => ({
  ...READY,
  api: { ...READY.api, children: [{ external_id: 'call' }] },
  call: {
    type: 'webhook',
    x: 0,
    y: 9,
    data: { url, body: '{"user": "{{ user.external_id }}"}', ...data },
    children: [
      { external_id: 'w1', path: 'success' },
      { external_id: 'out', path: 'failed' },
    ],
  },
})

/** Lets `ana` come to the step, up to the call. */
async function atCall(w: World, url: string, data: object = {}) {
  await w.users('ana')
  const journey = await createJourney(w, { status: 'live' }, calling(url, data))
  const { entrance_id } = (await journey.post('entrances', { external_id: 'ana' })).body
  await w.drain('ingest.apply')
  return { journey, key: `${entrance_id}-2` }
}

test('a call is made with its key, and the answer lets the user go on', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  const { journey, key } = await atCall(w, receiver.url, { headers: { authorization: { secret: 'Bearer s3cret' }, 'x-plain': 'a' } })
  await w.drain()
  expect(receiver.requests).toHaveLength(1)
  expect(receiver.requests[0]).toMatchObject({
    method: 'POST',
    headers: { 'idempotency-key': key, authorization: 'Bearer s3cret', 'x-plain': 'a', 'content-type': 'application/json' },
    json: { user: 'ana' },
  })
  expect((await journey.get('users')).results).toMatchObject([{ step: 'w1' }])
  expect(await select(w, 'select * from journey_calls where project_id = $1', [w.projectId])).toEqual([])
})

test('a header that the server would set itself is sent once, as the author wrote it', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  await atCall(w, receiver.url, { headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: 'user={{ user.external_id }}' })
  await w.drain()
  expect(receiver.requests).toMatchObject([{ headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'user=ana' }])
})

test('a call whose process died before its answer was stored is made again with the same key', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  const { journey, key } = await atCall(w, receiver.url)
  // What a process leaves that leased the call, sent it and died.
  await select(
    w,
    `update journey_calls set lease_token = gen_random_uuid(), lease_until = $2, due_at = $2, attempts = 1 where project_id = $1`,
    [w.projectId, new Date(w.clock.now().getTime() + 30_000)],
  )
  await w.drain()
  expect(receiver.requests).toEqual([])
  w.advance('31 seconds')
  await w.drain()
  expect(receiver.requests.map(({ headers }) => headers['idempotency-key'])).toEqual([key])
  expect((await journey.get('users')).results).toMatchObject([{ step: 'w1' }])
})

test.each([
  ['behind', -MINUTE_MS],
  ['ahead', MINUTE_MS],
])('a call that a process makes is not made by another one, whose clock is %s', async (_, aheadMs) => {
  await using w = await world()
  const receiver = await w.receiver()
  await atCall(w, receiver.url)
  await select(w, `update journey_calls set due_at = now() - interval '10 minutes', created_at = now() where project_id = $1`, [
    w.projectId,
  ])
  /** A process on a machine of its own. */
  const processAt = (ms: number) => {
    const { now, sleep } = createTestClock(new Date(systemClock.now().getTime() + ms))
    return { ...w.ctx, clock: { now, sleep, skewMs: 250 } }
  }
  const [first, other] = [processAt(0), processAt(aheadMs)]
  const leaseUntil = new Date(first.clock.now().getTime() + 30_000)
  expect(await inTx(first, (ctx) => claimCalls(ctx, { perHost: 10, total: 10, leaseUntil, token: randomUUID() }))).toHaveLength(1)
  await (await callDue(other, new AbortController().signal)).finished
  expect(receiver.requests).toEqual([])
})

test('a process whose clock is ahead by more than a lease may last looks for calls once their leases have ended', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  await atCall(w, receiver.url)
  await select(w, `update journey_calls set due_at = now() - interval '10 minutes', created_at = now() where project_id = $1`, [
    w.projectId,
  ])
  const { now, sleep } = createTestClock(new Date(systemClock.now().getTime() + 20 * MINUTE_MS))
  const ahead = { ...w.ctx, clock: { now, sleep, skewMs: 250 } }
  const leaseUntil = new Date(now().getTime() + 30_000)
  expect(await inTx(ahead, (ctx) => claimCalls(ctx, { perHost: 10, total: 10, leaseUntil, token: randomUUID() }))).toHaveLength(1)
  expect((await nextCallAt(ahead))?.getTime()).toBeGreaterThan(now().getTime())
})

test('a failed call is tried again, and the step fails after the last try', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  receiver.answer(503)
  const { journey, key } = await atCall(w, receiver.url, { retries: 2 })
  await w.drain()
  expect(receiver.requests).toHaveLength(1)
  w.advance('10 seconds')
  await w.drain()
  expect(receiver.requests).toHaveLength(2)
  w.advance('10 minutes')
  await w.drain()
  expect(receiver.requests.map(({ headers }) => headers['idempotency-key'])).toEqual([key, key, key])
  expect((await journey.get('users')).results).toEqual([])
  const [{ visits }] = (await journey.get('users/ana')).entrances
  expect(visits.find(({ step }: any) => step === 'call')).toMatchObject({ path: 'failed' })
})

const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`

test.each([
  ['JSON', '{"a":[1,"b"]}', { a: [1, 'b'] }],
  ['text', 'thanks', 'thanks'],
  ['text with U+0000', 'a\0b', 'a\ufffdb'],
  ['JSON with U+0000', '{"n\\u0000":["a\\u0000b"]}', { 'n\ufffd': ['a\ufffdb'] }],
  ['JSON with half of a character', '{"a":"\\ud83d"}', { a: '\ufffd' }],
  ['JSON as deep as data may be', nested(16), JSON.parse(nested(16))],
  ['deeper JSON', nested(17), nested(17)],
  ['JSON as deep as 8 KiB can be', nested(4096), nested(4096)],
])('an answer can be stored, and the user goes on: %s', async (_, answer, body) => {
  await using w = await world()
  const receiver = await w.receiver()
  receiver.answer(200, {}, answer)
  const { journey } = await atCall(w, receiver.url)
  await w.drain()
  expect((await journey.get('users')).results).toMatchObject([{ step: 'w1' }])
  expect(await select(w, 'select answers from journey_entrances where project_id = $1', [w.projectId])).toEqual([
    { answers: { call: { status: 200, body } } },
  ])
})

test.each(['{{ user.external_id }} 🎉', { secret: '🎉' }])(
  'a call with a header that HTTP cannot carry fails at once: %j',
  async (value) => {
    await using w = await world()
    const receiver = await w.receiver()
    const { journey } = await atCall(w, receiver.url, { headers: { 'x-name': value } })
    await w.drain()
    expect(receiver.requests).toEqual([])
    const [{ visits }] = (await journey.get('users/ana')).entrances
    expect(visits.find(({ step }: any) => step === 'call')).toMatchObject({ path: 'failed' })
  },
)

test('a call that the step has given up is not made', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  const { journey } = await atCall(w, receiver.url)
  w.advance('26 hours')
  await w.drain('ingest.apply')
  const [{ visits }] = (await journey.get('users/ana')).entrances
  expect(visits.find(({ step }: any) => step === 'call')).toMatchObject({ path: 'failed', reason: 'no_answer' })
  await w.drain()
  expect(receiver.requests).toEqual([])
  expect(await select(w, 'select * from journey_calls where project_id = $1', [w.projectId])).toEqual([])
})

test('a call that has waited for a day is not made any more, and the step gives it up', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  const { journey } = await atCall(w, receiver.url)
  w.advance('24 hours')
  w.advance('1 minute')
  await w.drain()
  expect(receiver.requests).toEqual([])
  w.advance('1 hour')
  await w.drain()
  expect(receiver.requests).toEqual([])
  const [{ visits }] = (await journey.get('users/ana')).entrances
  expect(visits.find(({ step }: any) => step === 'call')).toMatchObject({ path: 'failed', reason: 'no_answer' })
})

test('a call that the step gave up in an earlier release, which kept it, is deleted and never made', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  await atCall(w, receiver.url)
  // Of an entrance that has moved on, and one that was tried, so that it became due later.
  await select(w, 'update journey_calls set entrance_id = entrance_id + 1 where project_id = $1', [w.projectId])
  await select(
    w,
    `insert into journey_calls (project_id, user_id, entrance_id, visit, journey_id, attempts, host, request, created_at, due_at)
     select project_id, user_id, entrance_id + 1, visit, journey_id, 1, host, request, created_at, $2 from journey_calls where project_id = $1`,
    [w.projectId, new Date(w.clock.now().getTime() + 10 * 3_600_000)],
  )
  const calls = () => select(w, 'select attempts from journey_calls where project_id = $1', [w.projectId])
  w.advance('26 hours')
  await w.drain()
  expect(await calls()).toEqual([{ attempts: 1 }])
  w.advance('9 hours')
  await w.drain()
  expect(await calls()).toEqual([])
  expect(receiver.requests).toEqual([])
})

test('the answer of a call whose user left is dropped', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  const release = receiver.hold()
  const { journey } = await atCall(w, receiver.url)
  const calls = w.drain('journeys.call')
  await expect.poll(() => receiver.requests.length).toBe(1)
  await w.delete(`${journey.path}/users/ana`)
  await w.drain('ingest.apply')
  release()
  await calls
  expect(await queuedItems(w)).toEqual([])
})

test('10 calls of a host are made at once', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  const names = Array.from({ length: 14 }, (_, at) => `user-${at}`)
  await w.users(...names)
  const journey = await createJourney(w, { status: 'live' }, calling(receiver.url))
  for (const external_id of names) await journey.post('entrances', { external_id })
  await w.drain('ingest.apply')
  const release = receiver.hold()
  const calls = w.drain('journeys.call')
  await expect.poll(() => receiver.requests.length).toBe(10)
  expect(receiver.requests).toHaveLength(10)
  release()
  await calls
  expect(receiver.requests).toHaveLength(14)
})
