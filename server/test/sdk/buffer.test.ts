/** Events that the client sends together. */
import { expect, test } from 'vitest'
import { bufferEvents, type ClientOptions, createClient, type EventInput, type RefusedEvent } from '../../../sdk/src/index.ts'
import { type World, world } from '../world.ts'
import { createClientClock, forwardTo, type Given, openCountingServer, refusal } from './counting-server.ts'

const stored: Given = { status: 204 }

function bufferOf(baseUrl: string, options: ClientOptions = {}) {
  const clock = createClientClock()
  const refused: RefusedEvent[] = []
  const client = createClient({ baseUrl, maxRetries: 0, ...options })
  return { clock, refused, ...bufferEvents(client, { clock, onRefused: (events) => refused.push(...events) }) }
}

const HOUR_MS = 3_600_000

const named = (name: string, more: Partial<EventInput> = {}): EventInput => ({ name, external_id: 'kim', ...more })
const namesIn = ({ body }: { body: string }) => (JSON.parse(body) as EventInput[]).map(({ name }) => name)
const numbered = (count: number, from = 0) => Array.from({ length: count }, (_, at) => `step_${from + at}`)

test('events are sent together after a second, once', async () => {
  await using server = await openCountingServer(() => stored)
  const { clock, track, flush, refused } = bufferOf(server.baseUrl)
  track(named('a'))
  clock.advance(999)
  track(named('b'))
  expect(server.requests).toEqual([])
  clock.advance(1)
  await server.reached(1)
  await flush()
  expect(server.requests.map(namesIn)).toEqual([['a', 'b']])
  track(named('c'))
  clock.advance(1_000)
  await flush()
  expect(server.requests.map(namesIn)).toEqual([['a', 'b'], ['c']])
  expect(clock.timers()).toBe(0)
  expect(refused).toEqual([])
})

test('a hundred events are sent at once, and the rest of them later, in order and one request after the other', async () => {
  await using server = await openCountingServer(() => stored)
  let open = 0
  const atOnce: number[] = []
  const { clock, track, flush } = bufferOf(server.baseUrl, {
    fetch: async (...request) => {
      atOnce.push(++open)
      return await fetch(...request).finally(() => open--)
    },
  })
  for (const name of numbered(250)) track(named(name))
  await server.reached(1)
  await flush()
  expect(server.requests.map(namesIn)).toEqual([numbered(100), numbered(100, 100), numbered(50, 200)])
  expect(atOnce).toEqual([1, 1, 1])
  expect(clock.timers()).toBe(0)
})

test('a flush without events asks nothing, and one of an event leaves no timer', async () => {
  await using server = await openCountingServer(() => stored)
  const { clock, track, flush } = bufferOf(server.baseUrl)
  await flush()
  track(named('a'))
  await flush()
  clock.advance(10_000)
  await flush()
  expect(server.requests.map(namesIn)).toEqual([['a']])
})

test('a request stays below the size that the server accepts, and events are sent as they were when they were tracked', async () => {
  await using w = await world()
  await using server = await openCountingServer(forwardTo(w))
  const { track, flush, refused } = bufferOf(server.baseUrl, { apiKey: w.keys.secret })
  const data: Record<string, unknown> = { text: 'ü'.repeat(15_000) }
  for (const name of numbered(60)) track(named(name, { data }))
  data.text = 1n
  expect(() => track(named('z', { data }))).toThrow(TypeError)
  await flush()
  expect(refused).toEqual([])
  expect(server.requests.length).toBe(2)
  expect(server.requests.flatMap(namesIn)).toEqual(numbered(60))
})

test('the events at fault are reported with the error, and the others of the request are stored once', async () => {
  await using w = await world()
  await using server = await openCountingServer(forwardTo(w))
  const { track, flush, refused } = bufferOf(server.baseUrl, { apiKey: w.keys.secret, maxRetries: 2 })
  track(named('first'))
  track({ name: 'nobody' })
  track(named('second', { user: { phone: '12' } }))
  track(named('third', { unknown: 1 } as object))
  track(named('fourth'))
  await flush()
  expect(refused.map(({ event, error: { status, requestId } }) => [event.name, status, requestId])).toEqual([
    ['nobody', expect.any(Number), expect.stringMatching(/^req_/)],
    ['second', expect.any(Number), expect.stringMatching(/^req_/)],
    ['third', expect.any(Number), expect.stringMatching(/^req_/)],
  ])
  expect(await eventsOf(w, 'kim')).toEqual(['first', 'fourth'])
})

test('events that a publishable key may not send are reported, and the others of the request are stored', async () => {
  await using w = await world()
  await w.users('kim', 'lee')
  await using server = await openCountingServer(forwardTo(w))
  const anonymous = bufferOf(server.baseUrl, { apiKey: w.keys.public })
  anonymous.track({ name: 'first', anonymous_id: 'a' })
  anonymous.track({ name: 'named', anonymous_id: 'a', external_id: 'kim' })
  anonymous.track({ name: 'profile', anonymous_id: 'a', user: { data: { a: 1 } } })
  anonymous.track({ name: 'nobody' })
  anonymous.track({ name: 'last', anonymous_id: 'a' })
  await anonymous.flush()
  expect(server.requests.map(namesIn).at(-1)).toEqual(['first', 'last'])
  const headers = { 'x-service-user-token': await w.token('kim') }
  const signedIn = bufferOf(server.baseUrl, { apiKey: w.keys.public, headers })
  signedIn.track(named('own'))
  signedIn.track({ name: 'other', external_id: 'lee' })
  signedIn.track({ name: 'unknown', anonymous_id: 'b' })
  signedIn.track({ name: 'bare' })
  await signedIn.flush()
  const paramsOf = ({ refused }: { refused: RefusedEvent[] }) => refused.map(({ event, error }) => [event.name, error.reason, error.faults])
  const fault = (param: string) => expect.objectContaining({ param })
  const ofAnonymous = [fault('[1].external_id'), fault('[2].user'), fault('[3].anonymous_id')]
  expect(paramsOf(anonymous)).toEqual(['named', 'profile', 'nobody'].map((name) => [name, 'not_publishable', ofAnonymous]))
  const ofSignedIn = [fault('[1].external_id'), fault('[2].anonymous_id')]
  expect(paramsOf(signedIn)).toEqual(['other', 'unknown'].map((name) => [name, 'other_user', ofSignedIn]))
  expect(await eventsOf(w, 'kim')).toEqual(['own', 'bare'])
})

