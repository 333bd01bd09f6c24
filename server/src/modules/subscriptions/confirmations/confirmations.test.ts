import { describe, expect, test } from 'vitest'
import { blastTo, listOf, run, schedule, subscriptionTo } from '../../../../test/blasts.ts'
import { recipientsOf, sendOver } from '../../../../test/mailing.ts'
import { openRelay } from '../../../../test/relay.ts'
import { select } from '../../../../test/select.ts'
import { type World, world } from '../../../../test/world.ts'
import { inTx } from '../../../infra/runtime/ctx.ts'
import type { SubscriptionId, UserId } from '../../../lib/ids.ts'
import { linksOf, subscribeNew, subscriptionStates } from '../index.ts'

const TYPES = '/api/client/subscriptions'
const of = (user: string) => `/api/client/users/${user}/subscriptions`
const idOf = async (w: World, name: string): Promise<UserId> => (await w.get(`/api/client/users/${name}`)).body.id

/** A type that requires a confirmation, with the default state 0. */
const newsletter = async (w: World): Promise<SubscriptionId> =>
  (await w.post(TYPES, { name: 'Newsletter', channel: 'email', default_state: 0, requires_confirmation: true })).body.id

const eventsOf = async (w: World, user: string): Promise<{ name: string; data: Record<string, unknown> }[]> => {
  await w.drain()
  const { results } = (await w.get(`/api/client/users/${user}/events`)).body
  return results.filter(({ name }: { name: string }) => /subscri/.test(name)).reverse()
}
const namesOf = async (w: World, user: string) => (await eventsOf(w, user)).map(({ name }) => name)

/** The path of the last link that was sent to a user. */
async function linkOf(w: World, user: string): Promise<string> {
  const requests = (await eventsOf(w, user)).filter(({ name }) => name === 'subscription_confirmation_requested')
  return String(requests.at(-1)?.data.confirm_url).slice('http://carillon.test'.length)
}

async function stateOf(w: World, user: string, subscription_id: SubscriptionId) {
  const [row] = await subscriptionStates(w.ctx, [{ user_id: await idOf(w, user), subscription_id }])
  return row?.state
}

const open = (w: World, path: string) => w.get(path, { key: null })
const press = (w: World, path: string) => w.form(path, { confirm: 'yes' }, { key: null })

