/** Limits on publishable keys (D-PK-3). */
import { describe, expect, test } from 'vitest'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { admitNames } from '../../infra/runtime/new-names.ts'

const EVENTS = '/api/client/events'
const SHOP = 'https://shop.example'

const track = (w: World, names: string[], { key = w.keys.public, ...headers }: { key?: string; [header: string]: string } = {}) =>
  w.post(
    EVENTS,
    names.map((name) => ({ name, anonymous_id: 'a' })),
    { key, headers },
  )

describe('allowed_origins', () => {
  const keyFor = async (w: World, allowed_origins?: string[]) =>
    (await w.post('/api/client/keys', { name: 'Web', scope: 'public', ...(allowed_origins && { allowed_origins }) })).body

  test('are those from which requests are accepted', async () => {
    await using w = await world()
    const origins = [SHOP, 'http://localhost:5173', 'https://shop.example:80', 'http://[::1]:8080', 'https://xn--kfer-loa.example']
    const { value, id, allowed_origins } = await keyFor(w, origins)
    expect(allowed_origins).toEqual(origins)
    const fine = await track(w, ['x'], { key: value, origin: SHOP })
    expect([fine.status, fine.headers['access-control-allow-origin'], fine.headers.vary]).toEqual([204, SHOP, 'Origin, Accept-Encoding'])
    for (const headers of [{ origin: 'https://shop.example.evil' }, { origin: 'http://shop.example' }, { origin: 'null' }, {}]) {
      const refused = await track(w, ['x'], { key: value, ...headers })
      expect([refused.status, refused.body.error.reason, refused.headers['access-control-allow-origin']]).toEqual([403, 'origin', '*'])
    }
    expect((await w.get(`/api/client/keys/${id}`)).body.allowed_origins).toEqual(allowed_origins)
    expect((await w.patch(`/api/client/keys/${id}`, { allowed_origins: [] })).body.allowed_origins).toEqual([])
    expect((await track(w, ['x'], { key: value, origin: 'https://elsewhere.example' })).status).toBe(204)
  })

  test('do not keep a preflight from being answered, because it names no key', async () => {
    await using w = await world()
    await keyFor(w, [SHOP])
    const headers = { origin: 'https://elsewhere.example', 'access-control-request-method': 'POST' }
    expect((await w.request('OPTIONS', EVENTS, undefined, { key: null, headers })).status).toBe(204)
  })

  test('do not matter for a key without them, or one that is secret', async () => {
    await using w = await world()
    const { value } = await keyFor(w)
    expect((await track(w, ['x'], { key: value, origin: 'https://anywhere.example' })).headers['access-control-allow-origin']).toBe('*')
    const secret = (await w.post('/api/client/keys', { name: 'Server', scope: 'secret', role: 'editor', allowed_origins: [SHOP] })).body
    expect((await track(w, ['x'], { key: secret.value })).status).toBe(204)
  })

  test.each([
    'shop.example',
    'https://shop.example/',
    'https://shop.example/path',
    'https://Shop.example',
    'https://shop.example:443',
    'http://shop.example:80',
    'https://shop.example:08443',
    'https://shop.example:99999',
    'http://127.1',
    'http://[0:0:0:0:0:0:0:1]:8080',
    '*',
    'ftp://shop.example',
    '',
  ])('cannot contain %j, which is not an origin as browsers send it', async (origin) => {
    await using w = await world()
    const reply = await w.post('/api/client/keys', { name: 'Web', scope: 'public', allowed_origins: [origin] })
    expect([400, 422]).toContain(reply.status)
    expect(reply.body.error.param).toBe('allowed_origins[0]')
  })
})

test('the requests of an address are limited, and those of other keys and addresses are not', async () => {
  await using w = await world({ env: { RATE_PUBLISHABLE: '0.2', TRUST_PROXY: '127.0.0.1' } })
  const from = (address: string) => track(w, ['x'], { 'x-forwarded-for': address })
  const statuses = [await from('192.0.2.1'), await from('192.0.2.1'), await from('192.0.2.1'), await from('192.0.2.2')]
  expect(statuses.map(({ status }) => status)).toEqual([204, 204, 429, 204])
  expect(statuses[2]?.headers['retry-after']).toBe('5')
  const network = [await from('2001:db8::1'), await from('2001:db8::2'), await from('2001:db8::3'), await from('2001:db8:0:1::1')]
  expect(network.map(({ status }) => status)).toEqual([204, 204, 429, 204])
  expect((await track(w, ['x'], { key: w.keys.secret, 'x-forwarded-for': '192.0.2.1' })).status).toBe(204)
})

