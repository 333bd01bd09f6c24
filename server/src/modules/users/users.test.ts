import { Type } from 'typebox'
import { describe, expect, test, vi } from 'vitest'
import { besides } from '../../../test/besides.ts'
import { SOON } from '../../../test/wait.ts'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { inTx } from '../../infra/runtime/ctx.ts'
import { unlinkRemoved } from './erasure.ts'

const batch = '/api/client/users/batch'

describe('POST /users/batch', () => {
  test('an invalid item is reported, and the others are saved', async () => {
    await using w = await world()
    const { status, body } = await w.post(batch, [
      { external_id: 'kim' },
      { email: 'nobody@example.com' },
      { external_id: 'lee', email: 'nope' },
      7,
      { external_id: 'max', emial: 'x' },
    ])
    expect(status).toBe(200)
    expect(body).toMatchObject({ succeeded: 1, failed: 4 })
    expect(body.results.map(({ error }: { error?: { code: string } }) => error?.code)).toEqual([
      undefined,
      'resource_missing',
      'parameter_invalid_format',
      'parameter_invalid_format',
      'parameter_unknown',
    ])
    expect(body.results[2]).toEqual({
      index: 2,
      external_id: 'lee',
      error: { code: 'parameter_invalid_format', message: expect.any(String) },
    })
    expect((await w.get('/api/client/users')).body.results).toHaveLength(1)
  })

  test('an item that is no object, one with two faults and one with a long path have messages that say so', async () => {
    await using w = await world()
    const long = `data..${'x'.repeat(1000)}`
    const { body } = await w.post(batch, [5, { external_id: 'kim', email: 5, locale: 5 }, { external_id: 'kim', [long]: 1 }])
    const [none, two, path] = body.results.map(({ error }: { error: object }) => error)
    expect(none).toEqual({ code: 'parameter_invalid_format', message: 'The item must be an object.' })
    expect(two.code).toBe('parameter_invalid_format')
    expect(two.message).toMatch(/`email`.* `locale`/)
    expect(path.message).toMatch(/^The parameter `data\.\.x+` is not a path into `data`\./)
    expect(path.message.length).toBeLessThanOrEqual(500)
  })

  test('two items for the same user get the same id, and the last write wins', async () => {
    await using w = await world()
    const { body } = await w.post(batch, [
      { external_id: 'kim', data: { n: 1, a: 1 } },
      { external_id: 'kim', data: { n: 2 } },
    ])
    expect(body.results[0].user.data).toEqual({ n: 1, a: 1 })
    expect(body.results[1].user).toMatchObject({ id: body.results[0].user.id, data: { n: 2, a: 1 } })
  })

  test('an anonymous user and an identified one become one user', async () => {
    await using w = await world()
    await w.post(batch, [
      { anonymous_id: 'a', data: { seen: true } },
      { external_id: 'kim', email: 'kim@example.com' },
    ])
    const { body } = await w.post(batch, [{ anonymous_id: 'a', external_id: 'kim' }])
    expect(body.results[0].user).toMatchObject({ external_id: 'kim', anonymous_id: 'a', email: 'kim@example.com', data: { seen: true } })
    expect((await w.get('/api/client/users')).body.results).toHaveLength(1)
    expect((await w.get('/api/client/users/a')).status).toBe(404)
  })

  test('an anonymous user shows its anonymous id as external id and is found by it', async () => {
    await using w = await world()
    await w.post(batch, [{ anonymous_id: 'a' }])
    expect((await w.get('/api/client/users/a')).body).toMatchObject({ external_id: 'a', anonymous_id: 'a' })
  })

  test.each([
    [{}, 'parameter_invalid_format'],
    [[], 'parameter_invalid_empty'],
    [Array.from({ length: 101 }, (_, index) => ({ external_id: `u${index}` })), 'validation_failed'],
  ])('the envelope %# is refused as a whole', async (body, code) => {
    await using w = await world()
    expect((await w.post(batch, body)).body).toMatchObject({ code, error: { param: 'body' } })
  })

  test('updated_at changes only when something changed', async () => {
    await using w = await world()
    await w.post(batch, [{ external_id: 'kim', data: { a: 1 } }])
    w.advance('1 hour')
    const same = await w.post(batch, [{ external_id: 'kim', data: { a: 1 } }])
    expect(same.body.results[0].user.updated_at).toBe('2026-11-23T09:00:00.000Z')
    const changed = await w.post(batch, [{ external_id: 'kim', data: { a: 2 } }])
    expect(changed.body.results[0].user.updated_at).toBe('2026-11-23T10:00:00.000Z')
  })

  test('a local phone number takes its country from the locale of the item, the user or the project', async () => {
    await using w = await world()
    const { body } = await w.post(batch, [
      { external_id: 'au', phone: '0400 123 456' },
      { external_id: 'de', locale: 'de_DE' },
      { external_id: 'de', phone: '0151 23456789' },
      { external_id: 'us', phone: '(415) 555-2671', locale: 'en-US' },
    ])
    expect(body.results.map(({ user }: { user: { phone: string | null } }) => user.phone)).toEqual([
      '+61400123456',
      null,
      '+4915123456789',
      '+14155552671',
    ])
  })

  test('attributes above the caller’s role are in no reply', async () => {
    await using w = await world()
    await w.put('/api/client/attributes/salary', { min_role: 'admin' })
    await w.put('/api/client/attributes/secret', { hidden: true })
    const { body } = await w.post(batch, [{ external_id: 'kim', data: { salary: 1, secret: 2, plan: 'pro' } }], { key: w.keys.editor })
    expect(body.results[0].user.data).toEqual({ plan: 'pro' })
    expect((await w.get('/api/client/users/kim')).body.data).toEqual({ salary: 1, plan: 'pro' })
  })

  test('personal data is in no reply to the role support, unless the register names another role', async () => {
    await using w = await world()
    await w.put('/api/client/attributes/birthday', { personal_data: true, label: ' Birthday ' })
    await w.put('/api/client/attributes/nickname', { personal_data: true, min_role: 'support' })
    await w.put('/api/client/attributes/salary', { personal_data: true, min_role: 'admin' })
    await w.post(batch, [{ external_id: 'kim', data: { birthday: '1990-02-03', nickname: 'K', salary: 1 } }])
    const seen = async (key: string) => Object.keys((await w.get('/api/client/users/kim', { key })).body.data)
    expect(await seen(w.keys.support)).toEqual(['nickname'])
    expect((await seen(w.keys.editor)).toSorted()).toEqual(['birthday', 'nickname'])
    expect((await w.get('/api/client/attributes')).body.results[0]).toEqual({
      key: 'birthday',
      min_role: null,
      hidden: false,
      end_user: false,
      label: 'Birthday',
      personal_data: true,
    })
  })

  test('the characters of a key are counted, not their UTF-16 units', async () => {
    await using w = await world()
    const [longest, longer] = ['🙂'.repeat(255), '🙂'.repeat(256)] as const
    const { body } = await w.post(batch, [
      { external_id: 'kim', data: { [longest]: 1 } },
      { external_id: 'lee', data: { [longer]: 1 } },
    ])
    expect(body.results.map(({ error }: any) => error?.message)).toEqual([
      undefined,
      'The parameter `data` may only have keys of 1 to 255 characters.',
    ])
    expect((await w.put(`/api/client/attributes/${encodeURIComponent(longest)}`, { min_role: 'editor' })).status).toBe(200)
    await w.post('/api/client/events', [{ external_id: 'kim', name: 'seen', data: { [longest]: 2 }, user: { data: { [longest]: 3 } } }])
    await w.drain()
    expect((await w.get('/api/client/users/kim')).body.data).toEqual({ [longest]: 3 })
  })

  test('every fault of an item is listed, with its parameter', async () => {
    await using w = await world()
    const wrong = { external_id: 'kim', email: 'nope', timezone: 'Mars/Base', plan: 'pro' }
    const { body } = await w.post(batch, [wrong])
    const [several] = body.results.map(({ error }: any) => error)
    expect(several.code).toBe('validation_failed')
    expect(several.errors.map(({ code, param }: any) => [code, param])).toEqual([
      ['parameter_unknown', 'plan'],
      ['parameter_invalid_format', 'email'],
      ['parameter_invalid_format', 'timezone'],
    ])
    for (const { message } of several.errors) expect(several.message).toContain(message)
  })

  test('data over 64 KiB after merging is refused and changes nothing', async () => {
    await using w = await world()
    await w.post(batch, [{ external_id: 'kim', data: { a: 'x'.repeat(40_000) } }])
    const { body } = await w.post(batch, [{ external_id: 'kim', email: 'kim@example.com', data: { b: 'y'.repeat(40_000) } }])
    expect(body.results[0].error.code).toBe('validation_failed')
    expect((await w.get('/api/client/users/kim')).body.email).toBeNull()
  })
})

