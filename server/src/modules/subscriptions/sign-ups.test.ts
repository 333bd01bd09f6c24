/** What stops transactional messages, what a new sign-up lifts, and what a lifted suppression leaves (D-SUB-5). Observed at a relay. */
import { describe, expect, test, vi } from 'vitest'
import { recipientsOf, sendOver } from '../../../test/mailing.ts'
import { openRelay } from '../../../test/relay.ts'
import { select } from '../../../test/select.ts'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { inTx } from '../../infra/runtime/ctx.ts'
import { Count } from '../../lib/shapes.ts'
import { upsertUsers } from '../users/index.ts'
import { recordSignUps } from './sign-ups.ts'
import { suppress } from './suppressions/service.ts'

const ANA = { external_id: 'ana', email: 'ana@example.com' }
const CONTENT = { from: 'App <app@example.com>', subject: 'Reset', html: '<p>Reset</p>' }

const typeOf = async (w: World, is_transactional: boolean): Promise<number> =>
  (await w.post('/api/client/subscriptions', { name: `Type ${is_transactional}`, channel: 'email', is_transactional })).body.id

async function send(w: World, subscription_id: number, user: object = ANA) {
  const reply = await w.post('/api/client/messages', { subscription_id, content: CONTENT, user })
  expect(reply.status, reply.text).toBe(202)
  await w.drain()
  return reply.body as { state: string; reason: string | null; detail: string | null }
}

const sources = async (w: World, name = 'ana') =>
  (await w.get(`/api/client/users/${name}/consents`)).body.results.map(({ source, proof }: any) => [source, proof.lifted])

async function eraseAna(w: World) {
  await w.users('ana')
  await w.delete('/api/client/users/ana')
  await w.drain()
}

describe('a transactional message', () => {
  test.each([
    ['hard_bounce', 'suppressed', 'suppressed'],
    ['complaint', 'suppressed', 'suppressed'],
    ['manual', 'suppressed', 'suppressed'],
    ['unsubscribed_all', null, 'suppressed'],
  ] as const)('to an address that is suppressed for %s has the reason %s, another one %s', async (reason, transactional, other) => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    await w.post('/api/client/suppressions', [{ channel: 'email', address: 'ana@example.com', reason }])
    expect((await send(w, await typeOf(w, true))).reason).toBe(transactional)
    expect(await send(w, await typeOf(w, false))).toMatchObject({ reason: other, detail: reason })
    expect(recipientsOf(relay)).toEqual(transactional === null ? ['ana@example.com'] : [])
  })

  test('expires after an hour, as do those of campaigns that say nothing else', async () => {
    await using w = await world()
    const sent = await w.post('/api/client/messages', { subscription_id: await typeOf(w, true), content: CONTENT, user: ANA })
    const { created_at, expires_at } = (await w.get(`/api/client/messages/${sent.body.id}`)).body
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(3_600_000)
    const types = (await w.get('/api/client/subscriptions')).body.results
    const hours = async (isTransactional: boolean, more = {}) => {
      const { id } = types.find(({ is_transactional }: any) => is_transactional === isTransactional)
      return (await w.post('/api/client/campaigns', { type: 'trigger', name: 'X', subscription_id: id, ...more })).body.expires_after_hours
    }
    expect([await hours(true), await hours(false), await hours(true, { expires_after_hours: 5 })]).toEqual([1, 72, 5])
  })
})

