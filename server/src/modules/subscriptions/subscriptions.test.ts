import { describe, expect, test } from 'vitest'
import { type World, world } from '../../../test/world.ts'
import { inTx } from '../../infra/runtime/ctx.ts'
import type { SubscriptionId, UserId } from '../../lib/ids.ts'
import { eraseSubscriptions, mergeSubscriptions, subscriptionStates } from './index.ts'

const TYPES = '/api/client/subscriptions'
const ME = '/api/client/users/me/subscriptions'
const of = (user: string) => `/api/client/users/${user}/subscriptions`

const make = async (w: World, body: object) => (await w.post(TYPES, body)).body
const idOf = async (w: World, name: string): Promise<UserId> => (await w.get(`/api/client/users/${name}`)).body.id
const stateOf = async (w: World, user: string, id: number) =>
  (await w.get(`${of(user)}?limit=100`)).body.results.find((row: { subscription_id: number }) => row.subscription_id === id)?.state

describe('subscription types', () => {
  test('a new project has a public type for each channel', async () => {
    await using w = await world()
    const { status, body } = await w.get(TYPES, { key: w.keys.support })
    expect(status).toBe(200)
    expect(body.results.map(({ name, channel, is_public }: Record<string, unknown>) => [name, channel, is_public])).toEqual([
      ['Default Email', 'email', true],
      ['Default SMS', 'text', true],
      ['Default Push', 'push', true],
      ['Default Webhook', 'webhook', true],
      ['Default In-app', 'in_app', true],
    ])
  })

  test('a type is created, read and changed, with exactly the documented members', async () => {
    await using w = await world()
    const created = await w.post(TYPES, { name: ' News ', channel: 'email', default_state: 0 })
    expect(created.status).toBe(201)
    expect(created.headers.location).toBe(`${TYPES}/${created.body.id}`)
    expect(created.body).toEqual({
      id: expect.any(Number),
      project_id: w.projectId,
      name: 'News',
      channel: 'email',
      is_public: true,
      default_state: 0,
      is_transactional: false,
      requires_confirmation: false,
      created_at: w.clock.now().toISOString(),
      updated_at: w.clock.now().toISOString(),
    })
    w.advance('1 hour')
    const path = `${TYPES}/${created.body.id}`
    expect((await w.patch(path, {})).body).toEqual(created.body)
    expect((await w.patch(path, { name: 'News' })).body).toEqual(created.body)
    const changed = { ...created.body, is_public: false, updated_at: w.clock.now().toISOString() }
    expect((await w.patch(path, { is_public: false })).body).toEqual(changed)
    expect((await w.get(path)).body).toEqual(changed)
  })

  test('the settings of a type are saved, and an unset description is left out', async () => {
    await using w = await world()
    const given = {
      name: 'Receipts',
      channel: 'email',
      is_transactional: true,
      requires_confirmation: true,
      description: 'What you bought.',
    }
    const created = await make(w, given)
    expect(created).toMatchObject(given)
    const path = `${TYPES}/${created.id}`
    w.advance('1 hour')
    const changed = (await w.patch(path, { is_transactional: false, description: '' })).body
    expect(changed).toMatchObject({ is_transactional: false, requires_confirmation: true, updated_at: w.clock.now().toISOString() })
    expect(changed).not.toHaveProperty('description')
    expect((await w.patch(path, { description: 'Again' })).body.description).toBe('Again')
    expect((await w.patch(path, { description: null })).body).not.toHaveProperty('description')
  })

  test('has its default state in every reply', async () => {
    await using w = await world()
    const created = await make(w, { name: 'Consent', channel: 'email', default_state: 0 })
    expect(created.default_state).toBe(0)
    const path = `${TYPES}/${created.id}`
    expect((await w.patch(path, { default_state: 1 })).body.default_state).toBe(1)
    expect((await w.get(path)).body.default_state).toBe(1)
    expect(new Set((await w.get(TYPES)).body.results.map((type: any) => type.default_state))).toEqual(new Set([1]))
  })

  test.each([
    [{ name: 'x' }, 400, 'parameter_missing', 'channel'],
    [{ channel: 'email' }, 400, 'parameter_missing', 'name'],
    [{ name: ' ', channel: 'email' }, 400, 'parameter_invalid_empty', 'name'],
    [{ name: 'x', channel: 'fax' }, 400, 'parameter_invalid_format', 'channel'],
    [{ name: 'x', channel: 'email', default_state: 2 }, 400, 'parameter_invalid_format', 'default_state'],
    [{ name: 'x', channel: 'email', description: 'x'.repeat(501) }, 422, 'validation_failed', 'description'],
    [{ name: 'x', channel: 'email', is_transactional: null }, 400, 'parameter_invalid_format', 'is_transactional'],
    [{ name: 'x', channel: 'email', id: 1 }, 400, 'parameter_unknown', 'id'],
    [{ name: 'x'.repeat(256), channel: 'email' }, 422, 'validation_failed', 'name'],
  ])('%j is refused', async (body, status, code, param) => {
    await using w = await world()
    expect(await w.post(TYPES, body)).toMatchObject({ status, body: { code, error: { param } } })
  })

  test('name and channel together are unique', async () => {
    await using w = await world()
    const first = await make(w, { name: 'News', channel: 'email' })
    const taken = { status: 409, body: { code: 'resource_already_exists' } }
    expect(await w.post(TYPES, { name: 'News', channel: 'email' })).toMatchObject(taken)
    const other = await make(w, { name: 'News', channel: 'push' })
    expect(other.id).not.toBe(first.id)
    const sales = await make(w, { name: 'Sales', channel: 'email' })
    const headers = { 'idempotency-key': 'rename' }
    expect(await w.patch(`${TYPES}/${sales.id}`, { name: 'News' }, { headers })).toMatchObject(taken)
    const again = await w.patch(`${TYPES}/${sales.id}`, { name: 'News' }, { headers })
    expect(again).toMatchObject(taken)
    expect(again.headers['idempotent-replayed']).toBe('true')
  })

  test('a project may have 200 types', async () => {
    await using w = await world()
    for (let n = 5; n < 200; n++) expect((await w.post(TYPES, { name: `n${n}`, channel: 'email' })).status).toBe(201)
    expect(await w.post(TYPES, { name: 'one too many', channel: 'email' })).toMatchObject({ status: 429, body: { code: 'quota_exceeded' } })
  })

  test('only admins change types, and types of other projects are not found', async () => {
    await using w = await world()
    const { id } = await make(w, { name: 'News', channel: 'email' })
    for (const key of [w.keys.publisher, w.keys.editor, w.keys.support]) {
      expect((await w.post(TYPES, {}, { key })).body).toMatchObject({ code: 'permission_denied', error: { reason: 'role' } })
      expect((await w.patch(`${TYPES}/${id}`, {}, { key })).status).toBe(403)
    }
    const { keys } = await w.other()
    expect((await w.get(`${TYPES}/${id}`, { key: keys.secret })).status).toBe(404)
    expect((await w.patch(`${TYPES}/${id}`, { name: 'x' }, { key: keys.secret })).status).toBe(404)
  })

  test('types are paged, sorted and searched', async () => {
    await using w = await world()
    await make(w, { name: 'Weekly_news', channel: 'push' })
    const first = (await w.get(`${TYPES}?limit=2&sort=name&direction=desc`)).body
    expect(first.results.map(({ name }: { name: string }) => name)).toEqual(['Weekly_news', 'Default Webhook'])
    const second = (await w.get(`${TYPES}?limit=2&cursor=${first.nextCursor}`)).body
    expect(second.results.map(({ name }: { name: string }) => name)).toEqual(['Default SMS', 'Default Push'])
    expect((await w.get(`${TYPES}?limit=2&page=prev&cursor=${second.prevCursor}`)).body.results).toEqual(first.results)
    expect((await w.get(`${TYPES}?q=PUSH`)).body.results.map(({ name }: { name: string }) => name)).toEqual(['Default Push', 'Weekly_news'])
    expect((await w.get(`${TYPES}?q=y_n`)).body.results).toHaveLength(1)
  })
})