test('PATCH /users is refused as a whole when an item is invalid, and applied in order otherwise', async () => {
  await using w = await world()
  const refused = await w.patch('/api/client/users', [{ external_id: 'kim' }, { external_id: 'lee', email: 'nope' }, {}])
  expect(refused.status).toBe(422)
  expect(refused.body.error.errors.map(({ param }: { param: string }) => param)).toEqual(['[1].email', '[2]'])
  const taken = await w.patch('/api/client/users', [
    { external_id: 'kim', data: { n: 1 } },
    { external_id: 'kim', data: { n: 2 } },
  ])
  expect([taken.status, taken.text, taken.headers['content-type']]).toEqual([204, '', undefined])
  await w.drain()
  expect((await w.get('/api/client/users/kim')).body.data).toEqual({ n: 2 })
  expect((await w.get('/api/client/users')).body.results).toHaveLength(1)
})

test('twenty clients that write the same users at once get no errors, and every id belongs to one user', async () => {
  await using w = await world()
  const requests = Array.from({ length: 20 }, (_, client) =>
    w.post(batch, [
      { anonymous_id: `a${client % 4}`, data: { [`c${client}`]: 1 } },
      { external_id: `x${client % 3}` },
      { anonymous_id: `a${client % 4}`, external_id: `x${client % 3}` },
      { external_id: `x${(client + 1) % 3}`, anonymous_id: `b${client % 5}` },
    ]),
  )
  for (const { status, body } of await Promise.all(requests)) expect([status, body.failed]).toEqual([200, 0])
  const Row = Type.Object({ count: Type.Integer() })
  const dangling = await w.db.first(
    Row,
    sql`select count(*) as count from user_anonymous_ids a join users u on u.id = a.user_id
        where a.project_id = ${w.projectId} and u.merged_into is not null`,
  )
  expect(dangling?.count).toBe(0)
  const { body } = await w.get('/api/client/users?limit=-1')
  const identified = body.results.map(({ external_id }: { external_id: string }) => external_id).sort()
  expect(identified).toEqual(['x0', 'x1', 'x2'])
})

