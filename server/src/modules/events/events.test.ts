import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { DISK_FULL, failSaves } from '../../../test/failing-saves.ts'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { listMonths } from './queries.ts'

const EventRow = Type.Object({
  name: Type.String(),
  external_id: Type.Unsafe<string | null>({}),
  created_at: Type.Unsafe<Date>({}),
  partition: Type.String(),
})

/** The events that were sent. System events about users have tests of their own. */
const stored = (w: World) =>
  w.db.many(
    EventRow,
    sql`select e.name, u.external_id, e.created_at, e.tableoid::regclass::text as partition
        from events e join users u on u.id = e.user_id
        where e.project_id = ${w.projectId} and e.name not in ('user_created', 'user_updated') order by e.created_at, e.name`,
  )

const post = (w: World, events: unknown[], options = {}) => w.post('/api/client/events', events, options)

describe('POST /events', () => {
  test.each<[string, unknown, number, string, string | undefined]>([
    ['a single object', { name: 'x', external_id: 'kim' }, 400, 'parameter_invalid_format', 'body'],
    ['an empty array', [], 400, 'parameter_invalid_empty', 'body'],
    ['null as an event', [null], 400, 'parameter_invalid_format', '[0]'],
    ['no name', [{ external_id: 'kim' }], 400, 'parameter_missing', '[0].name'],
    ['a blank name', [{ external_id: 'kim', name: '  ' }], 400, 'parameter_invalid_empty', '[0].name'],
    ['no id', [{ name: 'x' }], 400, 'parameter_missing', '[0]'],
    ['null ids', [{ name: 'x', external_id: null, anonymous_id: null }], 400, 'parameter_missing', '[0]'],
    ['an unknown member', [{ name: 'x', external_id: 'kim', properties: {} }], 400, 'parameter_unknown', '[0].properties'],
    ['an unknown member of user', [{ name: 'x', external_id: 'kim', user: { emial: 'a' } }], 400, 'parameter_unknown', '[0].user.emial'],
    [
      'a date that does not exist',
      [{ name: 'x', external_id: 'kim', created_at: '2026-02-30' }],
      400,
      'parameter_invalid_format',
      '[0].created_at',
    ],
    [
      'an invalid second event',
      [
        { name: 'x', external_id: 'kim' },
        { name: 'x', external_id: 'kim', data: [] },
      ],
      400,
      'parameter_invalid_format',
      '[1].data',
    ],
    ['data over 32 KiB', [{ name: 'x', external_id: 'kim', data: { a: 'x'.repeat(33_000) } }], 422, 'validation_failed', '[0].data'],
    [
      'an invalid phone number',
      [{ name: 'x', external_id: 'kim', user: { phone: '12' } }],
      400,
      'parameter_invalid_format',
      '[0].user.phone',
    ],
  ])('%s is refused and nothing is stored', async (_, body, status, code, param) => {
    await using w = await world()
    const reply = await w.post('/api/client/events', body)
    expect([reply.status, reply.body.code, reply.body.error.param]).toEqual([status, code, param])
    await w.drain()
    expect(await stored(w)).toEqual([])
  })

  test('an accepted event is stored once, with its user, in its month', async () => {
    await using w = await world()
    expect(
      (
        await post(w, [
          { name: 'a', external_id: 'kim' },
          { name: 'b', anonymous_id: 'v', created_at: '2026-11-23T08:00:00+02:00' },
        ])
      ).status,
    ).toBe(204)
    await w.drain()
    await w.drain()
    expect(await stored(w)).toEqual([
      { name: 'b', external_id: null, created_at: new Date('2026-11-23T06:00:00Z'), partition: 'events_2026_11' },
      { name: 'a', external_id: 'kim', created_at: new Date('2026-11-23T09:00:00Z'), partition: 'events_2026_11' },
    ])
  })

  test('an event from 1970 is stored, and one from tomorrow gets the time when it was received', async () => {
    await using w = await world()
    await post(w, [
      { name: 'old', external_id: 'kim', created_at: '1970-01-01' },
      { name: 'soon', external_id: 'kim', created_at: '2026-11-23T09:04:00Z' },
      { name: 'tomorrow', external_id: 'kim', created_at: '2026-11-24T09:00:00Z' },
    ])
    await w.drain()
    expect((await stored(w)).map(({ name, created_at, partition }) => [name, created_at.toISOString(), partition])).toEqual([
      ['old', '1970-01-01T00:00:00.000Z', 'events_past'],
      ['tomorrow', '2026-11-23T09:00:00.000Z', 'events_2026_11'],
      ['soon', '2026-11-23T09:04:00.000Z', 'events_2026_11'],
    ])
  })

  test('the profile of an event is applied in the order of the events', async () => {
    await using w = await world()
    await post(
      w,
      [1, 2, 3].map((n) => ({ name: 'x', external_id: 'kim', user: { email: `kim${n}@example.com`, data: { [`n${n}`]: n } } })),
    )
    await w.drain()
    expect((await w.get('/api/client/users/kim')).body).toMatchObject({ email: 'kim3@example.com', data: { n1: 1, n2: 2, n3: 3 } })
  })

  test('on a shared device, each event belongs to the user who had the id at that moment', async () => {
    await using w = await world()
    await post(w, [
      { name: 'login', anonymous_id: 'tablet', external_id: 'kim' },
      { name: 'kim looks', anonymous_id: 'tablet' },
    ])
    await w.drain()
    await post(w, [
      { name: 'still kim', anonymous_id: 'tablet' },
      { name: 'switch', anonymous_id: 'tablet', external_id: 'lee' },
      { name: 'lee looks', anonymous_id: 'tablet' },
    ])
    await w.drain()
    const owners = Object.fromEntries((await stored(w)).map(({ name, external_id }) => [name, external_id]))
    expect(owners).toEqual({ login: 'kim', 'kim looks': 'kim', 'still kim': 'kim', switch: 'lee', 'lee looks': 'lee' })
  })

  test('a repeated event_id is accepted and ignored for 30 days', async () => {
    await using w = await world()
    const event = { name: 'x', external_id: 'kim', event_id: 'e1' }
    await post(w, [event, event])
    await w.drain()
    w.advance('29 days')
    expect((await post(w, [event])).status).toBe(204)
    await w.drain()
    expect(await stored(w)).toHaveLength(1)
    w.advance('2 days')
    await post(w, [event])
    await w.drain()
    expect(await stored(w)).toHaveLength(2)
  })

  test('a repeat of an event changes no user either: it is ignored with its profile and its ids', async () => {
    await using w = await world()
    const event = {
      name: 'x',
      external_id: 'kim',
      anonymous_id: 'tablet',
      event_id: 'e1',
      user: { email: 'old@example.com', data: { plan: 'free' } },
    }
    await post(w, [event, { ...event, external_id: 'stranger', anonymous_id: null }])
    await w.drain()
    await post(w, [{ name: 'switch', external_id: 'lee', anonymous_id: 'tablet' }])
    await w.post('/api/client/users/batch', [{ external_id: 'kim', email: 'new@example.com', data: { plan: 'pro' } }])
    await w.drain()
    const updatesOf = async () =>
      (await w.get('/api/client/users/kim/events')).body.results.filter(({ name }: { name: string }) => name === 'user_updated').length
    const updates = await updatesOf()
    await post(w, [event])
    await post(w, [{ name: 'who', anonymous_id: 'tablet' }])
    await w.drain()
    expect((await w.get('/api/client/users/kim')).body).toMatchObject({ email: 'new@example.com', data: { plan: 'pro' } })
    expect(await updatesOf()).toBe(updates)
    expect((await w.get('/api/client/users/stranger')).status).toBe(404)
    expect((await stored(w)).map(({ name, external_id }) => [name, external_id]).sort()).toEqual([
      ['switch', 'lee'],
      ['who', 'lee'],
      ['x', 'kim'],
    ])
  })

  test('an event that could not be applied does not use up its event_id', async () => {
    await using w = await world()
    const keys = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`n${at}`, at]))
    await w.post('/api/client/users/batch', [{ external_id: 'kim', data: keys }])
    const event = { name: 'x', external_id: 'kim', event_id: 'e1' }
    await post(w, [{ ...event, user: { data: { more: 1 } } }])
    await w.drain()
    expect(await stored(w)).toEqual([])
    await post(w, [event])
    await w.drain()
    expect(await stored(w)).toHaveLength(1)
  })

  test('an event is applied that was sent again together with the one that could not be, and only once', async () => {
    await using w = await world()
    const keys = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`n${at}`, at]))
    await w.post('/api/client/users/batch', [{ external_id: 'kim', data: keys }, { external_id: 'lee' }])
    const event = { name: 'refused', external_id: 'kim', event_id: 'e1', user: { data: { more: 1 } } }
    await post(w, [event, { name: 'none', external_id: 'lee' }])
    await post(w, [{ ...event, name: 'corrected', user: { data: { n0: 7 } } }])
    await post(w, [
      { ...event, name: 'repeated', user: { data: { n0: 9 } } },
      { ...event, name: 'repeated', external_id: 'lee', user: { email: 'lee@example.com' } },
      { name: 'repeated', external_id: 'lee', event_id: 'e1' },
    ])
    await w.drain()
    await post(w, [{ ...event, name: 'repeated', user: { data: { n0: 11 } } }])
    await w.drain()
    expect((await stored(w)).map(({ name }) => name).sort()).toEqual(['corrected', 'none'])
    expect((await w.get('/api/client/users/kim')).body.data.n0).toBe(7)
    expect((await w.get('/api/client/users/lee')).body.email).toBeNull()
  })

  test('two identical events without an id are two events', async () => {
    await using w = await world()
    await post(w, [
      { name: 'x', external_id: 'kim' },
      { name: 'x', external_id: 'kim' },
    ])
    await w.drain()
    expect(await stored(w)).toHaveLength(2)
  })
})

