/** Opt-outs by address: unsubscribing by a message concerns every user who has the address it went to. */
import { describe, expect, test, vi } from 'vitest'
import { blastTo, listOf, schedule, subscriptionTo } from '../../../test/blasts.ts'
import { answerOrders, order, providerOf, recipientsOf, sendOver } from '../../../test/mailing.ts'
import { openRelay, type ReceivedMail } from '../../../test/relay.ts'
import { select } from '../../../test/select.ts'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { inTx } from '../../infra/runtime/ctx.ts'
import type { ProviderId, SubscriptionId, UserId } from '../../lib/ids.ts'
import { Count } from '../../lib/shapes.ts'
import { findCampaignSubscriptions } from '../campaigns/index.ts'
import type { Report } from '../channels/index.ts'
import { applyReports } from '../messages/reports/reports.ts'
import { linksOf, receiveText, subscribeNew } from './index.ts'
import { suppress } from './suppressions/service.ts'

const USERS = '/api/client/users/batch'
const ONE_CLICK = { 'List-Unsubscribe': 'One-Click' }

const stateOf = async (w: World, user: string, id: number) =>
  (await w.get(`/api/client/users/${user}/subscriptions?limit=100`)).body.results.find((row: any) => row.subscription_id === id).state
const statesOf = async (w: World, id: number, ...users: string[]) => Promise.all(users.map((user) => stateOf(w, user, id)))
const entriesOf = async (w: World, user: string) => (await w.get(`/api/client/users/${user}/consents?limit=100`)).body.results

/** Past the API, which shows neither merged nor erased users. */
const usersWithEntries = async (w: World) =>
  (await select(w, 'select distinct user_id::int from consent_entries where project_id = $1 order by 1', [w.projectId])).map(
    ({ user_id }) => user_id,
  )

const pathOf = (url: string) => url.slice('http://carillon.test'.length)
/** The unsubscribe link in the header of a mail. */
const linkIn = ({ headers }: ReceivedMail) => pathOf((headers['list-unsubscribe'] ?? '').slice(1, -1))

/** Ana and Bo share an address, Cy has another one. Ana gets a mail. */
async function sentToAna(w: World, relay: { host: string; port: number; mails: ReceivedMail[] }) {
  const list = await listOf(w, 'ana')
  const provider: ProviderId = await sendOver(w, relay)
  await w.post(USERS, [
    { external_id: 'ana', email: 'Shared@example.com', phone: '+61412345678' },
    { external_id: 'bo', email: 'SHARED@Example.com' },
    { external_id: 'cy', email: 'cy@example.com', phone: '+61412345678' },
  ])
  const subscription_id = await subscriptionTo(w)
  await schedule(w, await blastTo(w, [list]))
  await w.drain()
  const [mail] = relay.mails
  if (!mail) throw new Error('There is no mail.')
  const unsubscribe = linkIn(mail)
  return { provider, subscription_id, mail, unsubscribe, preferences: unsubscribe.replace('/s/u/', '/s/p/') }
}

