import { describe, expect, test, vi } from 'vitest'
import { waitingForLocks } from '../../../../test/besides.ts'
import { SOON } from '../../../../test/wait.ts'
import { type World, world } from '../../../../test/world.ts'
import { inTx } from '../../../infra/runtime/ctx.ts'
import { suppress, suppressErased, suppressedAmong } from '../index.ts'
import type { SuppressionReason } from './schema.ts'

const PATH = '/api/client/suppressions'

const put = (w: World, reason: SuppressionReason, address = 'kim@example.com') =>
  inTx(w.ctx, (ctx) => suppress(ctx, [{ channel: address.includes('@') ? 'email' : 'text', address, reason, source: { by: 'test' } }]))
const reasonOf = async (w: World, address: string, channel: 'email' | 'text' = 'email') =>
  (await suppressedAmong(w.ctx, channel, [address])).get(address)

describe('suppressed addresses', () => {
  test('are found in any notation, and returned in the notation asked for', async () => {
    await using w = await world()
    await put(w, 'hard_bounce', 'Kim@Example.COM')
    await put(w, 'manual', '0412 345 678')
    expect(await suppressedAmong(w.ctx, 'email', ['KIM@example.com', 'kim@example.com', 'lee@example.com'])).toEqual(
      new Map([
        ['KIM@example.com', 'hard_bounce'],
        ['kim@example.com', 'hard_bounce'],
      ]),
    )
    expect(await suppressedAmong(w.ctx, 'text', ['+61412345678', '+61412345679'])).toEqual(new Map([['+61412345678', 'manual']]))
    expect(await suppressedAmong(w.ctx, 'push', ['kim@example.com'])).toEqual(new Map())
    expect(await suppressedAmong((await w.other()).ctx, 'email', ['kim@example.com'])).toEqual(new Map())
  })

  test.each([
    [['manual', 'complaint'], 'complaint'],
    [['complaint', 'manual'], 'complaint'],
    [['hard_bounce', 'unsubscribed_all'], 'hard_bounce'],
    [['unsubscribed_all', 'hard_bounce'], 'hard_bounce'],
    [['complaint', 'erased'], 'erased'],
    [['erased', 'complaint'], 'erased'],
  ] as [SuppressionReason[], SuppressionReason][])('of the reasons %j the strongest counts: %s', async (reasons, expected) => {
    await using w = await world()
    for (const reason of reasons) await put(w, reason)
    expect(await reasonOf(w, 'kim@example.com')).toBe(expected)
    const one = await w.other()
    const entries = reasons.map((reason) => ({ channel: 'email' as const, address: 'kim@example.com', reason, source: {} }))
    await inTx(one.ctx, (ctx) => suppress(ctx, entries))
    expect((await suppressedAmong(one.ctx, 'email', ['kim@example.com'])).get('kim@example.com')).toBe(expected)
  })

  test('are shown with the user, and with the states that are read or set', async () => {
    await using w = await world()
    await w.post('/api/client/users/batch', [{ external_id: 'kim', email: 'kim@example.com', phone: '+61412345678' }])
    const receipts = (await w.post('/api/client/subscriptions', { name: 'Receipts', channel: 'email', is_transactional: true })).body
    const shown = async () => (await w.get('/api/client/users/kim')).body.suppressions
    const path = '/api/client/users/kim/subscriptions'
    const stopped = ({ body }: { body: any }) => body.results.map(({ name, suppression }: any) => [name, suppression])
    expect(await shown()).toEqual([])
    expect(stopped(await w.get(path)).every(([, reason]: [string, unknown]) => reason === undefined)).toBe(true)
    await inTx(w.ctx, (ctx) =>
      suppress(ctx, [{ channel: 'email', address: 'KIM@example.com', reason: 'unsubscribed_all', stopsTransactional: false, source: {} }]),
    )
    expect(await shown()).toEqual([{ channel: 'email', reason: 'unsubscribed_all', stops_transactional: false }])
    const subscribed = await w.patch(path, [{ subscription_id: receipts.id, state: 1 }])
    for (const reply of [subscribed, await w.get(path)]) {
      expect(Object.fromEntries(stopped(reply))).toMatchObject({
        'Default Email': 'unsubscribed_all',
        'Default SMS': undefined,
        Receipts: undefined,
      })
    }
    await put(w, 'complaint')
    await put(w, 'manual', '+61412345678')
    expect(Object.fromEntries(stopped(await w.get(path)))).toMatchObject({
      'Default Email': 'complaint',
      'Default SMS': 'manual',
      Receipts: 'complaint',
    })
    expect(await shown()).toEqual([
      { channel: 'email', reason: 'complaint', stops_transactional: true },
      { channel: 'text', reason: 'manual', stops_transactional: true },
    ])
    const own = await w.get('/api/client/users/me/subscriptions', {
      key: w.keys.public,
      headers: { 'x-service-user-token': await w.token('kim') },
    })
    expect(own.status).toBe(200)
    expect(JSON.stringify(own.body)).not.toContain('complaint')
  })

  test('are stored once each when suppressed concurrently', async () => {
    await using w = await world()
    await Promise.all(Array.from({ length: 8 }, (_, n) => put(w, 'manual', `u${n % 2}@example.com`)))
    expect((await w.get(PATH)).body.results).toHaveLength(2)
  })

  test('cover an opt-out that another transaction stores meanwhile', async () => {
    await using w = await world({ own: true })
    await put(w, 'manual', 'lee@example.com')
    const [stored, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const leaving = inTx(w.ctx, async (ctx) => {
      await suppress(ctx, [{ channel: 'email', address: 'kim@example.com', reason: 'unsubscribed_all', source: {} }])
      stored.resolve()
      await commit.promise
    })
    await stored.promise
    const complaining = put(w, 'complaint')
    await vi.waitFor(async () => expect(await waitingForLocks(w)).toBe(1), SOON)
    commit.resolve()
    await Promise.all([leaving, complaining])
    const { results } = (await w.get(`${PATH}?q=kim@example.com`)).body
    expect(results).toMatchObject([{ reason: 'complaint', source: { by: 'test', covers: { reason: 'unsubscribed_all' } } }])
  })

  test('of erased users are kept as hashes only', async () => {
    await using w = await world()
    await put(w, 'manual')
    await inTx(w.ctx, (ctx) =>
      suppressErased(ctx, [
        { email: 'kim@example.com', phone: '+61412345678' },
        { email: null, phone: null },
      ]),
    )
    expect(await reasonOf(w, 'Kim@example.com')).toBe('erased')
    expect(await reasonOf(w, '+61412345678', 'text')).toBe('erased')
    const { results } = (await w.get(PATH)).body
    expect(results.map(({ address, source }: Record<string, unknown>) => [address, source])).toEqual([
      [null, {}],
      [null, { covers: { reason: 'manual', stops_transactional: true } }],
    ])
    const found = (await w.get(`${PATH}?q=KIM@example.com`)).body.results
    expect(found).toMatchObject([{ channel: 'email', reason: 'erased' }])
    expect((await w.delete(`${PATH}/${found[0].id}`)).status).toBe(204)
    expect(await reasonOf(w, 'kim@example.com')).toBeUndefined()
  })
})

describe('the API', () => {
  test('suppresses addresses, finds them by the complete address, and lifts them', async () => {
    await using w = await world()
    const created = await w.post(
      PATH,
      [
        { channel: 'text', address: '0412 345 678', reason: 'complaint' },
        { channel: 'email', address: ' Kim@example.com ' },
        { channel: 'email', address: 'kim@EXAMPLE.com' },
      ],
      { key: w.keys.editor },
    )
    expect(created.status).toBe(200)
    const source = { key_id: expect.any(Number), request_id: expect.stringMatching(/^req_/) }
    const row = (channel: string, address: string, reason: string) => ({
      id: expect.any(Number),
      channel,
      address,
      reason,
      source,
      created_at: w.clock.now().toISOString(),
    })
    expect(created.body.results).toEqual([row('text', '+61412345678', 'complaint'), row('email', 'kim@example.com', 'manual')])
    const ids = async (query: string) => (await w.get(`${PATH}?${query}`, { key: w.keys.support })).body.results.map((one: any) => one.id)
    const [text, email] = created.body.results.map(({ id }: { id: number }) => id)
    expect((await ids('')).sort()).toEqual([text, email].sort())
    expect(await ids('q=KIM%40example.com')).toEqual([email])
    expect(await ids('q=kim')).toEqual([])
    expect(await ids('q=%2B61%20412%20345%20678')).toEqual([text])
    const first = (await w.get(`${PATH}?limit=1`)).body
    expect((await w.get(`${PATH}?limit=1&cursor=${first.nextCursor}`)).body.results).toHaveLength(1)
    expect((await w.delete(`${PATH}/${email}`)).status).toBe(204)
    expect((await w.delete(`${PATH}/${email}`)).status).toBe(404)
    expect(await ids('')).toEqual([text])
  })

  test.each([
    [[], 400, 'parameter_invalid_empty', 'body'],
    [[{ channel: 'push', address: 'x' }], 400, 'parameter_invalid_format', '[0].channel'],
    [[{ channel: 'email', address: 'kim' }], 400, 'parameter_invalid_format', '[0].address'],
    [[{ channel: 'text', address: 'kim@example.com' }], 400, 'parameter_invalid_format', '[0].address'],
    [[{ channel: 'email', address: 'a@example.com', reason: 'erased' }], 400, 'parameter_invalid_format', '[0].reason'],
    [[{ channel: 'email' }], 400, 'parameter_missing', '[0].address'],
    [Array.from({ length: 101 }, () => ({ channel: 'email', address: 'a@example.com' })), 422, 'validation_failed', 'body'],
  ])('refuses the input %#', async (body, status, code, param) => {
    await using w = await world()
    expect(await w.post(PATH, body)).toMatchObject({ status, body: { code, error: { param } } })
    expect((await w.get(PATH)).body.results).toEqual([])
  })

  test('lets support read, editors add and admins lift, in their own project only', async () => {
    await using w = await world()
    const body = [{ channel: 'email', address: 'kim@example.com' }]
    expect((await w.post(PATH, body, { key: w.keys.support })).status).toBe(403)
    const { id } = (await w.post(PATH, body)).body.results[0]
    expect((await w.delete(`${PATH}/${id}`, { key: w.keys.publisher })).status).toBe(403)
    const { keys } = await w.other()
    expect((await w.get(PATH, { key: keys.secret })).body.results).toEqual([])
    expect((await w.delete(`${PATH}/${id}`, { key: keys.secret })).status).toBe(404)
  })
})