describe('subscription states of a user', () => {
  test('a user without a stored state has the default state of the type, also after it changes', async () => {
    await using w = await world()
    await w.users('kim')
    const { id } = await make(w, { name: 'Consent', channel: 'email', default_state: 0, is_public: false })
    const { body } = await w.get(of('kim'), { key: w.keys.support })
    expect(body.results).toHaveLength(6)
    expect(body.results[0]).toEqual({ subscription_id: expect.any(Number), state: 1, name: 'Default Email', channel: 'email' })
    expect(body.results.at(-1)).toEqual({ subscription_id: id, state: 0, name: 'Consent', channel: 'email' })
    await w.patch(`${TYPES}/${id}`, { default_state: 1 })
    expect(await stateOf(w, 'kim', id)).toBe(1)
  })

  test('all states of a request are set, or none', async () => {
    await using w = await world()
    await w.users('kim')
    const [email, text] = (await w.get(TYPES)).body.results
    const { subscription_id: emailId, state } = { subscription_id: email.id, state: 0 }
    const reply = await w.patch(
      of('kim'),
      [
        { subscription_id: emailId, state },
        { subscription_id: text.id, state: 2 },
      ],
      { key: w.keys.editor },
    )
    expect(reply.status).toBe(200)
    expect(reply.body).toMatchObject({ nextCursor: null, prevCursor: null })
    expect(reply.body.results.map((row: { state: number }) => row.state)).toEqual([0, 2, 1, 1, 1])

    const mixed = await w.patch(of('kim'), [
      { subscription_id: emailId, state: 1 },
      { subscription_id: 999_999, state: 1 },
    ])
    expect(mixed).toMatchObject({ status: 422, body: { code: 'validation_failed', error: { param: '[1].subscription_id' } } })
    expect(await stateOf(w, 'kim', emailId)).toBe(0)

    await w.patch(of('kim'), [
      { subscription_id: emailId, state: 2 },
      { subscription_id: emailId, state: 1 },
    ])
    expect(await stateOf(w, 'kim', emailId)).toBe(1)
  })

  test.each([
    [[], 400, 'parameter_invalid_empty', 'body'],
    [{}, 400, 'parameter_invalid_format', 'body'],
    [[{ subscription_id: 1 }], 400, 'parameter_missing', '[0].state'],
    [[{ subscription_id: 1, state: 3 }], 400, 'parameter_invalid_format', '[0].state'],
    [[{ subscription_id: 'x', state: 1 }], 400, 'parameter_invalid_format', '[0].subscription_id'],
    [Array.from({ length: 101 }, () => ({ subscription_id: 1, state: 1 })), 422, 'validation_failed', 'body'],
  ])('%# is refused', async (body, status, code, param) => {
    await using w = await world()
    await w.users('kim')
    expect(await w.patch(of('kim'), body)).toMatchObject({ status, body: { code, error: { param } } })
  })

  test('support may not set states, and unknown users are not found', async () => {
    await using w = await world()
    await w.users('kim')
    const change = [{ subscription_id: 1, state: 1 }]
    expect((await w.patch(of('kim'), change, { key: w.keys.support })).body).toMatchObject({ code: 'permission_denied' })
    expect((await w.get(of('nobody'))).status).toBe(404)
    expect((await w.patch(of('nobody'), change)).status).toBe(404)
    const { keys } = await w.other()
    expect((await w.get(of('kim'), { key: keys.secret })).status).toBe(404)
  })

  test('states are sorted by every column', async () => {
    await using w = await world()
    await w.users('kim')
    const [email] = (await w.get(TYPES)).body.results
    await w.patch(of('kim'), [{ subscription_id: email.id, state: 0 }])
    const names = async (query: string) => (await w.get(`${of('kim')}?${query}`)).body.results.map(({ name }: { name: string }) => name)
    expect(await names('sort=name&limit=2')).toEqual(['Default Email', 'Default In-app'])
    expect((await names('sort=state'))[0]).toBe('Default Email')
    expect((await names('sort=state&direction=desc')).at(-1)).toBe('Default Email')
    expect(await names('q=sms')).toEqual(['Default SMS'])
    expect((await w.get(`${of('kim')}?sort=id`)).status).toBe(400)
    const first = (await w.get(`${of('kim')}?sort=state&limit=3`)).body
    const second = (await w.get(`${of('kim')}?cursor=${first.nextCursor}&limit=3`)).body
    expect([...first.results, ...second.results].map(({ name }: { name: string }) => name).sort()).toEqual(
      (await names('sort=name')).sort(),
    )
  })
})

