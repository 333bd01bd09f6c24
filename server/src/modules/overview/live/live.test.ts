/** The stream of what changes in a project: one look for all who watch, and an end when it is no longer permitted. */
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { blastTo, listOf, schedule } from '../../../../test/blasts.ts'
import { openStream, type Stream } from '../../../../test/inbox.ts'
import { member } from '../../../../test/members.ts'
import { type World, world } from '../../../../test/world.ts'
import { asSystem } from '../../../infra/runtime/ctx.ts'
import { HOUR_MS } from '../../../lib/times.ts'
import { createHub, type State, type Topic } from './hub.ts'
import { topicsOf } from './listen.ts'
import type { TopicKind } from './topics/topic.ts'

let w: World
const closing = new AsyncDisposableStack()
beforeAll(async () => {
  w = closing.use(await world())
  await w.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => closing.disposeAsync())

const stream = async (topics: string, headers: Record<string, string> = { authorization: `Bearer ${w.keys.support}` }): Promise<Stream> =>
  closing.use(
    await openStream(w, `http://127.0.0.1:${(w.app.server.address() as AddressInfo).port}/api/client/stream?topics=${topics}`, headers),
  )
const statesOf = ({ events }: Stream, name: string) => events.filter(({ data }) => data.topic === name).map(({ data }) => data.state)

test.each<[string, Topic[]]>([
  ['sandbox', [{ kind: 'sandbox', id: 0 }]],
  [
    'campaign:12,import:3,messages,campaign:12',
    [
      { kind: 'campaign', id: 12 },
      { kind: 'import', id: 3 },
      { kind: 'messages', id: 0 },
    ],
  ],
])('the topics %s are %j', (text, topics) => expect(topicsOf(text)).toEqual(topics))

test.each(['users', 'campaign', 'campaign:0', 'campaign:x', 'sandbox:1', 'toString', ''])('there is no topic “%s”', async (name) => {
  expect(() => topicsOf(name)).toThrow('does not exist')
})

/** A second passes, once the hub waits for it. */
const second = async () => {
  await new Promise(setImmediate)
  w.advance('1 second')
}

describe('a hub', () => {
  /** A kind of topic whose state the test sets, and which counts the looks. */
  const counted = () => {
    const kind = { value: 1, looks: 0, asked: [] as number[] }
    const look: TopicKind['look'] = async (_, ids) => {
      kind.looks++
      kind.asked = ids
      return new Map(ids.filter((id) => id < 9).map((id) => [id, { value: kind.value }]))
    }
    return Object.assign(kind, { about: '', of: 'object' as const, look })
  }
  const NEVER = new AbortController().signal
  const stage = () => {
    const kind = counted()
    const ctx = { ...asSystem(w.ctx, w.projectId, { locale: 'en', timezone: 'UTC' }), db: { ...w.ctx.db } }
    const hub = createHub({ thing: kind })
    return {
      kind,
      watch: (...ids: number[]) =>
        hub.watch(
          ctx,
          ids.map((id) => ({ kind: 'thing', id })),
        ),
    }
  }
  const values = (states: State[]) => states.map(({ id, state }) => [id, state && 'value' in state ? state.value : state])

  test('looks once for all who watch, tells each of them what changed, and no longer looks when nobody watches', async () => {
    const { kind, watch } = stage()
    using first = watch(1)
    expect(values(await first.next(60_000, NEVER))).toEqual([[1, 1]])
    const others = Array.from({ length: 50 }, () => watch(1))
    for (const other of others) expect(values(await other.next(60_000, NEVER))).toEqual([[1, 1]])
    expect(kind.looks).toBe(1)
    kind.value = 2
    const answers = [first, ...others].map((watcher) => watcher.next(60_000, NEVER))
    await second()
    for (const states of await Promise.all(answers)) expect(values(states)).toEqual([[1, 2]])
    expect([kind.looks, kind.asked]).toEqual([2, [1]])
    for (const watcher of [first, ...others]) watcher[Symbol.dispose]()
    for (let count = 0; count < 3; count++) await second()
    expect(kind.looks).toBe(2)
  })

  test('keeps the latest state only for one that is slow, and tells what does not exist', async () => {
    const { kind, watch } = stage()
    using quick = watch(1)
    await quick.next(60_000, NEVER)
    using slow = watch(1, 9)
    const next = slow.next(60_000, NEVER)
    expect(values(await next)).toContainEqual([1, 1])
    for (const value of [2, 3]) {
      kind.value = value
      const next = quick.next(60_000, NEVER)
      await second()
      await next
    }
    expect(values(await slow.next(60_000, NEVER)).filter(([id]) => id === 1)).toEqual([[1, 3]])
  })

  test('ends a wait when the stream ends', async () => {
    const { watch } = stage()
    using watcher = watch(1)
    await watcher.next(60_000, NEVER)
    const leaving = new AbortController()
    const waiting = watcher.next(60_000, leaving.signal)
    leaving.abort()
    expect(await waiting).toEqual([])
  })
})

test('a stream has the progress of a campaign and new messages, and null for what is not there or of another project', async () => {
  const campaign = await blastTo(w, [await listOf(w, 'ana', 'bo')])
  const seen = await stream(`campaign:${campaign.id},campaign:999,sandbox,messages`)
  const { keys } = await w.other()
  const theirs = await stream(`campaign:${campaign.id},messages`, { authorization: `Bearer ${keys.support}` })
  const topic = `campaign:${campaign.id}`
  await seen.until(({ length }) => length === 4)
  expect(statesOf(seen, topic)).toMatchObject([{ campaign: { state: 'draft' }, delivery: { total: 0, pending: 0 } }])
  expect([statesOf(seen, 'campaign:999'), statesOf(seen, 'sandbox')]).toEqual([[null], [{ latest_id: null }]])
  await schedule(w, campaign)
  await w.drain()
  await seen.until(() => statesOf(seen, topic).at(-1)?.campaign.state === 'finished')
  const { delivery, campaign: shown } = statesOf(seen, topic).at(-1)
  expect(shown).toEqual((await w.get(`/api/client/campaigns/${campaign.id}`)).body)
  expect(delivery).toEqual((await w.get(`/api/client/campaigns/${campaign.id}/delivery`)).body)
  await seen.until(() => statesOf(seen, 'sandbox').at(-1)?.latest_id > 0)
  await theirs.until(({ length }) => length === 2)
  expect(theirs.events.map(({ data }) => data.state)).toEqual([null, { latest_id: null }])
  for (const each of [seen, theirs]) await each.close()
})

test('a stream of a member ends when the session ends, and does not keep it alive', async () => {
  const { headers } = await member(w, 'member', 'support')
  const seen = await stream('sandbox', { ...headers, 'carillon-project': String(w.projectId) })
  await seen.until(({ length }) => length === 1)
  expect(seen.headers.get('x-accel-buffering')).toBe('no')
  for (const hours of [11, 2]) {
    const before = seen.heartbeats()
    w.advance(`${hours} hours`)
    await seen.until(() => seen.heartbeats() > before || seen.isOver())
  }
  // Checked after eleven hours, which is no use of it.
  await seen.until(({ length }) => length === 2)
  expect(seen.events[1]).toMatchObject({ event: 'expired', data: { reason: 'session_invalid' } })
})

test.each([
  ['', () => {}],
  [', also if the clock is set back', () => w.clock.set(new Date(w.clock.now().getTime() - HOUR_MS))],
])('a stream ends 30 seconds after its session%s', async (_, moveClock) => {
  const { headers } = await member(w, 'member', 'support')
  const seen = await stream('sandbox', { ...headers, 'carillon-project': String(w.projectId) })
  await seen.until(({ length }) => length === 1, 'still')
  expect((await w.post('/api/console/sign-out', undefined, { key: null, headers })).status).toBe(200)
  moveClock()
  // Between the seconds, the server gets to work.
  for (let seconds = 0; seconds < 35; seconds++) {
    await w.get('/readyz')
    w.advance('1 second')
  }
  await seen.until(({ length }) => length === 2, 'still')
  expect(seen.events[1]).toMatchObject({ event: 'expired' })
})

test('a member without a role in the project gets no stream, and a key at most 20', async () => {
  const { headers } = await member(w, 'member')
  const refused = await stream('sandbox', { ...headers, 'carillon-project': String(w.projectId) })
  expect(refused.status).toBe(403)
  const streams = []
  for (let count = 0; count < 20; count++) streams.push(await stream('sandbox'))
  expect(streams.map(({ status }) => status)).toEqual(Array(20).fill(200))
  expect((await stream('sandbox')).status).toBe(429)
  for (const each of streams) await each.close()
})