describe('a path as a member of an item (D-F-12)', () => {
  const data = { address: { city: 'Perth', zip: 6000 }, 'a.b': 1, list: [1] }
  const items: [string, Record<string, unknown>, Record<string, unknown>][] = [
    ['sets one value', { 'data.address.city': 'Hobart' }, { ...data, address: { city: 'Hobart', zip: 6000 } }],
    ['creates objects', { 'data.x.y.z': null, 'data.x.y.w': 1 }, { ...data, x: { y: { w: 1 } } }],
    ['removes a value', { 'data.address.zip': null }, { ...data, address: { city: 'Perth' } }],
    ['removes nothing that is not there', { 'data.none.zip': null }, data],
    ['replaces what is no object', { 'data.list.city': 'Hobart' }, { ...data, list: { city: 'Hobart' } }],
    ['names a key with a dot', { 'data.a\\.b': 2 }, { ...data, 'a.b': 2 }],
    ['is no key of data', { data: { 'address.city': 2 } }, { ...data, 'address.city': 2 }],
    ['comes after data', { 'data.address.city': 'Hobart', data: { address: {} } }, { ...data, address: { city: 'Hobart' } }],
    ['can name __proto__', { 'data.__proto__.x': 1 }, { ...data, ['__proto__']: { x: 1 } }],
  ]

  test.each(items)('%s, in a batch, in PATCH and in an event', async (_, item, expected) => {
    await using w = await world()
    await w.post(
      batch,
      ['kim', 'ana', 'lee'].map((external_id) => ({ external_id, data })),
    )
    expect((await w.post(batch, [{ external_id: 'kim', ...item }])).body.failed).toBe(0)
    expect((await w.patch('/api/client/users', [{ external_id: 'ana', ...item }])).status).toBe(204)
    expect((await w.post('/api/client/events', [{ name: 'seen', external_id: 'lee', user: item }])).status).toBe(204)
    await w.drain()
    for (const name of ['kim', 'ana', 'lee']) {
      expect(JSON.parse(JSON.stringify((await w.get(`/api/client/users/${name}`)).body.data))).toEqual(expected)
    }
  })

  test.each([
    [{ 'data.': 1 }, 'parameter_invalid_format'],
    [{ 'data.a..b': 1 }, 'parameter_invalid_format'],
    [{ [`data${'.a'.repeat(17)}`]: 1 }, 'parameter_invalid_format'],
    [{ 'data.big': 'x'.repeat(70_000) }, 'validation_failed'],
    [{ [`data${'.a'.repeat(16)}`]: { b: { c: 1 } } }, 'validation_failed'],
    [{ 'user.data.a': 1 }, 'parameter_unknown'],
  ])('%j is refused', async (item, code) => {
    await using w = await world()
    expect((await w.post(batch, [{ external_id: 'kim', ...item }])).body.results[0].error.code).toBe(code)
    expect((await w.patch('/api/client/users', [{ external_id: 'kim', ...item }])).body.code).toBe(code)
    const event = (await w.post('/api/client/events', [{ name: 'seen', external_id: 'kim', user: item }])).body
    expect(event.code).toBe(code)
    expect(event.error.param).toMatch(/^\[0\]\.user\./)
    expect(event.message).toContain('`[0].user.')
  })

  test('is the path that rules and templates read', async () => {
    await using w = await world()
    const rule = {
      all: [
        { attribute: 'data.address.city', is: 'Hobart' },
        { attribute: 'data.a\\.b', is: 2 },
      ],
    }
    const { body: list } = await w.post('/api/client/lists', { name: 'Path', type: 'dynamic', rule })
    await w.post(batch, [{ external_id: 'kim', 'data.address.city': 'Hobart', 'data.a\\.b': 2 }])
    await w.drain()
    expect((await w.get(`/api/client/lists/${list.id}/users`)).body.results).toHaveLength(1)
    const [type] = (await w.get('/api/client/subscriptions')).body.results
    const campaign = (await w.post('/api/client/campaigns', { type: 'trigger', name: 'x', subscription_id: type.id, event_name: 'x' })).body
    const path = `/api/client/campaigns/${campaign.id}`
    await w.put(`${path}/templates/en`, {
      subject: '{{ user.data.address.city }} {{ user.data.a\\.b }}',
      html: 'x',
      required: ['user.data.a\\.b'],
    })
    expect((await w.post(`${path}/preview`, { user: 'kim' })).body.content.subject).toBe('Hobart 2')
    await w.post(batch, [{ external_id: 'kim', 'data.address.city': 'Perth' }])
    await w.drain()
    expect((await w.get(`/api/client/lists/${list.id}/users`)).body.results).toHaveLength(0)
  })
})

