/** Nothing is sent to a suppressed address. Messages are counted at a relay and at a fake provider, not in our own tables. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CAMPAIGNS, outcomes, run, schedule, subscriptionTo } from '../../../../test/blasts.ts'
import { type FakeProvider, openFakeProvider } from '../../../../test/fake-provider.ts'
import { answerOrders, order, providerOf, recipientsOf, sendOver } from '../../../../test/mailing.ts'
import { openRelay, type Relay } from '../../../../test/relay.ts'
import { type World, world } from '../../../../test/world.ts'

type Channel = 'email' | 'text'

let relay: Relay
let provider: FakeProvider
beforeAll(async () => {
  relay = await openRelay()
  provider = await openFakeProvider()
})
afterAll(async () => {
  await relay[Symbol.asyncDispose]()
  await provider[Symbol.asyncDispose]()
})

const USERS = [
  { external_id: 'ana', email: 'ana@example.com', phone: '+61400000001' },
  { external_id: 'bo', email: 'bo@example.com', phone: '+61400000002' },
  { external_id: 'cy', email: 'cy@example.com', phone: '+61400000003' },
]

/** Saves the users, with the relay as the provider of mail and the fake provider for texts. */
async function open(w: World): Promise<void> {
  relay.mails.length = 0
  provider.requests.length = 0
  provider.answer(...Array.from({ length: 10 }, () => ({ status: 201, body: { sid: 'SM1' } })))
  w.replaceFetch({ request: provider.fetch.request })
  await sendOver(w, relay)
  const settings = { account_sid: `AC${'0'.repeat(32)}`, auth_token: 'a-token-of-twilio', from: '+61411111111' }
  await providerOf(w, { kind: 'twilio', channel: 'text', settings })
  expect((await w.post('/api/client/users/batch', USERS)).body.failed).toBe(0)
}

const reached = (channel: Channel) => (channel === 'email' ? recipientsOf(relay) : provider.requests.map(({ form }) => form.To))

/** The same addresses in another spelling. */
const WRITTEN = {
  email: { ana: ' Ana@Example.com', bo: 'BO@example.com' },
  text: { ana: '0400 000 001', bo: '0400 000 002' },
}
const suppress = async (w: World, channel: Channel, name: 'ana' | 'bo') =>
  expect((await w.post('/api/client/suppressions', [{ channel, address: WRITTEN[channel][name] }])).status).toBe(200)

const BO = { email: ['bo@example.com'], text: ['+61400000002'] }

/** A blast to all users that is planned and not sent. */
async function plannedBlast(w: World, channel: Channel): Promise<{ id: number }> {
  const { body: list } = await w.post('/api/client/lists', { name: 'All', type: 'static' })
  expect((await w.post(`/api/client/lists/${list.id}/users`, { external_ids: ['ana', 'bo', 'cy'] })).status).toBe(200)
  const subscription_id = await subscriptionTo(w, channel)
  const send_at = w.clock.now().toISOString()
  const { body: blast } = await w.post(CAMPAIGNS, { type: 'blast', name: 'Spring', subscription_id, list_ids: [list.id], send_at })
  const content = { email: { from: 'shop@example.com', subject: 'Hi', html: '<p>Hello</p>' }, text: { body: 'Hello' } }
  expect((await w.put(`${CAMPAIGNS}/${blast.id}/templates/en`, content[channel])).status).toBe(200)
  await schedule(w, blast)
  await run(w, 'campaigns.launch')
  await run(w, 'campaigns.load', 2)
  expect(await outcomes(w, blast)).toEqual(['ana: queued', 'bo: queued', 'cy: queued'])
  return blast
}

describe.each<Channel>(['email', 'text'])('over %s', (channel) => {
  test('a trigger campaign sends nothing to an address that is suppressed on this channel', async () => {
    await using w = await world()
    await open(w)
    const campaign = await answerOrders(w, channel)
    await suppress(w, channel, 'ana')
    await suppress(w, channel === 'email' ? 'text' : 'email', 'bo')
    await order(w, 'ana', 'bo')
    await w.drain()
    expect(reached(channel)).toEqual(BO[channel])
    expect((await outcomes(w, campaign))[0]).toBe('ana: skipped suppressed')
  })

  test('a blast sends nothing to an address that was suppressed, or a user who unsubscribed, after it was planned', async () => {
    await using w = await world()
    await open(w)
    const blast = await plannedBlast(w, channel)
    await suppress(w, channel, 'ana')
    await w.patch('/api/client/users/cy/subscriptions', [{ subscription_id: await subscriptionTo(w, channel), state: 0 }])
    await w.drain()
    expect(reached(channel)).toEqual(BO[channel])
    expect(await outcomes(w, blast)).toEqual(['ana: skipped suppressed', expect.stringContaining('bo: sent'), 'cy: skipped not_subscribed'])
  })
})

test('a blast goes to an address that was changed after it was planned, unless the new address is suppressed', async () => {
  await using w = await world()
  await open(w)
  await plannedBlast(w, 'email')
  expect((await w.post('/api/client/suppressions', [{ channel: 'email', address: 'new@example.com' }])).status).toBe(200)
  await w.post('/api/client/users/batch', [
    { external_id: 'ana', email: 'new@example.com' },
    { external_id: 'bo', email: 'bo.new@example.com' },
  ])
  await w.drain()
  expect(recipientsOf(relay)).toEqual(['bo.new@example.com', 'cy@example.com'])
})