describe('every user with the address is unsubscribed, with an entry each,', () => {
  test.each([
    ['by one click', ONE_CLICK, 'one_click'],
    ['on the page', { unsubscribe: 'yes' }, 'unsubscribe_page'],
  ])('%s', async (_, form, source) => {
    await using w = await world()
    await using relay = await openRelay()
    const { unsubscribe, subscription_id } = await sentToAna(w, relay)
    const other = await w.other()
    await w.post(USERS, [{ external_id: 'stranger', email: 'shared@example.com' }], { key: other.keys.secret })
    for (let time = 0; time < 2; time++) expect((await w.form(unsubscribe, form, { key: null })).status).toBe(200)
    expect(await statesOf(w, subscription_id, 'ana', 'bo', 'cy')).toEqual([0, 0, 1])
    for (const user of ['ana', 'bo']) expect(await entriesOf(w, user), user).toMatchObject([{ subscription_id, state: 0, source }])
    const { id } = (await w.get('/api/client/users/ana')).body
    expect((await entriesOf(w, 'bo'))[0].proof).toMatchObject({ same_address_as: id, message_id: expect.any(Number) })
    expect(await entriesOf(w, 'cy')).toEqual([])
    const theirs = (await w.get('/api/client/users/stranger/consents', { key: other.keys.secret })).body
    expect(theirs.results).toEqual([])
    await schedule(w, await blastTo(w, [await listOf(w, 'dee')], { list_ids: [await listWith(w, 'ana', 'bo', 'cy')] }))
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['Shared@example.com', 'cy@example.com'])
    await w.drain()
    const names = (await w.get('/api/client/users/bo/events')).body.results.map(({ name }: any) => name)
    expect(names.filter((name: string) => name === 'unsubscribed')).toHaveLength(1)
  })

  test('when a provider reports an unsubscribe or a complaint', async () => {
    for (const [what, source] of [
      ['unsubscribed', 'provider'],
      ['complained', 'complaint'],
    ] as const) {
      await using w = await world()
      await using relay = await openRelay()
      const { provider, mail, subscription_id } = await sentToAna(w, relay)
      const report: Report = { what, at: w.clock.now(), reference: mail.headers['message-id'] as string }
      await applyReports(w.ctx, findCampaignSubscriptions, provider, [report])
      expect(await statesOf(w, subscription_id, 'ana', 'bo', 'cy')).toEqual([0, 0, 1])
      for (const user of ['ana', 'bo']) expect(await entriesOf(w, user), user).toMatchObject([{ state: 0, source }])
    }
  })

  test('by the box of a type in the preference centre, and only by that', async () => {
    await using w = await world()
    await using relay = await openRelay()
    const { preferences, subscription_id } = await sentToAna(w, relay)
    const digest = (await w.post('/api/client/subscriptions', { name: 'Digest', channel: 'email', default_state: 0 })).body.id
    const text = await subscriptionTo(w, 'text')
    const push = await subscriptionTo(w, 'push')
    await w.patch('/api/client/users/bo/subscriptions', [{ subscription_id: digest, state: 1 }])
    // The box of the digest was not ticked before, so leaving it so says nothing about Bo.
    const shown = [subscription_id, digest, text, push].map((id) => `shown=${id}`).join('&')
    expect((await w.form(preferences, shown, { key: null })).status).toBe(303)
    expect(await statesOf(w, subscription_id, 'ana', 'bo', 'cy')).toEqual([0, 0, 1])
    expect(await statesOf(w, digest, 'ana', 'bo')).toEqual([0, 1])
    expect(await statesOf(w, text, 'ana', 'bo', 'cy')).toEqual([0, 1, 0])
    expect(await statesOf(w, push, 'ana', 'bo', 'cy')).toEqual([0, 1, 1])
    // Opting in is each user's own.
    await w.form(preferences, `shown=${subscription_id}&on=${subscription_id}`, { key: null })
    expect(await statesOf(w, subscription_id, 'ana', 'bo')).toEqual([1, 0])
  })

  test('by unsubscribing from everything', async () => {
    await using w = await world()
    await using relay = await openRelay()
    const { preferences, subscription_id } = await sentToAna(w, relay)
    await w.form(preferences, { all: 'yes' }, { key: null })
    expect(await statesOf(w, subscription_id, 'ana', 'bo', 'cy')).toEqual([0, 0, 1])
    expect(await statesOf(w, await subscriptionTo(w, 'text'), 'ana', 'bo', 'cy')).toEqual([0, 1, 0])
    expect(await statesOf(w, await subscriptionTo(w, 'push'), 'ana', 'bo', 'cy')).toEqual([0, 1, 1])
    expect((await entriesOf(w, 'bo'))[0]).toMatchObject({ source: 'preference_page', proof: { everything: true } })
  })
})