test('a batch, PATCH and events with the same users at once, on several workers, lose nothing', async () => {
  await using w = await world()
  const users = Array.from({ length: 12 }, (_, index) => index)
  const work = users.flatMap((index) => [
    w.post(batch, [{ external_id: `x${index % 6}`, data: { [`batch${index}`]: 1 } }]),
    w.patch('/api/client/users', [{ anonymous_id: `a${index % 6}`, external_id: `x${index % 6}`, data: { [`patch${index}`]: 1 } }]),
    w.post('/api/client/events', [{ anonymous_id: `a${index % 6}`, name: 'seen', user: { data: { [`event${index}`]: 1 } } }]),
  ])
  const drains = [w.drain(), w.drain(), w.drain()]
  for (const { status } of await Promise.all(work)) expect(status).toBeLessThan(300)
  await Promise.all(drains)
  await w.drain()
  const { body } = await w.get('/api/client/users?limit=100')
  expect(body.results).toHaveLength(6)
  for (const user of body.results) {
    const own = Number(user.external_id.slice(1))
    const expected = [own, own + 6].flatMap((index) => [`batch${index}`, `event${index}`, `patch${index}`]).sort()
    expect(Object.keys(user.data).sort()).toEqual(expected)
  }
})

describe('GET /users', () => {
  test('q finds a substring of the four searched fields in any case, and nothing else', async () => {
    await using w = await world()
    await w.post(batch, [
      { external_id: 'cust-100%', email: 'Jane.Doe@x.com', phone: '+61400123456', data: { note: 'needle' } },
      { anonymous_id: 'device_77', email: 'other@y.org' },
    ])
    const found = async (q: string) =>
      (await w.get(`/api/client/users?q=${encodeURIComponent(q)}`)).body.results.map(
        ({ external_id }: { external_id: string }) => external_id,
      )
    expect(await found('JANE')).toEqual(['cust-100%'])
    expect(await found('0%')).toEqual(['cust-100%'])
    expect(await found('%')).toEqual(['cust-100%'])
    expect(await found('_')).toEqual(['device_77'])
    expect(await found('0400 123')).toEqual([])
    expect(await found('(400) 123-456')).toEqual(['cust-100%'])
    expect(await found('+61/400/123-456')).toEqual(['cust-100%'])
    expect(await found(' +61400 ')).toEqual(['cust-100%'])
    expect(await found('needle')).toEqual([])
    expect(await found('device')).toEqual(['device_77'])
  })

  test('a merged or erased user is in no list, search or reply', async () => {
    await using w = await world()
    await w.post(batch, [{ anonymous_id: 'a', email: 'gone@example.com' }, { external_id: 'kim' }, { external_id: 'lee' }])
    await w.post(batch, [{ anonymous_id: 'a', external_id: 'kim' }])
    expect((await w.delete('/api/client/users/lee')).status).toBe(204)
    expect((await w.delete('/api/client/users/lee')).status).toBe(404)
    expect((await w.get('/api/client/users')).body.results.map(({ external_id }: { external_id: string }) => external_id)).toEqual(['kim'])
    expect((await w.get('/api/client/users?q=lee')).body.results).toEqual([])
    await w.post(batch, [{ external_id: 'lee' }])
    expect((await w.get('/api/client/users/lee')).body).toMatchObject({ email: null })
  })
})