describe('the preference centre', () => {
  test('a user token shows and changes public types only', async () => {
    await using w = await world()
    await w.users('kim', 'lee')
    const hidden = await make(w, { name: 'Internal', channel: 'email', is_public: false })
    const [email] = (await w.get(TYPES)).body.results
    const options = { key: w.keys.public, headers: { 'x-service-user-token': await w.token('kim') } }
    const { status, body } = await w.get(ME, options)
    expect(status).toBe(200)
    expect(body.results).toHaveLength(5)

    const changed = await w.patch(ME, [{ subscription_id: email.id, state: 0 }], options)
    expect(changed.body.results.map((row: { state: number }) => row.state)).toEqual([0, 1, 1, 1, 1])
    expect(await stateOf(w, 'kim', email.id)).toBe(0)
    expect(await stateOf(w, 'lee', email.id)).toBe(1)

    const refused = { status: 422, body: { code: 'validation_failed', error: { param: '[0].subscription_id' } } }
    expect(await w.patch(ME, [{ subscription_id: hidden.id, state: 0 }], options)).toMatchObject(refused)
    expect((await w.patch(ME, [{ subscription_id: email.id, state: 2 }], options)).status).toBe(400)
  })

  test('requires a publishable key with a user token', async () => {
    await using w = await world()
    expect((await w.get(ME, { key: w.keys.public })).body).toMatchObject({
      code: 'authentication_required',
      error: { reason: 'user_token_missing' },
    })
    expect((await w.get(ME)).body).toMatchObject({ code: 'permission_denied', error: { reason: 'key_kind' } })
    expect((await w.patch(ME, [])).status).toBe(403)
  })
})