describe('a publishable key', () => {
  test.each<[string, unknown, number]>([
    ['an anonymous event', { name: 'x', anonymous_id: 'a' }, 204],
    ['an event with an external id', { name: 'x', anonymous_id: 'a', external_id: 'kim' }, 403],
    ['an event with a profile', { name: 'x', anonymous_id: 'a', user: { email: 'a@example.com' } }, 403],
    ['an event without an id', { name: 'x' }, 403],
  ])('without a user token: %s', async (_, event, status) => {
    await using w = await world()
    const reply = await post(w, [event], { key: w.keys.public })
    expect(reply.status).toBe(status)
    if (status === 403) expect(reply.body.error.reason).toBe('not_publishable')
  })

  test('with a user token: only events of that user', async () => {
    await using w = await world()
    await w.users('kim', 'lee')
    const options = { key: w.keys.public, headers: { 'x-service-user-token': await w.token('kim') } }
    expect((await post(w, [{ name: 'mine' }, { name: 'named', external_id: 'kim', user: { data: { a: 1 } } }], options)).status).toBe(204)
    expect((await post(w, [{ name: 'x', external_id: 'lee' }], options)).body.error.reason).toBe('other_user')
    await w.drain()
    expect((await stored(w)).map(({ name, external_id }) => [name, external_id])).toEqual([
      ['mine', 'kim'],
      ['named', 'kim'],
    ])
    expect((await w.get('/api/client/users/kim')).body.data).toEqual({ a: 1 })
  })

  test('with a user token: events with any anonymous id of that user', async () => {
    await using w = await world()
    await w.post('/api/client/users/batch', [
      { external_id: 'kim', anonymous_id: 'laptop' },
      { external_id: 'kim', anonymous_id: 'phone' },
      { external_id: 'lee', anonymous_id: 'tablet' },
    ])
    const options = { key: w.keys.public, headers: { 'x-service-user-token': await w.token('kim') } }
    const events = ['laptop', 'phone'].map((anonymous_id) => ({ name: anonymous_id, anonymous_id }))
    const reply = await post(w, events, options)
    expect(reply.status, reply.text).toBe(204)
    for (const anonymous_id of ['tablet', 'unknown']) {
      const { status, body } = await post(w, [...events, { name: 'x', anonymous_id }], options)
      expect([status, body.error?.reason]).toEqual([403, 'other_user'])
    }
    await w.drain()
    expect((await stored(w)).map(({ name, external_id }) => [name, external_id])).toEqual([
      ['laptop', 'kim'],
      ['phone', 'kim'],
    ])
    expect((await w.get('/api/client/users/kim')).body.anonymous_id).toBe('phone')
  })

  test('with the user token of an anonymous user', async () => {
    await using w = await world()
    await post(w, [{ name: 'first', anonymous_id: 'a' }])
    await w.drain()
    const options = { key: w.keys.public, headers: { 'x-service-user-token': await w.token('a') } }
    await post(w, [{ name: 'second', user: { email: 'a@example.com' } }], options)
    await w.drain()
    expect((await w.get('/api/client/users')).body.results).toHaveLength(1)
    expect((await w.get('/api/client/users/a')).body.email).toBe('a@example.com')
  })
})