describe('the address of an erased user', () => {
  test('stays that of a user who signs up with it while the erasure is carried out', async () => {
    await using relay = await openRelay()
    await using w = await world({ own: true })
    await sendOver(w, relay)
    await w.users('ana')
    await w.delete('/api/client/users/ana')
    const [signedUp, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const signingUp = inTx(w.ctx, async (ctx) => {
      const { changes } = await upsertUsers(ctx, [{ profile: { ...ANA, external_id: 'new' }, at: w.clock.now() }])
      await recordSignUps(ctx, changes)
      signedUp.resolve()
      await commit.promise
    })
    await signedUp.promise
    const erasing = w.drain('users.erase')
    const waiting = () => w.db.value(Count, sql`select count(*) as count from pg_locks where locktype = 'transactionid' and not granted`)
    await vi.waitFor(async () => expect(await waiting()).toBe(1), { timeout: 20_000 })
    commit.resolve()
    await Promise.all([signingUp, erasing])
    expect((await w.get('/api/client/suppressions')).body.results).toEqual([])
    expect((await send(w, await typeOf(w, false), { external_id: 'new' })).state).toBe('queued')
    expect(recipientsOf(relay)).toEqual(['ana@example.com'])
  })

  test.each<[string, (w: World) => Promise<unknown>]>([
    ['a request of users', (w) => w.post('/api/client/users/batch', [ANA])],
    ['a change of users', (w) => w.request('PATCH', '/api/client/users', [ANA])],
    ['an event', (w) => w.post('/api/client/events', [{ name: 'signed_up', external_id: 'ana', user: { email: ANA.email } }])],
    ['a message', async (w) => send(w, await typeOf(w, true))],
  ])('gets messages again after a sign-up by %s, which the consent log has', async (_, signUp) => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    await eraseAna(w)
    expect((await w.get('/api/client/suppressions')).body.results).toMatchObject([{ reason: 'erased' }])
    await signUp(w)
    await w.drain()
    expect((await w.get('/api/client/suppressions')).body.results).toEqual([])
    expect(await sources(w)).toContainEqual(['sign_up', 'erased'])
    relay.mails.length = 0
    expect((await send(w, await typeOf(w, false))).state).toBe('queued')
    expect(recipientsOf(relay)).toEqual(['ana@example.com'])
  })

  test('stays suppressed if a request imports the user', async () => {
    await using w = await world()
    await eraseAna(w)
    await w.post('/api/client/users/batch?import=true', [ANA])
    await w.drain()
    expect((await w.get('/api/client/users/ana')).body).toMatchObject({ email: ANA.email, suppressions: [{ reason: 'erased' }] })
  })

  test('gets messages also if the user signs up again before the erasure is done', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    await w.users('ana')
    await w.delete('/api/client/users/ana')
    expect((await w.get('/api/client/suppressions')).body.results).toMatchObject([{ reason: 'erased' }])
    await w.post('/api/client/users/batch', [ANA])
    await w.drain()
    expect((await w.get('/api/client/suppressions')).body.results).toEqual([])
    expect((await send(w, await typeOf(w, false))).state).toBe('queued')
    expect(recipientsOf(relay)).toEqual(['ana@example.com'])
  })

  test('stays suppressed if it was that of a user merged into the erased one, or an import has it before the erasure is done', async () => {
    await using w = await world()
    await w.post('/api/client/users/batch', [
      { anonymous_id: 'v1', email: 'old@example.com' },
      ANA,
      { external_id: 'ana', anonymous_id: 'v1' },
    ])
    await w.delete('/api/client/users/ana')
    const list = (await w.post('/api/client/lists', { name: 'Bought', type: 'static' })).body.id
    const raw = 'external_id,email\nana,ana@example.com\nbo,old@example.com\n'
    await w.request('POST', `/api/client/lists/${list}/import`, undefined, { raw, headers: { 'content-type': 'text/csv' } })
    await w.drain()
    expect((await w.get('/api/client/users/bo')).status).toBe(200)
    expect((await w.get('/api/client/suppressions')).body.results).toMatchObject([{ reason: 'erased' }, { reason: 'erased' }])
  })

  test.each([
    ['email', 'complaint', true],
    ['email', 'hard_bounce', true],
    ['email', 'unsubscribed_all', false],
    ['text', 'unsubscribed_all', true],
  ] as const)(
    'on the channel %s is suppressed for %s again after a sign-up if it was before the erasure',
    async (channel, reason, stopsTransactional) => {
      await using relay = await openRelay()
      await using w = await world()
      await sendOver(w, relay)
      const user = { ...ANA, phone: '+61400000001' }
      await w.post('/api/client/users/batch', [user])
      const address = { email: user.email, text: user.phone }[channel]
      await inTx(w.ctx, (ctx) => suppress(ctx, [{ channel, address, reason, stopsTransactional, source: { message_id: 7 } }]))
      await w.delete('/api/client/users/ana')
      await w.drain()
      const suppression = async () =>
        (await w.get('/api/client/suppressions')).body.results.find((one: { channel: string }) => one.channel === channel)
      const { id, ...erased } = await suppression()
      expect(erased).toMatchObject({ reason: 'erased', address: null, source: { covers: { reason } } })
      await w.post('/api/client/users/batch', [user])
      await w.drain()
      // Who deletes the suppression that was listed before does not lift the one that it covered.
      await w.delete(`/api/client/suppressions/${id}`)
      expect(await suppression()).toMatchObject({ reason, address, source: {} })
      expect((await send(w, await typeOf(w, false))).reason).toBe(channel === 'email' ? 'suppressed' : null)
      expect(recipientsOf(relay)).toEqual(channel === 'email' ? [] : ['ana@example.com'])
    },
  )

  test('is suppressed for a complaint or a STOP that came after the erasure, also once somebody signs up with it', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    const user = { ...ANA, phone: '+61400000001' }
    await w.post('/api/client/users/batch', [user])
    await w.delete('/api/client/users/ana')
    await w.drain()
    const late = (channel: 'email' | 'text', address: string, reason: 'complaint' | 'hard_bounce' | 'unsubscribed_all') =>
      inTx(w.ctx, (ctx) => suppress(ctx, [{ channel, address, reason, source: { message_id: 7 } }]))
    await late('email', user.email, 'complaint')
    await late('email', user.email, 'hard_bounce')
    await late('text', user.phone, 'unsubscribed_all')
    const suppressions = async () =>
      (await w.get('/api/client/suppressions')).body.results.map((one: any) => [one.channel, one.address, one.reason]).toSorted()
    expect(await suppressions()).toEqual([
      ['email', null, 'erased'],
      ['text', null, 'erased'],
    ])
    await w.post('/api/client/users/batch', [user])
    await w.drain()
    expect(await suppressions()).toEqual([
      ['email', user.email, 'complaint'],
      ['text', user.phone, 'unsubscribed_all'],
    ])
    expect((await send(w, await typeOf(w, false))).reason).toBe('suppressed')
    expect(recipientsOf(relay)).toEqual([])
  })

  test('is suppressed by the job if the request for the erasure came from an older version', async () => {
    await using w = await world()
    await w.users('ana')
    // An older version suppresses nothing with the request.
    await w.delete('/api/client/users/ana')
    await select(w, 'delete from suppressions where project_id = $1', [w.projectId])
    await w.drain()
    expect((await w.get('/api/client/suppressions')).body.results).toMatchObject([{ reason: 'erased' }])
  })

  test('stays suppressed after an import, and for another address', async () => {
    await using w = await world()
    await eraseAna(w)
    await w.users('bo')
    const list = (await w.post('/api/client/lists', { name: 'Bought', type: 'static' })).body.id
    const headers = { 'content-type': 'text/csv' }
    const started = await w.request('POST', `/api/client/lists/${list}/import`, undefined, {
      raw: 'external_id,email\nana,ana@example.com\n',
      headers,
    })
    expect(started.status, started.text).toBeLessThan(300)
    await w.drain()
    expect((await w.get('/api/client/users/ana')).status).toBe(200)
    expect((await w.get('/api/client/suppressions')).body.results).toMatchObject([{ reason: 'erased' }])
  })
})

