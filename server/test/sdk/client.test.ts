/** What a client takes from where it runs, and what it gives besides the body of a reply. */
import { afterEach, describe, expect, test, vi } from 'vitest'
import { CarillonError, createClient, each, etagOf } from '../../../sdk/src/index.ts'
import { world } from '../world.ts'
import { forwardTo, openCountingServer, refusal } from './counting-server.ts'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
})

const done = { status: 200, body: { results: [], nextCursor: null } }

describe('the address and the key', () => {
  test('are those of the environment', async () => {
    await using server = await openCountingServer(() => done)
    vi.stubEnv('CARILLON_URL', `${server.baseUrl}/`)
    vi.stubEnv('CARILLON_API_KEY', 'sk_of_the_environment')
    await createClient().get('/api/client/users')
    expect(server.requests[0]).toMatchObject({ url: '/api/client/users', headers: { authorization: 'Bearer sk_of_the_environment' } })
  })

  test('are rather those of the options', async () => {
    await using server = await openCountingServer(() => done)
    vi.stubEnv('CARILLON_URL', 'http://127.0.0.1:1')
    vi.stubEnv('CARILLON_API_KEY', 'sk_of_the_environment')
    await createClient({ baseUrl: server.baseUrl, apiKey: 'sk_of_the_options' }).get('/api/client/users')
    expect(server.requests[0]?.headers.authorization).toBe('Bearer sk_of_the_options')
  })

  test('are none where there is no environment, or one that may not be read', async () => {
    await using server = await openCountingServer(() => done)
    vi.stubGlobal('process', undefined)
    const without = createClient({ baseUrl: server.baseUrl })
    const env = new Proxy({}, { get: () => expect.fail('not allowed') })
    vi.stubGlobal('process', { env })
    const denied = createClient({ baseUrl: server.baseUrl })
    vi.unstubAllGlobals()
    await without.get('/api/client/users')
    await denied.get('/api/client/users')
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined])
  })
})

describe('a browser', () => {
  test.each(['sk_0123456789', 'ok_0123456789'])('does not get a client with the key %s', (apiKey) => {
    vi.stubGlobal('window', { document: {} })
    expect(() => createClient({ apiKey })).toThrow('Use a publishable key')
    vi.stubEnv('CARILLON_API_KEY', apiKey)
    expect(() => createClient()).toThrow('Use a publishable key')
  })

  test('gets one with a publishable key, and without a key', () => {
    vi.stubGlobal('window', { document: {} })
    vi.stubGlobal('location', new URL('https://shop.example/cart'))
    expect(() => createClient({ apiKey: 'pk_0123456789' })).not.toThrow()
    expect(() => createClient()).not.toThrow()
  })
})

describe('a worker', () => {
  const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
  const apiKey = 'sk_0123456789'

  test('of a browser does not get a client with a secret key', () => {
    vi.stubGlobal('WorkerGlobalScope', class {})
    vi.stubGlobal('navigator', { userAgent: FIREFOX })
    expect(() => createClient({ baseUrl: 'https://carillon.example', apiKey })).toThrow('Use a publishable key')
  })

  test.each(['Cloudflare-Workers', 'Deno/2.5.0', 'Bun/1.3.0', undefined])(
    'of the platform %s, which is no browser, gets one',
    (userAgent) => {
      vi.stubGlobal('WorkerGlobalScope', class {})
      vi.stubGlobal('navigator', { userAgent })
      expect(() => createClient({ baseUrl: 'https://carillon.example', apiKey })).not.toThrow()
    },
  )
})

test.each([{}, { baseUrl: '' }])('without an address, and a page that has one, there is no client: %j', (options) => {
  vi.stubEnv('CARILLON_URL', '')
  expect(() => createClient(options)).toThrow('`CARILLON_URL`')
})

test.each(['.', '..', ''])('a path with the parameter %j, which no URL can carry, is not requested', async (userId) => {
  await using server = await openCountingServer(() => done)
  const deleted = createClient({ baseUrl: server.baseUrl }).delete('/api/client/users/{userId}', { path: { userId } })
  await expect(deleted).rejects.toThrow(CarillonError)
  await expect(deleted).rejects.toThrow('`userId`')
  expect(server.requests).toEqual([])
})