test('an opt-in after an opt-out from everything brings back only what the user chose, for no other user of the address', async () => {
  await using w = await world()
  await using relay = await openRelay()
  const { preferences, subscription_id } = await sentToAna(w, relay)
  const typed = async (body: object) => (await w.post('/api/client/subscriptions', { channel: 'email', ...body })).body.id as number
  const digest = await typed({ name: 'Digest' })
  const internal = await typed({ name: 'Internal', is_public: false })
  const receipts = await typed({ name: 'Receipts', is_transactional: true })
  const off = await typed({ name: 'Off', default_state: 0, is_public: false })
  const other = await typed({ name: 'Other', default_state: 0, is_public: false })
  // An opt-out that the application knows, so that no state says so.
  await w.post('/api/client/suppressions', [{ channel: 'email', address: 'shared@example.com', reason: 'unsubscribed_all' }])
  await w.form(preferences, `shown=${subscription_id}&shown=${digest}&on=${digest}`, { key: null })
  expect((await w.get('/api/client/suppressions')).body.results).toEqual([])
  for (const [type, states] of [
    [subscription_id, [0, 0, 1]],
    [digest, [1, 0, 1]],
    [internal, [0, 0, 1]],
    [receipts, [1, 1, 1]],
  ] as const)
    expect(await statesOf(w, type, 'ana', 'bo', 'cy'), `type ${type}`).toEqual(states)
  expect(await statesOf(w, await subscriptionTo(w, 'text'), 'ana', 'bo', 'cy')).toEqual([1, 1, 1])
  // What subscribes only users without a state, such as an import or another default, does not undo that.
  const users = await Promise.all(['ana', 'bo', 'cy'].map(async (user) => (await w.get(`/api/client/users/${user}`)).body.id as UserId))
  await inTx(w.ctx, (ctx) => subscribeNew(ctx, users, [off as SubscriptionId], { wording: 'Shop', proof: {} }))
  expect(await statesOf(w, off, 'ana', 'bo', 'cy')).toEqual([0, 0, 1])
  await w.patch(`/api/client/subscriptions/${other}`, { default_state: 1 })
  expect(await statesOf(w, other, 'ana', 'bo', 'cy')).toEqual([0, 0, 1])
  const { id } = (await w.get('/api/client/users/ana')).body
  const entry = (await entriesOf(w, 'bo')).find((one: any) => one.subscription_id === internal)
  expect(entry).toMatchObject({ state: 0, source: 'preference_page', proof: { not_chosen: true, same_address_as: id } })
  expect((await entriesOf(w, 'ana')).filter(({ proof }: any) => proof.everything)).toEqual([])
  // To come back is no unsubscribe by the message.
  const [campaign] = (await w.get('/api/client/campaigns')).body.results
  expect((await w.get(`/api/client/campaigns/${campaign.id}/delivery`)).body.unsubscribed).toBe(0)
  const list_ids = [await listWith(w, 'ana', 'bo')]
  for (const type of [subscription_id, digest, internal, off, other])
    await schedule(w, await blastTo(w, [await listOf(w, 'dee')], { list_ids, subscription_id: type }))
  await w.drain()
  expect(relay.mails.slice(1).map(({ to }) => to)).toEqual([['Shared@example.com']])
})

test('the address is that to which the message went, also if the user has another one by now', async () => {
  await using w = await world()
  await using relay = await openRelay()
  const { unsubscribe, subscription_id } = await sentToAna(w, relay)
  await w.post(USERS, [{ external_id: 'ana', email: 'cy@example.com' }])
  await w.form(unsubscribe, ONE_CLICK, { key: null })
  expect(await statesOf(w, subscription_id, 'ana', 'bo', 'cy')).toEqual([0, 0, 1])
})