describe('functions for other modules', () => {
  test('subscriptionStates returns the states of many users, without types of other projects', async () => {
    await using w = await world()
    await w.users('kim', 'lee')
    const [email, text] = (await w.get(TYPES)).body.results
    await w.patch(of('kim'), [{ subscription_id: email.id, state: 0 }])
    const [kim, lee] = [await idOf(w, 'kim'), await idOf(w, 'lee')]
    const foreign = (await w.get(TYPES, { key: (await w.other()).keys.secret })).body.results[0].id
    const pair = (user_id: UserId, subscription_id: SubscriptionId) => ({ user_id, subscription_id })
    const plain = { is_transactional: false, requires_confirmation: false }
    const states = await subscriptionStates(w.ctx, [pair(kim, email.id), pair(lee, email.id), pair(kim, text.id), pair(kim, foreign)])
    expect(states).toHaveLength(3)
    expect(states).toEqual(
      expect.arrayContaining([
        { user_id: kim, subscription_id: email.id, state: 0, consent_id: expect.any(Number), ...plain },
        { user_id: lee, subscription_id: email.id, state: 1, consent_id: null, ...plain },
        { user_id: kim, subscription_id: text.id, state: 1, consent_id: null, ...plain },
      ]),
    )
  })

  test.each([
    [undefined, 2, 2],
    [undefined, 0, 0],
    [1, 2, 1],
    [2, 1, 2],
    [2, 0, 0],
    [0, 2, 0],
    [1, undefined, 1],
  ] as const)('remaining user %s and merged user %s: %s', async (own, inherited, expected) => {
    await using w = await world()
    await w.users('kim', 'lee')
    const [email] = (await w.get(TYPES)).body.results
    for (const [user, state] of [
      ['kim', own],
      ['lee', inherited],
    ] as const) {
      if (state !== undefined) await w.patch(of(user), [{ subscription_id: email.id, state }])
    }
    const pairs = [{ from_id: await idOf(w, 'lee'), into_id: await idOf(w, 'kim') }]
    await inTx(w.ctx, (ctx) => mergeSubscriptions(ctx, pairs))
    expect(await stateOf(w, 'kim', email.id)).toBe(expected)
    expect(await stateOf(w, 'lee', email.id)).toBe(1)
  })

  test('when several users are merged into one, an opt-out of any of them counts', async () => {
    await using w = await world()
    await w.users('kim', 'lee', 'max')
    const [email] = (await w.get(TYPES)).body.results
    await w.patch(of('lee'), [{ subscription_id: email.id, state: 2 }])
    await w.patch(of('max'), [{ subscription_id: email.id, state: 0 }])
    const into_id = await idOf(w, 'kim')
    const pairs = [
      { from_id: await idOf(w, 'lee'), into_id },
      { from_id: await idOf(w, 'max'), into_id },
    ]
    await inTx(w.ctx, (ctx) => mergeSubscriptions(ctx, pairs))
    expect(await stateOf(w, 'kim', email.id)).toBe(0)
  })

  test('erasing deletes the states of the erased users only', async () => {
    await using w = await world()
    await w.users('kim', 'lee')
    const [email] = (await w.get(TYPES)).body.results
    for (const user of ['kim', 'lee']) await w.patch(of(user), [{ subscription_id: email.id, state: 0 }])
    const id = await idOf(w, 'kim')
    await inTx(w.ctx, (ctx) => eraseSubscriptions(ctx, [id]))
    expect(await stateOf(w, 'kim', email.id)).toBe(1)
    expect(await stateOf(w, 'lee', email.id)).toBe(0)
  })
})