describe('erasure', () => {
  test('deletes every row about the user and no other', async () => {
    await using w = await world()
    await w.users('kim', 'lee')
    await w.post('/api/client/devices', { external_id: 'kim', device_id: 'd1', token: 't1' })
    await w.post('/api/client/events', [
      { external_id: 'kim', anonymous_id: 'a', name: 'x' },
      { external_id: 'lee', name: 'x' },
    ])
    await w.drain()
    await w.delete('/api/client/users/kim')
    await w.drain()
    const Row = Type.Object({ left: Type.Integer() })
    const left = async (table: string) =>
      (
        await w.ctx.db.first(
          Row,
          sql`select count(*) as left from ${{ users: sql`users`, events: sql`events`, devices: sql`devices`, user_search: sql`user_search`, user_anonymous_ids: sql`user_anonymous_ids` }[table]} where project_id = ${w.projectId}`,
        )
      )?.left
    expect([
      await left('users'),
      await left('events'),
      await left('devices'),
      await left('user_search'),
      await left('user_anonymous_ids'),
    ]).toEqual([1, 2, 0, 1, 0])
  })

  test('of a user whose merged visitor had the same addresses finishes', async () => {
    await using w = await world()
    const addresses = { email: 'ana@example.com', phone: '+61412345678' }
    await w.post(batch, [
      { anonymous_id: 'v', ...addresses },
      { external_id: 'ana', ...addresses },
    ])
    await w.post(batch, [{ external_id: 'ana', anonymous_id: 'v' }])
    const { status, headers } = await w.delete('/api/client/users/ana')
    expect(status).toBe(204)
    await w.drain()
    expect((await w.get(headers.location as string)).body.state).toBe('finished')
  })
})