describe('disasters', () => {
  test('a poison item is parked with its reason, and the others are applied', async () => {
    await using w = await world()
    await post(w, [{ name: 'before', external_id: 'kim' }])
    // Only an older or newer release could have accepted this.
    await w.db.run(
      sql`insert into queue_entries (project_id, kind, request_id, received_at, items, body)
          values (${w.projectId}, 'events', 'req_poison', ${w.clock.now()}, 2, ${Buffer.from('[{"name":"fine","external_id":"lee"},{"nom":"poison"}]')})`,
    )
    await post(w, [{ name: 'after', external_id: 'kim' }])
    await w.drain()
    expect((await stored(w)).map(({ name }) => name).sort()).toEqual(['after', 'before', 'fine'])
    const Parked = Type.Object({ request_id: Type.String(), reason: Type.String() })
    expect(await w.db.many(Parked, sql`select request_id, reason from parked_items where project_id = ${w.projectId}`)).toEqual([
      { request_id: 'req_poison', reason: expect.stringContaining('name') },
    ])
  })

  test.each([
    ['U+0000', '[{"name":"a\\u0000b","external_id":"kim"}]', 'U+0000'],
    ['deep nesting', `[${'['.repeat(40)}${']'.repeat(40)}]`, 'nested'],
    ['bytes that are no JSON', 'a\0b', 'not valid JSON'],
    ['no array', '{"name":"x"}', 'array'],
  ])('an entry that cannot be read is parked as it is, and the others are applied: %s', async (_, body, reason) => {
    await using w = await world()
    await post(w, [{ name: 'before', external_id: 'kim' }])
    await w.db.run(
      sql`insert into queue_entries (project_id, kind, request_id, received_at, items, body)
          values (${w.projectId}, 'events', 'req_poison', ${w.clock.now()}, 1, ${Buffer.from(body)})`,
    )
    await post(w, [{ name: 'after', external_id: 'kim' }])
    await w.drain()
    expect((await stored(w)).map(({ name }) => name).sort()).toEqual(['after', 'before'])
    const Parked = Type.Object({ item: Type.String(), reason: Type.String() })
    expect(await w.db.many(Parked, sql`select item #>> '{}' as item, reason from parked_items where project_id = ${w.projectId}`)).toEqual([
      { item: body.replaceAll('\0', '\ufffd'), reason: expect.stringContaining(reason) },
    ])
  })

  test('while the disk of the database is full, what was accepted waits, and other writes get 503', async () => {
    await using w = await world()
    await post(w, [{ name: 'accepted', external_id: 'kim' }])
    {
      await using _ = await failSaves(w, { table: 'events', on: 'insert', when: 'true', code: DISK_FULL })
      await using __ = await failSaves(w, { table: 'lists', on: 'insert', when: 'true', code: DISK_FULL })
      await expect(w.drain()).rejects.toThrow('It fails.')
      const refused = await w.post('/api/client/lists', { name: 'Pro', type: 'static' })
      expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5'])
    }
    await w.drain()
    expect((await stored(w)).map(({ name }) => name)).toEqual(['accepted'])
  })

  test('an item that makes the whole batch fail is the only one parked', async () => {
    await using w = await world()
    await w.db.run(sql`alter table events add constraint no_poison check (name <> ${sql`'poison'`}) not valid`)
    try {
      await post(w, [
        { name: 'a', external_id: 'kim' },
        { name: 'poison', external_id: 'kim' },
        { name: 'b', external_id: 'lee' },
      ])
      await post(w, [{ name: 'c', external_id: 'kim' }])
      await w.drain()
    } finally {
      await w.db.run(sql`alter table events drop constraint no_poison`)
    }
    expect((await stored(w)).map(({ name }) => name).sort()).toEqual(['a', 'b', 'c'])
  })

  test('two workers on one queue store each event once', async () => {
    await using w = await world()
    for (let at = 0; at < 20; at++)
      await post(w, [
        { name: `e${at}`, external_id: `u${at % 3}` },
        { name: `f${at}`, external_id: `u${at % 3}` },
      ])
    await Promise.all([w.drain(), w.drain(), w.drain()])
    await w.drain()
    expect(await stored(w)).toHaveLength(40)
  })

  test('the clock jumps a year ahead and back, and events are still stored in their month', async () => {
    await using w = await world()
    w.clock.set(new Date('2027-12-15T00:00:00Z'))
    await post(w, [
      { name: 'future', external_id: 'kim' },
      { name: 'between', external_id: 'kim', created_at: '2027-06-10' },
    ])
    await w.drain()
    w.clock.set(new Date('2026-10-01T00:00:00Z'))
    await post(w, [{ name: 'back', external_id: 'kim' }])
    await w.drain()
    expect((await stored(w)).map(({ name, partition }) => [name, partition])).toEqual([
      ['back', 'events_past'],
      ['between', 'events_2027_06'],
      ['future', 'events_2027_12'],
    ])
  })

  test('a month begins while a backup reads the table, and events are stored meanwhile', async () => {
    await using w = await world({ own: true })
    await w.db.transaction(async (db) => {
      await db.run(sql`lock table events in access share mode`)
      w.clock.set(new Date('2029-05-01T00:00:00Z'))
      await post(w, [{ name: 'x', external_id: 'kim' }])
      await w.drain()
      expect((await stored(w)).map(({ partition }) => partition)).toEqual(['events_2029_05'])
    })
  })

  test('events wait for no month but those up to now', async () => {
    await using w = await world({ own: true })
    w.clock.set(new Date('2030-01-20T00:00:00Z'))
    await w.drain('events.create-months')
    w.clock.set(new Date('2030-02-20T00:00:00Z'))
    await w.db.transaction(async (db) => {
      // Taken by `analyze events`, for example.
      await db.run(sql`lock table events in share update exclusive mode`)
      await post(w, [{ name: 'x', external_id: 'kim' }])
      await w.drain()
      expect((await stored(w)).map(({ partition }) => partition)).toEqual(['events_2030_02'])
      expect(await listMonths(w.ctx)).not.toContain('events_2030_05')
    })
    await w.drain('events.create-months')
    expect(await listMonths(w.ctx)).toContain('events_2030_05')
  })
})