describe('an opt-in on a page lifts the opt-out of an address', () => {
  const PHONE = '+61412345678'
  const suppressed = async (w: World) => (await w.get('/api/client/suppressions')).body.results.map(({ address }: any) => address).sort()
  const optOut = (w: World, address: string) =>
    w.post('/api/client/suppressions', [{ channel: 'email', address, reason: 'unsubscribed_all' }])

  test('to which the message of the page went, and of no other one', async () => {
    await using w = await world()
    await using relay = await openRelay()
    const { preferences, subscription_id } = await sentToAna(w, relay)
    const tick = () => w.form(preferences, `shown=${subscription_id}&on=${subscription_id}`, { key: null })
    await optOut(w, 'cy@example.com')
    await w.post(USERS, [{ external_id: 'ana', email: 'Cy@example.com' }])
    await tick()
    expect(await suppressed(w)).toEqual(['cy@example.com'])
    await schedule(w, await blastTo(w, [await listOf(w, 'dee')], { list_ids: [await listWith(w, 'ana', 'cy')] }))
    await w.drain()
    expect(relay.mails).toHaveLength(1)
    await w.post(USERS, [{ external_id: 'ana', email: 'shared@EXAMPLE.com' }])
    await optOut(w, 'shared@example.com')
    await tick()
    expect(await suppressed(w)).toEqual(['cy@example.com'])
  })

  test('of another channel only if it came from a page of a message to the same address', async () => {
    await using w = await world()
    await using relay = await openRelay()
    const { preferences } = await sentToAna(w, relay)
    const text = await subscriptionTo(w, 'text')
    const tick = () => w.form(preferences, `shown=${text}&on=${text}`, { key: null })
    await w.form(preferences, { all: 'yes' }, { key: null })
    expect(await suppressed(w)).toEqual([PHONE, 'shared@example.com'])
    await tick()
    expect(await suppressed(w)).toEqual(['shared@example.com'])
    await receiveText(w.ctx, PHONE, 'STOP')
    await tick()
    expect(await suppressed(w)).toEqual([PHONE, 'shared@example.com'])
    await receiveText(w.ctx, PHONE, 'START')
    expect(await suppressed(w)).toEqual(['shared@example.com'])
  })

  test.each(['all', 'stop'])('that came from the same page (%s), also if the user had another address by then', async (button) => {
    await using w = await world()
    await using relay = await openRelay()
    const { preferences, subscription_id } = await sentToAna(w, relay)
    await w.post(USERS, [
      { external_id: 'ana', email: 'new@example.com' },
      { external_id: 'eve', email: 'New@example.com' },
    ])
    await w.form(preferences, { [button]: 'yes' }, { key: null })
    expect(await suppressed(w)).toEqual([PHONE, 'new@example.com', 'shared@example.com'])
    await w.form(preferences, `shown=${subscription_id}&on=${subscription_id}`, { key: null })
    expect(await suppressed(w)).toEqual([PHONE, 'shared@example.com'])
    // Bo has the address of the message, and Eve the present one.
    expect(await statesOf(w, subscription_id, 'ana', 'bo', 'eve')).toEqual([1, 0, 0])
    await schedule(w, await blastTo(w, [await listOf(w, 'dee')], { list_ids: [await listWith(w, 'ana', 'bo', 'eve')] }))
    await w.drain()
    expect(relay.mails.slice(1).map(({ to }) => to)).toEqual([['new@example.com']])
  })

  test.each([true, false])('that came from the same page, also if another suppression covered it (still: %s)', async (isStill) => {
    await using w = await world()
    await using relay = await openRelay()
    const { preferences } = await sentToAna(w, relay)
    const text = await subscriptionTo(w, 'text')
    await w.form(preferences, { all: 'yes' }, { key: null })
    await w.post('/api/client/suppressions', [{ channel: 'text', address: PHONE, reason: 'manual' }])
    const tick = () => w.form(preferences, `shown=${text}&on=${text}`, { key: null })
    if (isStill) await tick()
    const { results } = (await w.get('/api/client/suppressions')).body
    await w.delete(`/api/client/suppressions/${results.find(({ channel }: any) => channel === 'text').id}`)
    expect(await suppressed(w)).toEqual(isStill ? ['shared@example.com'] : [PHONE, 'shared@example.com'])
    await tick()
    expect(await suppressed(w)).toEqual(['shared@example.com'])
  })

  test.each<[string, 'all' | 'stop', (w: World) => Promise<unknown>]>([
    ['STOP after “Stop every message”', 'stop', (w) => receiveText(w.ctx, PHONE, 'STOP')],
    ['an objection after “Unsubscribe from everything”', 'all', (w) => objectTo(w)],
    ['an objection before “Stop every message”', 'stop', (w) => objectTo(w)],
    ['STOP that a bounce covers', 'stop', (w) => receiveText(w.ctx, PHONE, 'STOP')],
  ])('of another channel not if that came from there too: %s', async (name, button, optOut) => {
    await using w = await world()
    await using relay = await openRelay()
    const { preferences } = await sentToAna(w, relay)
    const text = await subscriptionTo(w, 'text')
    const press = () => w.form(preferences, { [button]: 'yes' }, { key: null })
    for (const step of name.includes('before') ? [optOut, press] : [press, optOut, press]) await step(w)
    const bounce = { channel: 'text', address: PHONE, reason: 'hard_bounce' }
    if (name.includes('bounce')) await w.post('/api/client/suppressions', [bounce])
    await w.form(preferences, `shown=${text}&on=${text}`, { key: null })
    if (name.includes('bounce')) {
      const { results } = (await w.get('/api/client/suppressions')).body
      await w.delete(`/api/client/suppressions/${results.find(({ channel }: any) => channel === 'text').id}`)
    }
    expect(await suppressed(w)).toEqual([PHONE, 'shared@example.com'])
    await receiveText(w.ctx, PHONE, 'START')
    expect(await suppressed(w)).toEqual(['shared@example.com'])
  })

  test('of another channel not if a page of a message to it came first or later', async () => {
    await using w = await world()
    await using relay = await openRelay()
    const { preferences } = await sentToAna(w, relay)
    const text = await subscriptionTo(w, 'text')
    await providerOf(w, { kind: 'discard', channel: 'text', settings: {} })
    await answerOrders(w, 'text')
    await order(w, 'cy')
    await w.drain()
    const { id: messageId } = (await w.get('/api/client/messages?channel=text')).body.results[0]
    const { id: userId } = (await w.get('/api/client/users/cy')).body
    const about = { projectId: w.projectId, userId, subscriptionId: text as SubscriptionId, messageId }
    const ofText = pathOf(linksOf(w.ctx, about).preferences_url)
    const [stop, tick] = [{ stop: 'yes' }, `shown=${text}&on=${text}`]
    for (const pages of [
      [preferences, ofText],
      [ofText, preferences],
    ]) {
      for (const page of pages) await w.form(page, stop, { key: null })
      await w.form(preferences, tick, { key: null })
      expect(await suppressed(w)).toContain(PHONE)
      await w.form(ofText, tick, { key: null })
      expect(await suppressed(w)).not.toContain(PHONE)
    }
  })
})