test.each([
  [['kim c', 'kim a', 'kim b'], 'a'],
  [['kim a', 'lee a', 'kim c', 'kim a', 'kim b'], 'a'],
])('after the links %j of one batch, a user who loses the last anonymous id shows the one linked before it: %s', async (links, shown) => {
  await using w = await world()
  const linked = (link: string) => ({ external_id: link.split(' ')[0], anonymous_id: link.split(' ')[1] })
  await w.post(batch, links.map(linked))
  await w.post(batch, [linked('lee b')])
  expect((await w.get('/api/client/users/kim')).body.anonymous_id).toBe(shown)
})

describe('devices', () => {
  test('a device and its token belong to the user who registered them last', async () => {
    await using w = await world()
    await w.users('kim', 'lee')
    const first = await w.post('/api/client/devices', { external_id: 'kim', device_id: 'd1', token: 't1', os: 'iOS' })
    expect(first.body).toMatchObject({ device_id: 'd1', has_token: true, os: 'iOS' })
    expect(first.text).not.toContain('"t1"')
    expect((await w.get('/api/client/users/kim')).body).toMatchObject({ has_push_device: true, devices: [{ device_id: 'd1' }] })
    await w.post('/api/client/devices', { external_id: 'lee', device_id: 'd2', token: 't1' })
    expect((await w.get('/api/client/users/kim')).body).toMatchObject({ has_push_device: false, devices: [{ has_token: false }] })
    expect((await w.get('/api/client/users/lee')).body.has_push_device).toBe(true)
  })

  test('with a user token, the device is registered for that user', async () => {
    await using w = await world()
    await w.users('kim')
    const headers = { 'x-service-user-token': await w.token('kim') }
    const registered = await w.post('/api/client/devices', { device_id: 'd1', token: 't' }, { key: w.keys.public, headers })
    expect(registered.status).toBe(200)
    expect((await w.get('/api/client/users/me', { key: w.keys.public, headers })).body).toMatchObject({
      external_id: 'kim',
      has_push_device: true,
    })
  })
})

test('with a user token, a device may be registered with ids of that user, and no other', async () => {
  await using w = await world()
  await w.post(batch, [
    { external_id: 'kim', anonymous_id: 'phone' },
    { external_id: 'lee', anonymous_id: 'tablet' },
  ])
  const headers = { 'x-service-user-token': await w.token('kim') }
  const register = (ids: object) => w.post('/api/client/devices', { device_id: 'd1', token: 't', ...ids }, { key: w.keys.public, headers })
  for (const ids of [{ external_id: 'kim' }, { anonymous_id: 'phone' }, { external_id: 'kim', anonymous_id: 'phone' }])
    expect((await register(ids)).status).toBe(200)
  for (const [ids, param] of [
    [{ external_id: 'lee' }, 'external_id'],
    [{ anonymous_id: 'tablet' }, 'anonymous_id'],
    [{ external_id: 'kim', anonymous_id: 'unknown' }, 'anonymous_id'],
  ] as const) {
    const { status, body } = await register(ids)
    expect([status, body.error?.reason, body.error?.param]).toEqual([403, 'other_user', param])
  }
})

test('an attribute that is hidden is hidden from the end user too', async () => {
  await using w = await world()
  await w.post(batch, [{ external_id: 'kim', data: { score: 1, plan: 'pro' } }])
  await w.put('/api/client/attributes/score', { hidden: true, end_user: true })
  await w.put('/api/client/attributes/plan', { end_user: true })
  const headers = { 'x-service-user-token': await w.token('kim') }
  expect((await w.get('/api/client/users/me', { key: w.keys.public, headers })).body.data).toEqual({ plan: 'pro' })
})

test('a visitor who chose the external id of someone who signs up later is not that user', async () => {
  await using w = await world()
  const visit = (name: string) => w.post('/api/client/events', [{ name, anonymous_id: 'customer-7' }], { key: w.keys.public })
  expect((await visit('before')).status).toBe(204)
  await w.drain()
  const headers = { 'x-service-user-token': await w.token('customer-7') }
  await w.post('/api/client/devices', { device_id: 'd', token: 't' }, { key: w.keys.public, headers })
  await w.post(batch, [{ external_id: 'customer-7', email: 'kim@example.com' }])
  await w.post('/api/client/events', [{ name: 'order', external_id: 'customer-7' }])
  await visit('after')
  await w.drain()
  expect((await w.get('/api/client/users/me', { key: w.keys.public, headers })).body).toMatchObject({ email: null, has_push_device: true })
  expect((await w.get('/api/client/users/customer-7')).body).toMatchObject({
    email: 'kim@example.com',
    has_push_device: false,
    devices: [],
  })
  const { results } = (await w.get('/api/client/users/customer-7/events')).body
  expect(results.map(({ name }: { name: string }) => name).sort()).toEqual(['order', 'user_created'])
})

