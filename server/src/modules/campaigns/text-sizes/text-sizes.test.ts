/** How long a text message is for the users who would get it, and what that costs. */
import { expect, test } from 'vitest'
import { CAMPAIGNS, messagesIn, pathOf, subscriptionTo, write } from '../../../../test/blasts.ts'
import { type World, world } from '../../../../test/world.ts'
import { segmentsOf } from '../../templates/sms.ts'
import { costOf, type Measured, recipientsOf, summaryOf } from './summary.ts'

const TWILIO = { account_sid: `AC${'0'.repeat(32)}`, auth_token: 'secret', from: '+61400000000' }

/** Users by the length of their names, each with a phone number; and a list of them. */
async function named(w: World, ...lengths: number[]): Promise<number> {
  const users = lengths.map((length, at) => ({
    external_id: `user-${at}`,
    phone: `+6149157${String(at).padStart(4, '0')}`,
    data: { name: 'x'.repeat(length) },
  }))
  const saved = await w.post('/api/client/users/batch', users)
  expect(saved.status, saved.text).toBe(200)
  const { body: list } = await w.post('/api/client/lists', { name: 'All', type: 'static' })
  await w.post(`/api/client/lists/${list.id}/users`, { external_ids: users.map(({ external_id }) => external_id) })
  return list.id
}

async function textTo(w: World, lists: number[], body = 'Hi {{ user.data.name }}') {
  const subscription_id = await subscriptionTo(w, 'text')
  const made = await w.post(CAMPAIGNS, { type: lists.length > 0 ? 'blast' : 'trigger', name: 'Text', subscription_id, list_ids: lists })
  expect(made.status, made.text).toBe(201)
  await w.put(`${pathOf(made.body)}/templates/en`, { body })
  return made.body as { id: number }
}

const sizesOf = (w: World, campaign: { id: number }, body: object = {}, key = w.keys.editor) =>
  w.post(`${pathOf(campaign)}/text-sizes`, body, { key })

test('the lengths of the stored template are those of the users who would get it', async () => {
  await using w = await world()
  const list = await named(w, 10, 20, 157, 158, 400)
  await w.users('no-phone')
  await w.post(`/api/client/lists/${list}/users`, { external_ids: ['no-phone'] })
  await w.post('/api/client/suppressions', [{ channel: 'text', address: '+61491570003' }])
  const campaign = await textTo(w, [list])
  const reply = await sizesOf(w, campaign)
  expect(reply.status, reply.text).toBe(200)
  expect(reply.body).toEqual({
    users: 4,
    failed: 0,
    unicode: 0,
    characters: { p50: 23, max: 403 },
    segments: { p50: 1, max: 3 },
    shares: [
      { segments: 1, users: 3, share: 0.75 },
      { segments: 3, users: 1, share: 0.25 },
    ],
    longest: { external_id: 'user-4', characters: 403, segments: 3 },
    recipients: 4,
    cost: null,
  })
  expect(await messagesIn(w, campaign as never)).toEqual([])
})

test('links count with the length that they have in messages, in the preview and the lint too', async () => {
  await using w = await world()
  const body = (length: number) => `${'x'.repeat(length)} {{ unsubscribe_url }}`
  const campaign = await textTo(w, [await named(w, 1)], body(115))
  const { segments, characters, longest } = (await sizesOf(w, campaign)).body
  const preview = (await w.post(`${pathOf(campaign)}/preview`, {})).body
  await write(w, campaign, { state: 'scheduled', send_at: w.clock.now().toISOString() })
  await w.drain()
  const [{ id }] = (await w.get('/api/client/sandbox/messages')).body.results
  const sent = segmentsOf((await w.get(`/api/client/sandbox/messages/${id}`)).body.content.body)
  expect([segments.max, longest.segments, preview.segments.segments, sent.segments]).toEqual([2, 2, 2, 2])
  // The ids of messages can have got another digit meanwhile.
  expect(Math.abs(characters.max - sent.characters)).toBeLessThanOrEqual(1)
  await w.put(`${pathOf(campaign)}/templates/en`, { body: body(153 * 3 - 40) })
  expect((await w.get(`${pathOf(campaign)}/lint`)).body.results[0].findings).toMatchObject([{ kind: 'sms_long' }])
})

test('a template that is not saved is measured, for each user, and one that fails for some is counted', async () => {
  await using w = await world()
  const campaign = await textTo(w, [await named(w, 1, 2, 3)])
  const template = { body: '你好 {{ user.data.name }}{{ 6 | divided_by: user.data.zero }}' }
  await w.post('/api/client/users/batch', [
    { external_id: 'user-0', data: { zero: 0 } },
    { external_id: 'user-1', data: { zero: 1 } },
    { external_id: 'user-2', data: { zero: 2 } },
  ])
  expect((await sizesOf(w, campaign, { template })).body).toMatchObject({
    users: 2,
    failed: 1,
    unicode: 2,
    longest: { external_id: 'user-2' },
  })
  expect((await w.get(`${pathOf(campaign)}/templates/en`)).body.data.body).toBe('Hi {{ user.data.name }}')
  const wrong = await sizesOf(w, campaign, { template: { body: '{{ user.' } })
  expect([wrong.status, wrong.body.error.param]).toEqual([422, 'body'])
})