test('an opt-in on a page leaves the STOP that came while it was saved', async () => {
  await using w = await world({ own: true })
  await using relay = await openRelay()
  const { preferences } = await sentToAna(w, relay)
  const text = await subscriptionTo(w, 'text')
  await w.form(preferences, { all: 'yes' }, { key: null })
  const [stopped, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const stop = { channel: 'text' as const, address: '+61412345678', reason: 'unsubscribed_all' as const, source: { by: 'text_keyword' } }
  const stopping = inTx(w.ctx, async (ctx) => {
    await suppress(ctx, [stop])
    stopped.resolve()
    await commit.promise
  })
  await stopped.promise
  const saving = w.form(preferences, `shown=${text}&on=${text}`, { key: null })
  const waiting = () => w.db.value(Count, sql`select count(*) as count from pg_locks where locktype = 'transactionid' and not granted`)
  await vi.waitFor(async () => expect(await waiting()).toBe(1), { timeout: 20_000 })
  commit.resolve()
  await Promise.all([stopping, saving])
  expect((await w.get('/api/client/suppressions')).body.results.map(({ channel }: any) => channel).toSorted()).toEqual(['email', 'text'])
})

const objectTo = (w: World) =>
  w.post('/api/client/suppressions', [{ channel: 'text', address: '+61412345678', reason: 'unsubscribed_all' }])

test('an erased or merged user with the address is left out', async () => {
  await using w = await world()
  await using relay = await openRelay()
  const { unsubscribe, subscription_id } = await sentToAna(w, relay)
  await w.post(USERS, [{ anonymous_id: 'browser', email: 'shared@example.com' }])
  await w.post(USERS, [{ external_id: 'cy', anonymous_id: 'browser' }])
  await w.delete('/api/client/users/bo')
  await w.form(unsubscribe, ONE_CLICK, { key: null })
  expect(await statesOf(w, subscription_id, 'ana', 'cy')).toEqual([0, 1])
  const { id } = (await w.get('/api/client/users/ana')).body
  expect(await usersWithEntries(w)).toEqual([id])
})

/** A static list of existing users. */
async function listWith(w: World, ...external_ids: string[]): Promise<number> {
  const { body } = await w.post('/api/client/lists', { name: 'Some', type: 'static' })
  await w.post(`/api/client/lists/${body.id}/users`, { external_ids })
  return body.id
}

describe('a transactional message', () => {
  /** Ana is on a blast of receipts, and has its mail. */
  async function receipt(w: World, relay: { host: string; port: number; mails: ReceivedMail[] }) {
    await sendOver(w, relay)
    const { id } = (await w.post('/api/client/subscriptions', { name: 'Receipts', channel: 'email', is_transactional: true })).body
    const list = await listOf(w, 'ana')
    const send = async () => {
      const campaign = await blastTo(w, [list], { subscription_id: id })
      const html = '<p>Thanks</p><a href="{{ unsubscribe_url }}">Stop</a>'
      await w.put(`/api/client/campaigns/${campaign.id}/templates/en`, { from: 'shop@example.com', subject: 'Receipt', html })
      await schedule(w, campaign)
      await w.drain()
      return relay.mails.at(-1) as ReceivedMail
    }
    const mail = await send()
    const [, token = ''] = /\/s\/u\/([\w-]+)/.exec(mail.raw.replace(/=\r\n/g, '')) ?? []
    return { id: id as number, list, send, mail, unsubscribe: `/s/u/${token}`, preferences: `/s/p/${token}` }
  }

  test('has no `List-Unsubscribe`, and one click on its link succeeds at nothing and writes nothing', async () => {
    await using w = await world()
    await using relay = await openRelay()
    const { mail, unsubscribe } = await receipt(w, relay)
    expect(mail.headers.subject).toBe('Receipt')
    expect(Object.keys(mail.headers).filter((name) => name.startsWith('list-'))).toEqual([])
    for (const form of [ONE_CLICK, { unsubscribe: 'yes' }]) {
      const reply = await w.form(unsubscribe, form, { key: null })
      expect(reply.status).toBe(422)
      expect(reply.text).not.toContain('Unsubscribed')
    }
    const multipart = '--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n'
    const headers = { 'content-type': 'multipart/form-data; boundary=b' }
    expect((await w.post(unsubscribe, undefined, { key: null, raw: multipart, headers })).status).toBe(422)
    expect(await entriesOf(w, 'ana')).toEqual([])
    expect((await w.get('/api/client/suppressions')).body.results).toEqual([])
  })

  test('is sent after unsubscribing from everything, and not after the separate choice to stop it', async () => {
    await using w = await world()
    await using relay = await openRelay()
    const { id, list, send, preferences } = await receipt(w, relay)
    const usual = await subscriptionTo(w)
    expect((await w.form(preferences, { all: 'yes' }, { key: null })).headers.location).toBe('?saved=saved_all')
    expect(await stateOf(w, 'ana', usual)).toBe(0)
    expect(await stateOf(w, 'ana', id)).toBe(1)
    expect((await entriesOf(w, 'ana')).map((entry: any) => entry.subscription_id)).not.toContain(id)
    expect((await w.get('/api/client/suppressions')).body.results).toMatchObject([
      { address: 'ana@example.com', reason: 'unsubscribed_all', stops_transactional: false },
    ])
    await schedule(w, await blastTo(w, [list]))
    await w.drain()
    expect(relay.mails).toHaveLength(1)
    expect((await send()).to).toEqual(['ana@example.com'])
    expect(relay.mails).toHaveLength(2)

    const page = await w.get(`${preferences}?saved=saved_all`, { key: null })
    expect(page.text).toContain('name="stop"')
    expect((await w.form(preferences, { stop: 'yes' }, { key: null })).headers.location).toBe('?saved=saved_stop')
    expect(await stateOf(w, 'ana', id)).toBe(0)
    expect((await w.get('/api/client/suppressions')).body.results[0]).not.toHaveProperty('stops_transactional')
    await send()
    expect(relay.mails).toHaveLength(2)
    // The weaker choice does not take the stronger one back.
    await w.form(preferences, { all: 'yes' }, { key: null })
    await send()
    expect(relay.mails).toHaveLength(2)
  })

  test('stops after an unsubscribe from everything that was made before there was a choice', async () => {
    await using w = await world()
    await using relay = await openRelay()
    const { send } = await receipt(w, relay)
    await w.post('/api/client/suppressions', [{ channel: 'email', address: 'ana@example.com', reason: 'unsubscribed_all' }])
    await w.db.run(sql`update suppressions set stops_transactional = default where project_id = ${w.projectId}`)
    await send()
    expect(relay.mails).toHaveLength(1)
  })
})