describe('user tokens', () => {
  test('expire after 15 minutes, and follow a merge', async () => {
    await using w = await world()
    await w.post(batch, [{ anonymous_id: 'a' }, { external_id: 'kim' }])
    const headers = { 'x-service-user-token': await w.token('a') }
    const me = () => w.get('/api/client/users/me', { key: w.keys.public, headers })
    expect((await me()).body.external_id).toBe('a')
    await w.post(batch, [{ anonymous_id: 'a', external_id: 'kim' }])
    expect((await me()).body.external_id).toBe('kim')
    w.advance('15 minutes')
    expect((await me()).body.error.reason).toBe('user_token_expired')
  })

  test('of a user who is merged before an event with one is applied: the event is that of the user who remains', async () => {
    await using w = await world()
    await w.post(batch, [{ anonymous_id: 'v' }, { external_id: 'ana' }])
    const headers = { 'x-service-user-token': await w.token('v') }
    const send = (name: string, data: object) => w.post('/api/client/events', [{ name, user: { data } }], { key: w.keys.public, headers })
    expect((await send('cart', { before: 1 })).status).toBe(204)
    await w.post(batch, [{ external_id: 'ana', anonymous_id: 'v' }])
    await w.drain()
    const users = async () => (await w.get('/api/client/users')).body.results
    expect(await users()).toMatchObject([{ external_id: 'ana', data: { before: 1 } }])
    const events = await w.get('/api/client/users/ana/events')
    expect(JSON.stringify(events.body)).toContain('cart')
  })

  test('of a user whom an item of the same batch merges', async () => {
    await using w = await world()
    await w.post(batch, [{ anonymous_id: 'v' }, { external_id: 'ana' }])
    const headers = { 'x-service-user-token': await w.token('v') }
    await w.patch('/api/client/users', [{ external_id: 'ana', anonymous_id: 'v' }])
    await w.post('/api/client/events', [{ name: 'cart', user: { data: { seen: 1 } } }], { key: w.keys.public, headers })
    await w.drain()
    expect((await w.get('/api/client/users')).body.results).toMatchObject([{ external_id: 'ana', data: { seen: 1 } }])
  })

  test('of a user who is gone when an event with one is applied create nobody', async () => {
    await using w = await world()
    await w.post(batch, [{ anonymous_id: 'v' }])
    const headers = { 'x-service-user-token': await w.token('v') }
    await w.post('/api/client/events', [{ name: 'cart', user: { data: { seen: 1 } } }], { key: w.keys.public, headers })
    const [anonymous] = (await w.get('/api/client/users')).body.results
    await inTx(w.ctx, (ctx) => unlinkRemoved(ctx, [anonymous.id]))
    await w.db.run(sql`delete from users where project_id = ${w.projectId} and id = ${anonymous.id}`)
    await w.drain()
    expect((await w.get('/api/client/users')).body.results).toEqual([])
    const parked = await w.db.first(
      Type.Object({ count: Type.Integer() }),
      sql`select count(*) as count from parked_items where project_id = ${w.projectId}`,
    )
    expect(parked?.count).toBe(0)
  })

  test('name the key that signed them, show nothing of its secret, and are valid while the key is one of several', async () => {
    const [old, fresh] = ['old:first-secret-of-more-than-32-characters', 'new:second-secret-of-more-than-32-characters']
    const me = async (w: World, { keys }: World, token: string) =>
      (await w.get('/api/client/users/me', { key: keys.public, headers: { 'x-service-user-token': token } })).status
    await using before = await world({ env: { SESSION_JWT_KEYS: old } })
    await using after = await world({ env: { SESSION_JWT_KEYS: `${fresh},${old}` } })
    await before.users('kim')
    const token = await before.token('kim')
    expect(JSON.parse(Buffer.from(token.split('.')[0] as string, 'base64url').toString())).toEqual({ alg: 'HS256', typ: 'JWT', kid: 'old' })
    expect([await me(before, before, token), await me(after, before, token)]).toEqual([200, 200])
    await after.users('lee')
    const newer = await after.token('lee')
    expect([await me(before, after, newer), await me(after, after, newer)]).toEqual([401, 200])
  })

  test('of another project, altered ones, and keys in their place are refused', async () => {
    await using w = await world()
    await w.users('kim')
    const token = await w.token('kim')
    const other = await w.other()
    const me = async (key: string, value: string) =>
      (await w.get('/api/client/users/me', { key, headers: { 'x-service-user-token': value } })).body.error?.reason
    expect(await me(other.keys.public, token)).toBe('user_token_invalid')
    expect(await me(w.keys.public, `${token.slice(0, -2)}xx`)).toBe('user_token_invalid')
    expect(await me(w.keys.public, w.keys.secret)).toBe('user_token_invalid')
    await w.delete('/api/client/users/kim')
    expect(await me(w.keys.public, token)).toBe('user_token_invalid')
  })
})