describe('double opt-in', () => {
  test('subscribing over the API requests a confirmation, which the user gives on the page', async () => {
    await using w = await world()
    await w.users('kim')
    const id = await newsletter(w)
    await w.patch(of('kim'), [{ subscription_id: id, state: 1 }])
    expect(await eventsOf(w, 'kim')).toMatchObject([
      {
        name: 'subscription_confirmation_requested',
        data: { subscription_id: id, confirm_url: expect.stringMatching(/^http:\/\/carillon\.test\/s\/confirm\/[\w-]+$/) },
      },
    ])
    const link = await linkOf(w, 'kim')
    for (let n = 0; n < 2; n++) expect((await open(w, link)).text).toContain('Do you want “Newsletter”?')
    expect(await stateOf(w, 'kim', id)).toBe(1)

    for (let n = 0; n < 2; n++) expect((await press(w, link)).text).toContain('Thank you, you are subscribed')
    expect((await open(w, link)).text).toContain('Thank you, you are subscribed')
    expect(await stateOf(w, 'kim', id)).toBe(2)
    const { results } = (await w.get('/api/client/users/kim/consents')).body
    expect(results.map(({ state, source }: Record<string, unknown>) => [state, source])).toEqual([
      [2, 'confirmation'],
      [1, 'api'],
    ])
    expect(results[0].wording).toMatch(/^confirmation\/en@/)
    expect(await namesOf(w, 'kim')).toEqual(['subscription_confirmation_requested', 'subscribed'])
  })

  test('confirming one type brings no other one back after an opt-out from everything', async () => {
    await using w = await world()
    await using relay = await openRelay()
    await sendOver(w, relay)
    const list_ids = [await listOf(w, 'kim')]
    const address = (await w.get('/api/client/users/kim')).body.email
    await w.post('/api/client/suppressions', [{ channel: 'email', address, reason: 'unsubscribed_all' }])
    const id = await newsletter(w)
    await w.patch(of('kim'), [{ subscription_id: id, state: 1 }])
    await press(w, await linkOf(w, 'kim'))
    expect((await w.get('/api/client/suppressions')).body.results).toEqual([])
    const usual = (await subscriptionTo(w)) as SubscriptionId
    for (const subscription_id of [usual, id]) await schedule(w, await blastTo(w, list_ids, { subscription_id }))
    await w.drain()
    expect(recipientsOf(relay)).toEqual([address])
    expect([await stateOf(w, 'kim', usual), await stateOf(w, 'kim', id)]).toEqual([0, 2])
  })

  test('a link to another address than the present one confirms nothing, and lifts no opt-out of that', async () => {
    await using w = await world()
    const id = await newsletter(w)
    const email = (address: string) => w.post('/api/client/users/batch', [{ external_id: 'kim', email: address }])
    await email('kim@example.com')
    await w.patch(of('kim'), [{ subscription_id: id, state: 1 }])
    const link = await linkOf(w, 'kim')
    await email('lee@example.com')
    await w.post('/api/client/suppressions', [{ channel: 'email', address: 'lee@example.com', reason: 'unsubscribed_all' }])
    for (const page of [await open(w, link), await press(w, link)]) {
      expect(page.status).toBe(410)
      expect(page.text).toContain('Subscribe again')
    }
    expect(await stateOf(w, 'kim', id)).toBe(1)
    expect((await w.get('/api/client/suppressions')).body.results).toHaveLength(1)
    await email('KIM@example.com')
    expect((await press(w, link)).text).toContain('Thank you, you are subscribed')
    expect(await stateOf(w, 'kim', id)).toBe(2)
    expect((await w.get('/api/client/suppressions')).body.results).toHaveLength(1)
  })

  test('a new request is sent after an hour, not before, and every link works', async () => {
    await using w = await world()
    await w.users('kim')
    const id = await newsletter(w)
    const subscribe = () => w.patch(of('kim'), [{ subscription_id: id, state: 1 }])
    await subscribe()
    const first = await linkOf(w, 'kim')
    w.advance('59 minutes')
    await subscribe()
    expect(await namesOf(w, 'kim')).toHaveLength(1)
    w.advance('1 minute')
    await subscribe()
    expect(await namesOf(w, 'kim')).toHaveLength(2)
    expect(await linkOf(w, 'kim')).not.toBe(first)
    await press(w, first)
    expect(await stateOf(w, 'kim', id)).toBe(2)
  })

  test('a user whose address changed since gets a new request at once, and none more with the same address', async () => {
    await using w = await world()
    const id = await newsletter(w)
    const email = (address: string) => w.post('/api/client/users/batch', [{ external_id: 'kim', email: address }])
    const subscribe = () => w.patch(of('kim'), [{ subscription_id: id, state: 1 }])
    await email('kim@exmaple.com')
    await subscribe()
    const first = await linkOf(w, 'kim')
    await email('kim@example.com')
    expect((await press(w, first)).text).toContain('Subscribe again')
    await subscribe()
    const second = await linkOf(w, 'kim')
    for (const address of ['Kim@Example.com', 'kim@exmaple.com', 'kim@example.com']) {
      await email(address)
      await subscribe()
    }
    expect(await namesOf(w, 'kim')).toEqual(Array(2).fill('subscription_confirmation_requested'))
    expect((await press(w, second)).text).toContain('Thank you, you are subscribed')
    expect(await stateOf(w, 'kim', id)).toBe(2)
  })

  test('concurrent changes send one request', async () => {
    await using w = await world()
    await w.users('kim')
    const id = await newsletter(w)
    await Promise.all(Array.from({ length: 6 }, () => w.patch(of('kim'), [{ subscription_id: id, state: 1 }])))
    expect(await namesOf(w, 'kim')).toEqual(['subscription_confirmation_requested'])
  })

  test('a link is valid for 30 days', async () => {
    await using w = await world()
    await w.users('kim')
    const id = await newsletter(w)
    await w.patch(of('kim'), [{ subscription_id: id, state: 1 }])
    const link = await linkOf(w, 'kim')
    w.advance('30 days')
    expect((await open(w, link)).status).toBe(200)
    w.advance('1 second')
    for (const page of [await open(w, link), await press(w, link)]) {
      expect(page.status).toBe(410)
      expect(page.text).toContain('This link has expired')
    }
    expect(await stateOf(w, 'kim', id)).toBe(1)

    const requests = () => select(w, 'select id from confirmations where project_id = $1', [w.projectId])
    w.advance('59 days')
    while ((await run(w, 'retention')) > 0);
    expect(await requests()).toHaveLength(1)
    w.advance('1 day')
    await w.patch(of('kim'), [{ subscription_id: id, state: 1 }])
    const second = await linkOf(w, 'kim')
    while ((await run(w, 'retention')) > 0);
    expect(await requests()).toHaveLength(1)
    expect(await open(w, link)).toMatchObject({ status: 410, text: expect.stringContaining('This link has expired') })
    expect((await open(w, second)).text).toContain('Do you want “Newsletter”?')
  })

  test('an import, a session and the preference centre request a confirmation too', async () => {
    await using w = await world()
    await w.users('imported', 'session', 'page')
    const id = await newsletter(w)
    await inTx(w.ctx, async (ctx) => subscribeNew(ctx, [await idOf(w, 'imported')], [id], { wording: 'Trade fair', proof: {} }))
    const options = { key: w.keys.public, headers: { 'x-service-user-token': await w.token('session') } }
    await w.patch('/api/client/users/me/subscriptions', [{ subscription_id: id, state: 1 }], options)
    const about = { projectId: w.projectId, userId: await idOf(w, 'page'), subscriptionId: id, messageId: null }
    const path = linksOf(w.ctx, about).preferences_url.slice('http://carillon.test'.length)
    const saved = await w.form(path, { on: String(id), shown: String(id) }, { key: null })
    expect(saved.headers.location).toBe('?saved=saved_confirm')
    expect((await open(w, path)).text).toContain('Waiting for your confirmation')
    for (const user of ['imported', 'session', 'page']) {
      expect([user, await namesOf(w, user)]).toEqual([user, ['subscription_confirmation_requested']])
      expect(await stateOf(w, user, id)).toBe(1)
    }
    const entry = async (user: string) => (await w.get(`/api/client/users/${user}/consents`)).body.results[0]
    expect(await entry('imported')).toMatchObject({ source: 'import', wording: 'Trade fair', previous_state: null })
    expect(await entry('session')).toMatchObject({ source: 'session', proof: { key_id: expect.any(Number) } })
    expect(await entry('page')).toMatchObject({ source: 'preference_page' })
  })

  test('a confirmed user who subscribes again stays confirmed without a new request', async () => {
    await using w = await world()
    await w.users('kim')
    const id = await newsletter(w)
    await w.patch(of('kim'), [{ subscription_id: id, state: 2 }])
    const options = { key: w.keys.public, headers: { 'x-service-user-token': await w.token('kim') } }
    await w.patch('/api/client/users/me/subscriptions', [{ subscription_id: id, state: 1 }], options)
    expect(await stateOf(w, 'kim', id)).toBe(2)
    expect(await namesOf(w, 'kim')).toEqual(['subscribed'])
  })

  test('a link works for the remaining user after a merge, and not after an erasure', async () => {
    await using w = await world()
    await w.post('/api/client/users/batch', [{ anonymous_id: 'browser' }, { external_id: 'kim' }])
    const id = await newsletter(w)
    await w.patch(of('browser'), [{ subscription_id: id, state: 1 }])
    const link = await linkOf(w, 'browser')
    await w.post('/api/client/users/batch', [{ external_id: 'kim', anonymous_id: 'browser' }])
    await press(w, link)
    expect(await stateOf(w, 'kim', id)).toBe(2)
    await w.delete('/api/client/users/kim')
    await w.drain()
    expect((await open(w, link)).text).toContain('You will get no more messages')
    expect((await press(w, link)).text).toContain('You will get no more messages')
  })

  test('a type without confirmation sends no requests', async () => {
    await using w = await world()
    await w.users('kim')
    const [email] = (await w.get(TYPES)).body.results
    await w.patch(of('kim'), [{ subscription_id: email.id, state: 0 }])
    await w.patch(of('kim'), [{ subscription_id: email.id, state: 1 }])
    expect(await namesOf(w, 'kim')).toEqual(['unsubscribed', 'subscribed'])
  })
})