/** The names of the events of a user as the API shows them, oldest first. */
async function eventsOf(w: World, user: string): Promise<string[]> {
  await w.drain()
  const { body } = await w.get(`/api/client/users/${user}/events`)
  const names: string[] = body.results.map(({ name }: { name: string }) => name)
  return names.filter((name) => !name.startsWith('user_')).toReversed()
}

test('events count from when they were tracked, however late they are sent, unless they say when they happened', async () => {
  await using w = await world()
  await using server = await openCountingServer((request, at) => (at === 0 ? 'cut' : forwardTo(w)(request)))
  const clock = createClientClock()
  clock.advance(w.clock.now().getTime() - clock.now() - HOUR_MS)
  const refused: RefusedEvent[] = []
  const client = createClient({ baseUrl: server.baseUrl, apiKey: w.keys.secret, maxRetries: 0 })
  const { track, flush } = bufferEvents(client, { clock, onRefused: (events) => refused.push(...events) })
  const trackedAt = new Date(clock.now()).toISOString()
  track(named('a'))
  track(named('b', { created_at: '2026-01-02T03:04:05.000Z' }))
  await flush()
  clock.advance(HOUR_MS)
  for (const { event } of refused) track(event)
  await flush()
  await w.drain()
  const { body } = await w.get('/api/client/users/kim/events')
  expect(
    Object.fromEntries(body.results.map(({ name, created_at }: { name: string; created_at: string }) => [name, created_at])),
  ).toMatchObject({ a: trackedAt, b: '2026-01-02T03:04:05.000Z' })
})

test('a request whose reply is lost is sent again under the same key, and its events are stored once', async () => {
  await using w = await world()
  const forward = forwardTo(w)
  await using server = await openCountingServer(async (request, at) => {
    const reply = await forward(request)
    return at === 0 ? 'cut' : reply
  })
  const { track, flush, refused } = bufferOf(server.baseUrl, { apiKey: w.keys.secret, maxRetries: 2, clock: createClientClock(30_000) })
  track(named('a'))
  track(named('b'))
  await flush()
  expect(refused).toEqual([])
  expect(server.requests).toHaveLength(2)
  expect(await eventsOf(w, 'kim')).toEqual(['a', 'b'])
})

test('events that are tracked again after they were refused are stored once, also if they had been stored', async () => {
  await using w = await world()
  const forward = forwardTo(w)
  await using server = await openCountingServer(async (request, at) => {
    if (at === 1 || at === 2) return refusal(503, 'service_unavailable')
    const reply = await forward(request)
    return at === 0 ? 'cut' : reply
  })
  const { track, flush, refused } = bufferOf(server.baseUrl, { apiKey: w.keys.secret, maxRetries: 2, clock: createClientClock(30_000) })
  track(named('a'))
  track(named('b', { event_id: 'of-the-caller' }))
  await flush()
  expect(refused.map(({ event, error: { status } }) => [event.name, status])).toEqual([
    ['a', 503],
    ['b', 503],
  ])
  expect(refused[1]?.event.event_id).toBe('of-the-caller')
  for (const { event } of refused) track(event)
  track(named('a'))
  await flush()
  expect(refused).toHaveLength(2)
  expect(await eventsOf(w, 'kim')).toEqual(['a', 'b', 'a'])
})

test.each<[string, Given, string]>([
  ['the server cannot be reached', 'cut', 'unreachable'],
  ['the key is refused', refusal(401, 'authentication_required'), 'authentication_required'],
])('all events of a request are reported if %s, and later ones are sent', async (_, reply, code) => {
  await using server = await openCountingServer((_, at) => (at === 0 ? reply : stored))
  const { track, flush, refused } = bufferOf(server.baseUrl)
  track(named('a'))
  track(named('b'))
  await flush()
  expect(refused.map(({ event, error }) => [event.name, error.code])).toEqual([
    ['a', code],
    ['b', code],
  ])
  track(named('c'))
  await flush()
  expect(server.requests.map(namesIn)).toEqual([['a', 'b'], ['c']])
  expect(refused).toHaveLength(2)
})

test('at most ten thousand events are kept while the server does not answer, and those beyond are reported', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  await using server = await openCountingServer(async () => {
    await promise
    return stored
  })
  const { track, flush, refused } = bufferOf(server.baseUrl)
  for (const name of numbered(10_002)) track(named(name))
  expect(refused.map(({ event, error }) => [event.name, error.code])).toEqual([
    ['step_10000', 'buffer_full'],
    ['step_10001', 'buffer_full'],
  ])
  resolve()
  await flush()
  expect(server.requests).toHaveLength(100)
  track(named('later'))
  await flush()
  expect(server.requests).toHaveLength(101)
  expect(refused).toHaveLength(2)
})