test('an id that is linked while an erasure waits for the user is deleted too', async () => {
  await using w = await world()
  const Count = Type.Object({ count: Type.Integer() })
  const [saved] = (await w.post(batch, [{ external_id: 'kim' }])).body.results
  const erasure = await w.db.transaction(async (db) => {
    await db.run(sql`select id from users where project_id = ${w.projectId} and id = ${saved.user.id} for update`)
    const waiting = w.delete('/api/client/users/kim')
    await vi.waitFor(async () => {
      const row = await w.db.first(
        Count,
        sql`select count(*) as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      expect(row?.count).toBe(1)
    }, SOON)
    await db.run(
      sql`insert into user_anonymous_ids (project_id, anonymous_id, user_id, linked_at)
          values (${w.projectId}, 'late', ${saved.user.id}, ${w.clock.now()})`,
    )
    return { waiting }
  })
  expect((await erasure.waiting).status).toBe(204)
  const left = await w.db.first(Count, sql`select count(*) as count from user_anonymous_ids where project_id = ${w.projectId}`)
  expect(left?.count).toBe(0)
})

test('an erasure that waited for a merge or another erasure of the user is a 404 without a receipt', async () => {
  await using w = await world()
  const { body } = await w.post(batch, [{ external_id: 'kim' }, { anonymous_id: 'v' }, { external_id: 'lee' }])
  const [kim, anonymous, lee] = body.results.map((result: { user: { id: number } }) => result.user.id)
  const erased = sql`update users set erase_requested_at = ${w.clock.now()} where project_id = ${w.projectId} and id = ${lee}`
  expect((await besides(w, erased, () => w.delete('/api/client/users/lee'))).status).toBe(404)
  const merged = sql`update users set merged_into = ${kim} where project_id = ${w.projectId} and id = ${anonymous}`
  expect((await besides(w, merged, () => w.delete('/api/client/users/v'))).status).toBe(404)
  const Row = Type.Object({ receipts: Type.Integer(), marked: Type.Integer() })
  const left = await w.db.first(
    Row,
    sql`select (select count(*) from erasures where project_id = ${w.projectId}) as receipts,
               (select count(*) from users where project_id = ${w.projectId} and id = ${anonymous} and erase_requested_at is not null) as marked`,
  )
  expect(left).toEqual({ receipts: 0, marked: 0 })
})

test('an anonymous id of an erased user is free', async () => {
  await using w = await world()
  const [saved] = (await w.post(batch, [{ external_id: 'kim', anonymous_id: 'tablet' }])).body.results
  await w.db.run(sql`update users set erase_requested_at = ${w.clock.now()} where project_id = ${w.projectId} and id = ${saved.user.id}`)
  const { body } = await w.post(batch, [{ external_id: 'lee', anonymous_id: 'tablet' }])
  expect(body.results[0].user).toMatchObject({ external_id: 'lee', anonymous_id: 'tablet' })
})
