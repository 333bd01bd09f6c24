/** Which requests the client sends again, when, and how it gives up. */
import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { type CallOptions, CarillonError, type ClientOptions, createClient } from '../../../sdk/src/index.ts'
import { needsKey } from '../../../sdk/src/retry.ts'
import { routes } from '../all-routes.ts'
import { world } from '../world.ts'
import { createClientClock, forwardTo, type Given, openCountingServer, refusal } from './counting-server.ts'

const HOUR_MS = 3_600_000
const done: Given = { status: 200, body: { id: 1 } }
const away = { status: 503 }

/** A client of which every wait is skipped, and no try takes too long. */
function clientOf(baseUrl: string, options: ClientOptions = {}) {
  const clock = createClientClock(HOUR_MS)
  return { clock, client: createClient({ baseUrl, clock, timeoutMs: HOUR_MS, random: () => 0.5, ...options }) }
}

const LIST = { body: { name: 'Beta', type: 'static' } } as const

const read = (client: ReturnType<typeof createClient>) => client.get('/api/client/lists')
const write = (client: ReturnType<typeof createClient>) => client.post('/api/client/lists', LIST)
/** The server cannot undo what it sends while it runs. */
const testCampaign = (client: ReturnType<typeof createClient>) =>
  client.post('/api/client/campaigns/{campaignId}/test', { path: { campaignId: 7 }, body: { external_ids: ['kim'] } as never })
/** A read with a body. */
const search = (client: ReturnType<typeof createClient>) =>
  client.post('/api/client/users/search', { body: { rule: { attribute: 'email', is_set: true } } })
/** Takes no key. */
const signOut = (client: ReturnType<typeof createClient>) => client.post('/api/console/sign-out')
const generate = (client: ReturnType<typeof createClient>) => client.post('/api/ext/generic/data/generate/lorem', { body: {} as never })

const REPLIES: Record<string, Given> = {
  'a broken connection': 'cut',
  500: refusal(500, 'internal_error'),
  502: { status: 502 },
  503: away,
  504: { status: 504 },
  'in progress': refusal(409, 'idempotency_key_mismatch', { reason: 'in_progress', headers: { 'retry-after': '1' } }),
  'rate limited': refusal(429, 'rate_limited', { headers: { 'retry-after': '1' } }),
}

type Ask = (client: ReturnType<typeof createClient>) => Promise<unknown>

describe.each<[string, Ask, string[]]>([
  ['a read', read, ['a broken connection', '502', '503', '504', 'in progress', 'rate limited']],
  ['a read with a body', search, ['a broken connection', '502', '503', '504', 'in progress', 'rate limited']],
  ['a write with a key', write, ['a broken connection', '500', '502', '503', '504', 'in progress', 'rate limited']],
  ['a write that calls other servers', testCampaign, ['in progress', 'rate limited']],
  ['a write of the console', signOut, ['in progress', 'rate limited']],
  ['a utility', generate, ['in progress', 'rate limited']],
])('%s', (_, ask, repeated) => {
  test.each(Object.entries(REPLIES))('after %s is sent again only if it cannot take effect twice', async (name, reply) => {
    await using server = await openCountingServer((_, at) => (at === 0 ? reply : done))
    const { client } = clientOf(server.baseUrl)
    const outcome = await ask(client).catch((error: unknown) => error)
    expect(server.requests).toHaveLength(repeated.includes(name) ? 2 : 1)
    expect(outcome instanceof CarillonError).toBe(!repeated.includes(name))
  })
})

test.each<[string, Given]>([
  ['a request at fault', refusal(422, 'validation_failed')],
  ['no permission', refusal(403, 'permission_denied')],
  ['a key of another request', refusal(409, 'idempotency_key_mismatch', { reason: 'different_request' })],
  ['another conflict', refusal(409, 'resource_already_exists')],
  ['a quota that is not renewed', refusal(429, 'quota_exceeded')],
  ['a quota that is renewed in a day', refusal(429, 'quota_exceeded', { headers: { 'retry-after': '86400' } })],
  ['a time to wait of more than a minute', { status: 503, headers: { 'retry-after': '61' } }],
])('%s rejects at once', async (_, reply) => {
  await using server = await openCountingServer((_, at) => (at === 0 ? reply : done))
  await expect(write(clientOf(server.baseUrl).client)).rejects.toThrow(CarillonError)
  expect(server.requests).toHaveLength(1)
})

