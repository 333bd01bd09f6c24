import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { besides } from '../../../../test/besides.ts'
import { type World, world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import { inTx } from '../../../infra/runtime/ctx.ts'
import type { SubscriptionId, UserId } from '../../../lib/ids.ts'
import { eraseSubscriptions, subscribeNew, subscriptionStates, unsubscribeBy } from '../index.ts'

const TYPES = '/api/client/subscriptions'
const of = (user: string) => `/api/client/users/${user}/subscriptions`
const consentsOf = async (w: World, user: string, query = '') => (await w.get(`/api/client/users/${user}/consents?${query}`)).body
const idOf = async (w: World, name: string): Promise<UserId> => (await w.get(`/api/client/users/${name}`)).body.id
const typesOf = async (w: World): Promise<SubscriptionId[]> => (await w.get(TYPES)).body.results.map(({ id }: { id: number }) => id)
const brief = ({ subscription_id, state, previous_state, source }: Record<string, unknown>) => [
  subscription_id,
  state,
  previous_state,
  source,
]

/** States that differ from their last consent entry. */
const strays = (w: World) =>
  w.db.many(
    Type.Object({ user_id: Type.Integer() }),
    sql`select u.user_id from user_subscriptions u
        left join lateral (
          select e.id, e.state from consent_entries e
          where e.project_id = u.project_id and e.user_id = u.user_id and e.subscription_id = u.subscription_id
          order by e.id desc limit 1
        ) e on true
        where e.id is distinct from u.consent_id or e.state is distinct from u.state`,
  )

describe('consent entries', () => {
  test('are added for every change, and only for changes', async () => {
    await using w = await world()
    await w.users('kim')
    const [email, text] = (await typesOf(w)) as [SubscriptionId, SubscriptionId]
    for (const state of [0, 0, 2, 1]) await w.patch(of('kim'), [{ subscription_id: email, state }])
    w.advance('1 hour')
    await w.patch(of('kim'), [{ subscription_id: text, state: 1 }])
    const { results } = await consentsOf(w, 'kim')
    expect(results.map(brief)).toEqual([
      [text, 1, null, 'api'],
      [email, 1, 2, 'api'],
      [email, 2, 0, 'api'],
      [email, 0, null, 'api'],
    ])
    expect(results[0]).toMatchObject({ wording: null, at: w.clock.now().toISOString() })
    expect(results[0].proof).toEqual({ key_id: expect.any(Number), request_id: expect.stringMatching(/^req_/) })
    expect(await strays(w)).toEqual([])
  })

  test.each([
    ['adds', undefined],
    ['changes', 1],
  ] as const)('have the state before that another transaction %s meanwhile', async (_, stored) => {
    await using w = await world()
    await w.users('kim')
    const [email] = (await typesOf(w)) as [SubscriptionId]
    if (stored !== undefined) await w.patch(of('kim'), [{ subscription_id: email, state: stored }])
    const confirming = sql`
      insert into user_subscriptions as u (project_id, user_id, subscription_id, state, updated_at)
      values (${w.projectId}, ${await idOf(w, 'kim')}, ${email}, 2, ${w.clock.now()})
      on conflict (project_id, user_id, subscription_id) do update set state = excluded.state`
    await besides(w, confirming, () => w.patch(of('kim'), [{ subscription_id: email, state: 0 }]))
    expect((await consentsOf(w, 'kim')).results.map(brief)[0]).toEqual([email, 0, 2, 'api'])
    expect(await strays(w)).toEqual([])
  })

  test('are not added for a state that another transaction saves meanwhile', async () => {
    await using w = await world()
    await w.users('kim')
    const [email] = (await typesOf(w)) as [SubscriptionId]
    const leaving = sql`
      insert into user_subscriptions (project_id, user_id, subscription_id, state, updated_at)
      values (${w.projectId}, ${await idOf(w, 'kim')}, ${email}, 0, ${w.clock.now()})`
    await besides(w, leaving, () => w.patch(of('kim'), [{ subscription_id: email, state: 0 }]))
    expect((await consentsOf(w, 'kim')).results).toEqual([])
    await w.patch(of('kim'), [{ subscription_id: email, state: 1 }])
    expect((await consentsOf(w, 'kim')).results.map(brief)).toEqual([[email, 1, 0, 'api']])
  })

  test('are paged, searched by source, and readable by support of the same project', async () => {
    await using w = await world()
    await w.users('kim')
    const [email] = await typesOf(w)
    for (const state of [0, 1, 0]) await w.patch(of('kim'), [{ subscription_id: email, state }])
    const first = await consentsOf(w, 'kim', 'limit=2')
    const second = await consentsOf(w, 'kim', `limit=2&cursor=${first.nextCursor}`)
    expect([first.results.length, second.results.length, second.nextCursor]).toEqual([2, 1, null])
    expect((await consentsOf(w, 'kim', 'q=import')).results).toEqual([])
    expect((await consentsOf(w, 'kim', 'q=api')).results).toHaveLength(3)
    const path = '/api/client/users/kim/consents'
    expect((await w.get(path, { key: w.keys.support })).status).toBe(200)
    expect((await w.get(path, { key: (await w.other()).keys.secret })).status).toBe(404)
    expect((await w.get('/api/client/users/nobody/consents')).status).toBe(404)
  })

  test('of an import have its source once, and make the events of a subscription', async () => {
    await using w = await world()
    await w.users('kim', 'lee')
    const { id } = (await w.post(TYPES, { name: 'News', channel: 'email', default_state: 0 })).body
    await w.patch(of('lee'), [{ subscription_id: id, state: 0 }])
    const users = await Promise.all(['kim', 'lee'].map((user) => idOf(w, user)))
    for (let n = 0; n < 2; n++) await inTx(w.ctx, (ctx) => subscribeNew(ctx, users, [id], { wording: 'Trade fair', proof: {} }))
    expect((await consentsOf(w, 'kim')).results).toMatchObject([
      { source: 'import', wording: 'Trade fair', state: 1, previous_state: null },
    ])
    expect((await consentsOf(w, 'lee')).results).toMatchObject([{ source: 'api', state: 0 }])
    await w.drain()
    const { results } = (await w.get('/api/client/users/kim/events')).body
    expect(results.filter(({ name }: { name: string }) => name === 'subscribed')).toMatchObject([
      { data: { subscription_id: id, source: 'import' } },
    ])
  })

  test('move with a merged user, and the merge is the last entry for types that both had', async () => {
    await using w = await world()
    await w.post('/api/client/users/batch', [{ anonymous_id: 'browser' }, { external_id: 'kim' }])
    const [email, text, push] = (await typesOf(w)) as [SubscriptionId, SubscriptionId, SubscriptionId]
    await w.patch(of('kim'), [
      { subscription_id: email, state: 2 },
      { subscription_id: push, state: 1 },
    ])
    await w.patch(of('browser'), [
      { subscription_id: email, state: 1 },
      { subscription_id: text, state: 0 },
    ])
    const browser = await idOf(w, 'browser')
    await w.post('/api/client/users/batch', [{ external_id: 'kim', anonymous_id: 'browser' }])
    const { results } = await consentsOf(w, 'kim')
    expect(results.filter(({ source }: { source: string }) => source === 'merge').map(brief)).toEqual(
      expect.arrayContaining([
        [email, 2, 2, 'merge'],
        [text, 0, null, 'merge'],
      ]),
    )
    expect(results).toHaveLength(6)
    expect(results[0].proof).toEqual({ merged_user_ids: [browser] })
    expect(await strays(w)).toEqual([])
  })

  test('unsubscribing a merged user unsubscribes the remaining one; an unknown id changes nothing', async () => {
    await using w = await world()
    await w.post('/api/client/users/batch', [{ anonymous_id: 'browser' }, { external_id: 'kim' }])
    const [email] = (await typesOf(w)) as [SubscriptionId]
    const browser = await idOf(w, 'browser')
    await w.post('/api/client/users/batch', [{ external_id: 'kim', anonymous_id: 'browser' }])
    await unsubscribeBy(w.ctx, { userId: browser, subscriptionId: email, source: 'complaint', proof: { message_id: 5 } })
    expect((await consentsOf(w, 'kim')).results).toMatchObject([{ state: 0, source: 'complaint', proof: { message_id: 5 } }])
    await unsubscribeBy(w.ctx, { userId: 999_999 as UserId, subscriptionId: email, source: 'complaint' })
    await unsubscribeBy(w.ctx, { userId: browser, subscriptionId: 999_999 as SubscriptionId, source: 'complaint' })
    expect((await consentsOf(w, 'kim')).results).toHaveLength(1)
  })

  test('are deleted by an erasure', async () => {
    await using w = await world()
    await w.users('kim', 'lee')
    const [email] = await typesOf(w)
    for (const user of ['kim', 'lee']) for (const state of [0, 1]) await w.patch(of(user), [{ subscription_id: email, state }])
    const id = await idOf(w, 'kim')
    expect(await inTx(w.ctx, (ctx) => eraseSubscriptions(ctx, [id]))).toBe(2)
    expect((await consentsOf(w, 'kim')).results).toEqual([])
    expect((await consentsOf(w, 'lee')).results).toHaveLength(2)
  })

  test('end with the current state after concurrent changes', async () => {
    await using w = await world()
    const browsers = Array.from({ length: 4 }, (_, n) => ({ anonymous_id: `browser-${n}` }))
    await w.post('/api/client/users/batch', [...browsers, { external_id: 'kim' }])
    const types = await typesOf(w)
    const name = (n: number) => (n % 3 === 0 ? 'kim' : `browser-${n % 4}`)
    const write = (n: number) => w.patch(of(name(n)), types.map((subscription_id) => ({ subscription_id, state: n % 3 })).reverse())
    const merge = (n: number) => w.post('/api/client/users/batch', [{ external_id: 'kim', anonymous_id: `browser-${n}` }])
    const replies = await Promise.all(Array.from({ length: 32 }, (_, n) => (n % 8 === 7 ? merge((n - 7) / 8) : write(n))))
    // A user who was merged meanwhile is no longer found by the old id. No other error is expected.
    expect(replies.filter(({ status }) => status !== 200 && status !== 404)).toEqual([])
    expect(await strays(w)).toEqual([])
    const orphans = sql`select u.user_id from user_subscriptions u join users p on p.id = u.user_id where p.merged_into is not null`
    expect(await w.db.many(Type.Object({ user_id: Type.Integer() }), orphans)).toEqual([])
    const states = await subscriptionStates(w.ctx, [{ user_id: await idOf(w, 'kim'), subscription_id: types[0] as SubscriptionId }])
    expect((await consentsOf(w, 'kim')).results.find((e: any) => e.subscription_id === types[0])).toMatchObject({
      id: states[0]?.consent_id,
      state: states[0]?.state,
    })
  })
})