test('a sign-up lets transactional email through after the second button of “Unsubscribe from everything”, and lifts nothing else', async () => {
  await using relay = await openRelay()
  await using w = await world()
  await sendOver(w, relay)
  const stopped = { channel: 'email' as const, reason: 'unsubscribed_all' as const, source: {} }
  await inTx(w.ctx, (ctx) => suppress(ctx, [{ ...stopped, address: 'ana@example.com' }]))
  const [transactional, other] = [await typeOf(w, true), await typeOf(w, false)]
  expect((await send(w, transactional)).state).toBe('queued')
  expect(await send(w, other)).toMatchObject({ state: 'skipped', detail: 'unsubscribed_all' })
  await inTx(w.ctx, (ctx) => suppress(ctx, [{ ...stopped, address: 'ana@example.com' }]))
  expect(await send(w, transactional)).toMatchObject({ state: 'skipped', reason: 'suppressed' })
  expect(recipientsOf(relay)).toEqual(['ana@example.com'])
})

describe('is no sign-up:', () => {
  const [ANONYMOUS, BATCH] = [{ anonymous_id: 'v1', email: ANA.email }, '/api/client/users/batch']
  const login = { external_id: 'ana', anonymous_id: 'v1' }
  test.each<[string, object[], (w: World) => Promise<unknown>]>([
    [
      'another letter case by a request of users',
      [{ ...ANA, email: 'Ana@Example.com' }],
      (w) => w.post(BATCH, [{ ...ANA, email: 'ana@EXAMPLE.com' }]),
    ],
    [
      'another letter case by an event',
      [{ ...ANA, email: 'Ana@Example.com' }],
      (w) => w.post('/api/client/events', [{ name: 'seen', external_id: 'ana', user: { email: ANA.email } }]),
    ],
    ['a merge', [ANONYMOUS, { external_id: 'ana' }], (w) => w.post(BATCH, [login])],
    [
      'a merge together with another letter case',
      [ANONYMOUS, { external_id: 'ana' }],
      (w) => w.post(BATCH, [{ ...login, email: 'Ana@Example.com' }]),
    ],
    ['a merge into a new user', [ANONYMOUS], (w) => w.post(BATCH, [{ external_id: 'ana' }, login])],
    [
      'a merge by an event',
      [ANONYMOUS, { external_id: 'ana' }],
      (w) => w.post('/api/client/events', [{ name: 'seen', external_id: 'ana', anonymous_id: 'v1' }]),
    ],
  ])('%s', async (_, users, change) => {
    await using relay = await openRelay()
    for (const reason of ['unsubscribed_all', 'erased'] as const) {
      await using w = await world()
      await sendOver(w, relay)
      await w.post(BATCH, users)
      await w.drain()
      await inTx(w.ctx, (ctx) => suppress(ctx, [{ channel: 'email', address: ANA.email, reason, source: {} }]))
      await change(w)
      await w.drain()
      expect(await send(w, await typeOf(w, true), { external_id: 'ana' })).toMatchObject({
        state: 'skipped',
        reason: 'suppressed',
        detail: reason,
      })
    }
    expect(recipientsOf(relay)).toEqual([])
  })
})