test('every try of a write has the same generated key, and another write has another one', async () => {
  await using server = await openCountingServer((_, at) => (at % 3 === 2 ? done : 'cut'))
  const { client } = clientOf(server.baseUrl)
  expect(await write(client)).toEqual({ id: 1 })
  await write(client)
  const keys = server.requests.map(({ headers }) => headers['idempotency-key'])
  expect(keys).toHaveLength(6)
  expect(new Set(keys.slice(0, 3)).size).toBe(1)
  expect(new Set(keys.slice(3)).size).toBe(1)
  expect(new Set(keys).size).toBe(2)
  expect(keys[0]).toMatch(/^[0-9a-f]{32}$/)
  expect(new Set(server.requests.map(({ body }) => body))).toEqual(new Set([JSON.stringify(LIST.body)]))
})

test('a key of the caller is sent instead, as an option or as a header; reads, utilities and clients without retries have none', async () => {
  await using server = await openCountingServer(() => done)
  const { client } = clientOf(server.baseUrl)
  await client.post('/api/client/lists', { ...LIST, idempotencyKey: 'beta-1' })
  await client.post('/api/client/lists', { ...LIST, headers: { 'Idempotency-Key': 'beta-2' } })
  await read(client)
  await search(client)
  await generate(client)
  await write(clientOf(server.baseUrl, { maxRetries: 0 }).client)
  expect(server.requests.map(({ headers }) => headers['idempotency-key'])).toEqual([
    'beta-1',
    'beta-2',
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

test.each<[string, Given, number, number[]]>([
  ['doubles from half a second on, with jitter', away, 0, [500, 1_000, 2_000]],
  ['is at least half of that', away, 0.999_999, [250, 500, 1_000]],
  ['is at most eight seconds', away, 0, [500, 1_000, 2_000, 4_000, 8_000, 8_000]],
  ['is at least that of Retry-After', { status: 503, headers: { 'retry-after': '7' } }, 0, [7_000, 7_000]],
  ['is spread after Retry-After', { status: 429, headers: { 'retry-after': '7' } }, 0.5, [7_250, 7_500]],
  ['is until the date of Retry-After', { status: 503, headers: { 'retry-after': 'Mon, 23 Nov 2026 09:00:20 GMT' } }, 0, [20_000, 0]],
  ['does not depend on a Retry-After that cannot be read', { status: 503, headers: { 'retry-after': 'soon' } }, 0, [500]],
])('the wait %s', async (_, reply, random, waits) => {
  await using server = await openCountingServer(() => reply)
  const { client, clock } = clientOf(server.baseUrl, { maxRetries: waits.length, random: () => random })
  await expect(read(client)).rejects.toThrow(CarillonError)
  expect(clock.waits.map(Math.round)).toEqual(waits)
  expect(server.requests).toHaveLength(waits.length + 1)
})

test('by default a request is sent again twice, and never with `maxRetries` 0', async () => {
  await using server = await openCountingServer(() => away)
  await expect(read(clientOf(server.baseUrl).client)).rejects.toMatchObject({ status: 503 })
  expect(server.requests).toHaveLength(3)
  await expect(read(clientOf(server.baseUrl, { maxRetries: 0 }).client)).rejects.toMatchObject({ status: 503 })
  expect(server.requests).toHaveLength(4)
})

test('a signal ends the wait for the next try, and the call rejects with its reason', async () => {
  await using server = await openCountingServer(() => away)
  const clock = createClientClock()
  const controller = new AbortController()
  const waiting = Promise.withResolvers<void>()
  const client = createClient({
    baseUrl: server.baseUrl,
    clock: {
      ...clock,
      after(ms, run) {
        if (ms < 1_000) waiting.resolve()
        return clock.after(ms, run)
      },
    },
  })
  const call = client.get('/api/client/lists', { signal: controller.signal })
  const rejected = expect(call).rejects.toBe('enough')
  await waiting.promise
  controller.abort('enough')
  await rejected
  expect(server.requests).toHaveLength(1)
  expect(clock.timers()).toBe(0)
})

describe('the time of a try', () => {
  test.each<[string, ClientOptions, CallOptions, number]>([
    ['30 seconds by default', {}, {}, 30_000],
    ['that of the client', { timeoutMs: 5_000 }, {}, 5_000],
    ['that of the call', { timeoutMs: 5_000 }, { timeoutMs: 2_000 }, 2_000],
  ])('is %s', async (_, ofClient, ofCall, ms) => {
    await using server = await openCountingServer(() => 'hang')
    const clock = createClientClock()
    const client = createClient({ baseUrl: server.baseUrl, clock, maxRetries: 0, ...ofClient })
    const call = client.get('/api/client/lists', ofCall)
    const rejected = expect(call).rejects.toMatchObject({ name: 'CarillonError', status: 0, code: 'timeout' })
    await server.reached(1)
    clock.advance(ms - 1)
    expect(clock.timers()).toBe(1)
    clock.advance(1)
    await rejected
    expect(clock.timers()).toBe(0)
  })

  test.each<[string, Blob | string]>([
    ['a file', new Blob(['id\nkim\n'])],
    ['the text of a file', 'id\nkim\n'],
  ])('has no limit by default for the upload of %s', async (_, file) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    await using server = await openCountingServer(async () => {
      await promise
      return done
    })
    const clock = createClientClock()
    const upload = (options: CallOptions, ofClient: ClientOptions = {}) =>
      createClient({ baseUrl: server.baseUrl, clock, maxRetries: 0, ...ofClient }).post('/api/client/lists/{listId}/import', {
        path: { listId: 7 },
        body: file as never,
        headers: { 'content-type': 'text/csv' },
        ...options,
      })
    const call = upload({})
    const limited = [upload({ timeoutMs: HOUR_MS }), upload({}, { timeoutMs: HOUR_MS })]
    const rejected = limited.map((call) => expect(call).rejects.toMatchObject({ code: 'timeout' }))
    await server.reached(3)
    clock.advance(24 * HOUR_MS)
    await Promise.all(rejected)
    resolve()
    expect(await call).toEqual({ id: 1 })
    expect(server.requests).toHaveLength(3)
    expect(clock.timers()).toBe(0)
  })

  test('begins again with each try, and a read or a write with a key that was late is sent again', async () => {
    await using server = await openCountingServer((_, at) => (at === 0 ? 'hang' : done))
    const clock = createClientClock(10_000)
    const call = write(createClient({ baseUrl: server.baseUrl, clock }))
    await server.reached(1)
    clock.advance(30_000)
    expect(await call).toEqual({ id: 1 })
    expect(server.requests).toHaveLength(2)
    expect(clock.timers()).toBe(0)
  })
})

test('a write whose reply is lost takes effect once', async () => {
  await using w = await world()
  // In front of the server, it loses the reply to the first try.
  const forward = forwardTo(w)
  await using server = await openCountingServer(async (request, at) => {
    const reply = await forward(request)
    return at === 0 ? 'cut' : reply
  })
  const { client } = clientOf(server.baseUrl, { apiKey: w.keys.secret })
  const list = await write(client)
  expect(server.requests).toHaveLength(2)
  const { body } = await w.get('/api/client/lists?q=Beta')
  expect(body.results.map(({ id }: { id: number }) => id)).toEqual([list.id])
})

test('each write that takes a key has one, and no other request', async () => {
  const { paths } = JSON.parse(await readFile(new URL('../../openapi.json', import.meta.url), 'utf8'))
  const described = Object.entries<Record<string, { parameters?: { $ref?: string }[] }>>(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [] }]) => ({
      name: `${method} ${path}`,
      isNeeded: needsKey(method, path),
      isTaken: parameters.some(({ $ref }) => $ref?.endsWith('/IdempotencyKey')),
    })),
  )
  expect(described.length).toBeGreaterThan(200)
  const saveNothing = routes.filter(({ audit }) => audit !== undefined && 'none' in audit && audit.none === 'nothing is saved')
  const reads = saveNothing.map(({ method, path }) => `${method.toLowerCase()} ${path}`).filter((name) => name.includes(' /api/client/'))
  expect(reads.length).toBeGreaterThan(0)
  const differing = described.filter(({ isNeeded, isTaken }) => isNeeded !== isTaken)
  expect(differing.map(({ name }) => name).toSorted()).toEqual(reads.toSorted())
})

test('each operation that calls other servers while it runs is known', async () => {
  const acting = routes.filter(({ records }) => records === 'around_call')
  expect(acting.length).toBeGreaterThan(0)
  for (const { method, path } of acting) {
    await using server = await openCountingServer(() => 'cut')
    const { client } = clientOf(server.baseUrl)
    const call = client[method.toLowerCase() as 'post'] as (path: string, options: object) => Promise<unknown>
    await expect(call(path, {}), path).rejects.toThrow(CarillonError)
    expect(server.requests, path).toHaveLength(1)
  }
})