describe('new names', () => {
  test('of events are limited per day, and the refusal says which limit and which name', async () => {
    await using w = await world({ env: { NEW_EVENT_NAMES_DAY: '2' } })
    await track(w, ['ours'], { key: w.keys.secret })
    await w.drain('ingest.apply')
    expect([(await track(w, ['ours', 'a', 'a'])).status, (await track(w, ['b', 'a'])).status]).toEqual([204, 204])
    const refused = await track(w, ['a', 'b', 'c'])
    expect([refused.status, refused.body.code, refused.body.error.reason, refused.body.error.param]).toEqual([
      429,
      'quota_exceeded',
      'new_event_names',
      '[2].name',
    ])
    expect(refused.body.message).toMatch(/2 new event names a day .* `c`/)
    expect(refused.headers['retry-after']).toBe(String(15 * 3600))
    expect([(await track(w, ['a', 'b', 'ours'])).status, (await track(w, ['c'], { key: w.keys.secret })).status]).toEqual([204, 204])
    w.advance('15 hours')
    expect((await track(w, ['d'])).status).toBe(204)
    const other = await w.other()
    expect((await track(w, ['e', 'f'], { key: other.keys.public })).status).toBe(204)
  })

  test('are not limited with 0', async () => {
    await using w = await world({ env: { NEW_EVENT_NAMES_DAY: '0' } })
    expect((await track(w, ['a', 'b', 'c'])).status).toBe(204)
  })

  test('more of them in one request than a day allows are refused', async () => {
    await using w = await world({ env: { NEW_EVENT_NAMES_DAY: '2' } })
    expect((await track(w, ['a', 'b', 'c'])).status).toBe(429)
    expect((await track(w, ['a', 'b'])).status).toBe(204)
  })

  test('of the data of events are limited too, and those of events that the project has are free', async () => {
    await using w = await world({ env: { NEW_EVENT_DATA_KEYS_DAY: '2' } })
    const send = (data: object, { key = w.keys.public, name = 'order' } = {}) =>
      w.post(
        EVENTS,
        [
          { name: 'other', anonymous_id: 'a' },
          { name, anonymous_id: 'a', data },
        ],
        { key },
      )
    await send({ total: 1, currency: 'AUD', items: [] }, { key: w.keys.secret })
    await w.drain('ingest.apply')
    expect((await send({ total: 2, currency: 'AUD', a: 1, gone: null, deep: { b: 1 } })).status).toBe(204)
    const refused = await send({ total: 3, c: 1, a: 2 })
    expect([refused.status, refused.body.code, refused.body.error.reason, refused.body.error.param]).toEqual([
      429,
      'quota_exceeded',
      'new_event_data_keys',
      '[1].data',
    ])
    expect(refused.body.message).toMatch(/2 new keys of event data a day .* `c`/)
    const free = [await send({ deep: 1, items: [1] }), await send({ c: 1 }, { key: w.keys.secret })]
    expect(free.map(({ status }) => status)).toEqual([204, 204])
    await w.drain('ingest.apply')
    expect((await send({ c: 2 })).status).toBe(204)
    expect((await send({ d: 1 })).status).toBe(429)
    w.advance('15 hours')
    expect((await send({ d: 1 }, { name: 'unheard-of' })).status).toBe(204)
    const other = await w.other()
    expect((await send({ e: 1, f: 1 }, { key: other.keys.public })).status).toBe(204)
  })

  test('of the data of events are not limited with 0', async () => {
    await using w = await world({ env: { NEW_EVENT_DATA_KEYS_DAY: '0' } })
    const data = (prefix: string) => Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`${prefix}${at}`, 1]))
    const events = ['a', 'b', 'c', 'd'].map((prefix) => ({ name: 'x', anonymous_id: 'a', data: data(prefix) }))
    expect((await w.post(EVENTS, events, { key: w.keys.public })).status).toBe(204)
  })

  test('any number of them in one request is refused after looking up few more than a day allows', async () => {
    await using w = await world()
    const looked: number[] = []
    const used = Array.from({ length: 100_000 }, (_, at) => ({ name: `k${at}`, param: '[0].data' }))
    const alreadyUsed = async ({ length }: string[]) => {
      looked.push(length)
      return []
    }
    const admitted = admitNames(w.ctx, [{ kind: 'event_data', used, alreadyUsed }])
    await expect(admitted).rejects.toThrow('`k0`')
    expect(looked.reduce((sum, length) => sum + length)).toBeLessThanOrEqual(1500)
  })

  test('of a request that is refused take no place of the day', async () => {
    await using w = await world({ env: { NEW_EVENT_NAMES_DAY: '2', NEW_EVENT_DATA_KEYS_DAY: '1' } })
    const send = async (name: string, data: object = {}) => {
      const { status, body } = await w.post(EVENTS, [{ name, anonymous_id: 'a', data }], { key: w.keys.public })
      return status === 204 ? 'accepted' : body.error.reason
    }
    expect(await send('a', { k: 1 })).toBe('accepted')
    expect([await send('b', { l: 1 }), await send('c', { l: 1, m: 1 })]).toEqual(['new_event_data_keys', 'new_event_data_keys'])
    expect([await send('d'), await send('b'), await send('d')]).toEqual(['accepted', 'new_event_names', 'accepted'])
  })

  test('of a request for which there is no room in the queue take none either', async () => {
    await using w = await world({ env: { BACKLOG_ITEMS_MAX: '1', NEW_EVENT_NAMES_DAY: '1' } })
    await w.db.run(sql`delete from queue_entries`)
    expect((await track(w, ['ours'], { key: w.keys.secret })).status).toBe(204)
    w.advance('2 seconds')
    expect((await track(w, ['a'])).body.code).toBe('rate_limited')
    await w.drain('ingest.apply')
    w.advance('2 seconds')
    expect((await track(w, ['b'])).status).toBe(204)
  })

  test('of user attributes are limited too', async () => {
    await using w = await world({ env: { NEW_ATTRIBUTES_DAY: '1' } })
    await w.users('kim')
    await w.put('/api/client/attributes/plan', { end_user: true })
    const token = await w.token('kim')
    const send = (data: object, paths: object = {}) =>
      w.post(EVENTS, [{ name: 'x', user: { data, ...paths } }], { key: w.keys.public, headers: { 'x-service-user-token': token } })
    expect([(await send({ plan: 'pro', a: 1, gone: null })).status, (await send({ a: 2 })).status]).toEqual([204, 204])
    const refused = await send({ a: 3, b: 1 })
    expect([refused.status, refused.body.error.reason, refused.body.error.param]).toEqual([429, 'new_attributes', '[0].user.data'])
    expect(refused.body.message).toContain('`b`')
    expect((await send({}, { 'data.a.x': 1, 'data.gone.y': null })).status).toBe(204)
    const path = await send({}, { 'data.c\\.d.e': 1 })
    expect([path.status, path.body.error.param]).toEqual([429, '[0].user.data.c\\.d.e'])
    expect(path.body.message).toContain('`c.d`')
  })

  test('of attributes that users of a small project have already are none', async () => {
    await using w = await world({ env: { NEW_ATTRIBUTES_DAY: '1' } })
    await w.post('/api/client/users/batch', [{ external_id: 'kim', data: { plan: 'pro', seats: 3, city: 'Perth' } }])
    const headers = { 'x-service-user-token': await w.token('kim') }
    const send = (data: object) => w.post(EVENTS, [{ name: 'x', user: { data } }], { key: w.keys.public, headers })
    expect((await send({ plan: 'free', seats: 4, city: 'Hobart' })).status).toBe(204)
    expect((await send({ other: 1 })).status).toBe(204)
    expect((await send({ another: 1 })).status).toBe(429)
  })
})