test('a trigger is measured for the newest users with a phone number, and without a template nothing is', async () => {
  await using w = await world()
  await named(w, 5, 500)
  await w.users('no-phone')
  const campaign = await textTo(w, [])
  expect((await sizesOf(w, campaign)).body).toMatchObject({ users: 2, segments: { p50: 1, max: 4 }, recipients: null })
  await w.delete(`${pathOf(campaign)}/templates/en`)
  expect((await sizesOf(w, campaign)).body).toMatchObject({ users: 0, failed: 2, segments: null, longest: null })
})

test('the cost is that of the provider of the campaign, else of the default', async () => {
  await using w = await world()
  const provider = { name: 'Twilio', kind: 'twilio', channel: 'text', settings: TWILIO }
  const first = await w.post('/api/client/providers', { ...provider, segment_price: { amount: 0.05, currency: 'AUD' } })
  expect(first.status, first.text).toBe(201)
  expect(first.body.segment_price).toEqual({ amount: 0.05, currency: 'AUD' })
  const campaign = await textTo(w, [await named(w, 10, 400)])
  expect((await sizesOf(w, campaign)).body).toMatchObject({ recipients: 2, cost: { currency: 'AUD', per_message: 0.1, total: 0.2 } })
  const second = await w.post('/api/client/providers', { ...provider, segment_price: { amount: 1, currency: 'EUR' } })
  await w.patch(pathOf(campaign), { provider_id: second.body.id })
  expect((await sizesOf(w, campaign)).body.cost).toEqual({ currency: 'EUR', per_message: 2, total: 4 })
  const unpriced = await w.patch(`/api/client/providers/${second.body.id}`, { segment_price: null })
  expect(unpriced.body.segment_price).toBeNull()
  expect((await sizesOf(w, campaign)).body.cost).toBeNull()
})

test('a user in several lists, and an address of several users, is one recipient', async () => {
  await using w = await world()
  const all = await named(w, 10, 10, 10)
  const { body: other } = await w.post('/api/client/lists', { name: 'Other', type: 'static' })
  await w.post(`/api/client/lists/${other.id}/users`, { external_ids: ['user-0', 'user-1', 'user-2'] })
  await w.post('/api/client/users/batch', [{ external_id: 'user-2', phone: '+61491570001' }])
  const provider = { name: 'Twilio', kind: 'twilio', channel: 'text', settings: TWILIO }
  await w.post('/api/client/providers', { ...provider, segment_price: { amount: 0.05, currency: 'AUD' } })
  const sizes = (await sizesOf(w, await textTo(w, [all, other.id]))).body
  expect(sizes).toMatchObject({ users: 2, recipients: 2, cost: { per_message: 0.05, total: 0.1 } })
})

test.each([
  ['all were read', { reached: 250, memberships: 600, listed: 600, isWhole: true }, 250],
  ['a part of one list was read', { reached: 900, memberships: 1000, listed: 5000, isWhole: false }, 4500],
  ['a part of two equal lists was read', { reached: 900, memberships: 2000, listed: 10_000, isWhole: false }, 4500],
  ['the lists have lost their users since', { reached: 900, memberships: 0, listed: 0, isWhole: false }, 0],
  ['the lists are empty', { reached: 0, memberships: 0, listed: 0, isWhole: true }, 0],
])('recipients, when %s', (_, sample, expected) => expect(recipientsOf(sample)).toBe(expected))

test.each([
  [{ amount: 0, currency: 'AUD' }, 'segment_price.amount'],
  [{ amount: 1, currency: 'dollars' }, 'segment_price.currency'],
])('a price %j is refused', async (segment_price, param) => {
  await using w = await world()
  const reply = await w.post('/api/client/providers', { name: 'Twilio', kind: 'twilio', channel: 'text', settings: TWILIO, segment_price })
  expect(reply.status).toBeGreaterThanOrEqual(400)
  expect(reply.body.error.param).toBe(param)
})

test('only text messages have segments, and a price', async () => {
  await using w = await world()
  const email = await w.post(CAMPAIGNS, { type: 'trigger', name: 'Email', subscription_id: await subscriptionTo(w) })
  const reply = await sizesOf(w, email.body)
  expect([reply.status, reply.body.error.param]).toEqual([422, 'channel'])
  const campaign = await textTo(w, [])
  expect((await sizesOf(w, campaign, {}, w.keys.support)).status).toBe(403)
  expect((await sizesOf(w, campaign, {}, (await w.other()).keys.secret)).status).toBe(404)
  const settings = { host: 'smtp.example.com', port: 25, tls: 'none' }
  const priced = { name: 'Relay', kind: 'smtp', channel: 'email', settings, segment_price: { amount: 1, currency: 'AUD' } }
  const made = await w.post('/api/client/providers', priced)
  expect([made.status, made.body.error.param]).toEqual([422, 'segment_price'])
})

const measured = (...segments: number[]): Measured[] =>
  segments.map((count, at) => ({ external_id: String(at), encoding: 'GSM-7', characters: count * 100, segments: count }))

test.each([
  [[], null],
  [[2], { p50: 2, max: 2 }],
  [[1, 9], { p50: 1, max: 9 }],
  [[3, 1, 2], { p50: 2, max: 3 }],
])('the spread of %j is %j', (segments, spread) => expect(summaryOf(measured(...segments)).segments).toEqual(spread))

test.each([
  [[1, 2], 1000, { currency: 'AUD', per_message: 0.0675, total: 67.5 }],
  [[1, 1, 2], null, { currency: 'AUD', per_message: 0.06, total: null }],
  [[], 1000, null],
])('messages of %j segments to %j users cost %j', (segments, recipients, cost) =>
  expect(costOf(measured(...segments), { amount: 0.045, currency: 'AUD' }, recipients)).toEqual(cost),
)