test.each([
  ['is created', [{ external_id: 'ana' }]],
  ['gets the address', [{ external_id: 'ana' }, { anonymous_id: 'v1' }]],
])('a visitor who %s and is merged by one request signs up', async (_, users) => {
  await using relay = await openRelay()
  await using w = await world()
  await sendOver(w, relay)
  await w.post('/api/client/users/batch', users)
  await inTx(w.ctx, (ctx) => suppress(ctx, [{ channel: 'email', address: ANA.email, reason: 'erased', source: {} }]))
  await w.post('/api/client/users/batch', [
    { anonymous_id: 'v1', email: ANA.email },
    { external_id: 'ana', anonymous_id: 'v1' },
  ])
  await send(w, await typeOf(w, true), { external_id: 'ana' })
  expect(recipientsOf(relay)).toEqual([ANA.email])
})

describe('an opt-out from everything', () => {
  const list = async (w: World) => (await w.get('/api/client/suppressions')).body.results
  const lift = async (w: World) => (await w.delete(`/api/client/suppressions/${(await list(w))[0].id}`)).status
  const other = ['hard_bounce', 'manual', 'complaint'] as const

  test.each(other.flatMap((reason) => [true, false].map((isFirst) => [reason, isFirst] as const)))(
    'applies again when another suppression (%s) is lifted, if it came first: %s',
    async (reason, isFirst) => {
      await using relay = await openRelay()
      await using w = await world()
      await sendOver(w, relay)
      await w.users('ana')
      const add = (reason: string) => w.post('/api/client/suppressions', [{ channel: 'email', address: ANA.email, reason }])
      for (const one of isFirst ? ['unsubscribed_all', reason] : [reason, 'unsubscribed_all']) await add(one)
      const [{ id, source }] = await list(w)
      expect(source.covers).toEqual({ reason: 'unsubscribed_all', stops_transactional: false })
      const [transactional, usual] = [await typeOf(w, true), await typeOf(w, false)]
      expect((await send(w, transactional)).reason).toBe('suppressed')
      expect(await lift(w)).toBe(204)
      // A client that repeats its request does not lift the opt-out.
      expect((await w.delete(`/api/client/suppressions/${id}`)).status).toBe(404)
      expect(await list(w)).toMatchObject([{ address: ANA.email, reason: 'unsubscribed_all', stops_transactional: false, source: {} }])
      expect(await send(w, usual)).toMatchObject({ reason: 'suppressed', detail: 'unsubscribed_all' })
      expect((await send(w, transactional)).reason).toBeNull()
      expect(recipientsOf(relay)).toEqual([ANA.email])
      expect(await lift(w)).toBe(204)
      expect(await list(w)).toEqual([])
      await send(w, usual)
      expect(recipientsOf(relay)).toEqual([ANA.email, ANA.email])
    },
  )

  test('from transactional messages too applies again, also below the suppressions of an erasure and of a bounce', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    await w.users('ana')
    const entry = { channel: 'email' as const, address: ANA.email, source: {} }
    await inTx(w.ctx, (ctx) => suppress(ctx, [{ ...entry, reason: 'hard_bounce' }]))
    await inTx(w.ctx, (ctx) => suppress(ctx, [{ ...entry, reason: 'unsubscribed_all' }]))
    await inTx(w.ctx, (ctx) => suppress(ctx, [{ ...entry, reason: 'unsubscribed_all', stopsTransactional: false }]))
    await inTx(w.ctx, (ctx) => suppress(ctx, [{ ...entry, reason: 'erased' }]))
    const covers = { reason: 'hard_bounce', covers: { reason: 'unsubscribed_all', stops_transactional: true } }
    expect(await list(w)).toMatchObject([{ reason: 'erased', address: null, source: { covers } }])
    expect(await lift(w)).toBe(204)
    expect(await list(w)).toMatchObject([{ reason: 'unsubscribed_all', source: {} }])
    expect((await send(w, await typeOf(w, true))).reason).toBe('suppressed')
    expect(recipientsOf(relay)).toEqual([])
  })

  test('stays below the bounce that a sign-up with the address of an erased user brings back', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    const entry = { channel: 'email' as const, address: ANA.email, source: {} }
    await inTx(w.ctx, (ctx) => suppress(ctx, [{ ...entry, reason: 'unsubscribed_all' }]))
    await inTx(w.ctx, (ctx) => suppress(ctx, [{ ...entry, reason: 'hard_bounce' }]))
    await eraseAna(w)
    await w.post('/api/client/users/batch', [ANA])
    await w.drain()
    const covers = { reason: 'unsubscribed_all', stops_transactional: false }
    expect(await list(w)).toMatchObject([{ reason: 'hard_bounce', address: ANA.email, source: { covers } }])
    await lift(w)
    expect((await send(w, await typeOf(w, false))).reason).toBe('suppressed')
    expect((await send(w, await typeOf(w, true))).reason).toBeNull()
    expect(recipientsOf(relay)).toEqual([ANA.email])
  })
})