describe('with a server', () => {
  test('a whole answer has the status, the headers and the request id, also if there is no body', async () => {
    await using w = await world()
    await using server = await openCountingServer(forwardTo(w))
    const client = createClient({ baseUrl: server.baseUrl, apiKey: w.keys.secret })
    const created = await client.post('/api/client/lists', { body: { name: 'Beta', type: 'static' } }).withResponse()
    expect(created).toMatchObject({ status: 201, body: { name: 'Beta' }, requestId: created.headers.get('x-request-id') })
    expect(created.requestId).toMatch(/^req_/)
    const read = await client.get('/api/client/lists/{listId}', { path: { listId: created.body.id } }).withResponse()
    expect(read.headers.get('etag')).not.toBeNull()
    expect(etagOf(read.body)).toBe(read.headers.get('etag'))
    const tracked = await client.post('/api/client/events', { body: [{ name: 'signed_up', external_id: 'kim' }] }).withResponse()
    expect(tracked).toMatchObject({ status: 204, body: null, requestId: expect.stringMatching(/^req_/) })
  })

  test('an error has its code, its faults, its request id and the headers of its reply', async () => {
    await using w = await world()
    await using server = await openCountingServer(forwardTo(w))
    const client = createClient({ baseUrl: server.baseUrl, apiKey: w.keys.secret })
    const error = await client.post('/api/client/lists', { body: { name: '', type: 'static' } }).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(CarillonError)
    expect(error).toMatchObject({ status: 400, code: 'parameter_invalid_empty', param: 'name', faults: [{ param: 'name' }] })
    const { requestId, headers } = error as CarillonError
    expect(requestId).toMatch(/^req_/)
    expect(headers?.get('x-request-id')).toBe(requestId)
  })

  test('every item of a list is read once, a page at a time and only as far as it is wanted', async () => {
    await using w = await world()
    const names = Array.from({ length: 205 }, (_, at) => `user-${String(at).padStart(3, '0')}`)
    for (let at = 0; at < names.length; at += 100) await w.users(...names.slice(at, at + 100))
    await using server = await openCountingServer(forwardTo(w))
    const client = createClient({ baseUrl: server.baseUrl, apiKey: w.keys.secret })
    const found: (string | null)[] = []
    for await (const { external_id } of each(client, '/api/client/users')) found.push(external_id)
    expect(found.toSorted()).toEqual(names)
    expect(server.requests).toHaveLength(3)

    for await (const { external_id } of each(client, '/api/client/users', { query: { limit: 2, sort: 'external_id', q: 'user-1' } })) {
      if (external_id === 'user-102') break
    }
    const pages = server.requests.slice(3).map(({ url }) => new URL(url, 'http://localhost').searchParams)
    expect(pages.map((page) => [page.get('limit'), page.get('q'), page.has('cursor')])).toEqual([
      ['2', 'user-1', false],
      ['2', 'user-1', true],
    ])

    for await (const _ of each(client, '/api/client/users', { query: { limit: 0 } })) expect.fail('has an item')
  })
})

test('a failure of a whole answer, or of a page, rejects where it is awaited and nowhere else', async () => {
  await using server = await openCountingServer(() => refusal(404, 'resource_missing'))
  const unhandled: unknown[] = []
  const note = (error: unknown) => unhandled.push(error)
  process.on('unhandledRejection', note)
  const client = createClient({ baseUrl: server.baseUrl })
  await expect(client.get('/api/client/users').withResponse()).rejects.toMatchObject({ code: 'resource_missing' })
  await expect(client.get('/api/client/users')).rejects.toMatchObject({ code: 'resource_missing' })
  await expect(each(client, '/api/client/users').next()).rejects.toMatchObject({ code: 'resource_missing' })
  // Rejections without a handler are reported after the microtasks.
  await new Promise(setImmediate)
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})
