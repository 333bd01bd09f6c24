/** Reports over the account of a provider that are not about a message of this server, although they have its id, change nothing. */
import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { outcomes, run } from '../../../../test/blasts.ts'
import { type FakeProvider, type FakeReply, openFakeProvider } from '../../../../test/fake-provider.ts'
import { answerOrders, order, providerOf } from '../../../../test/mailing.ts'
import { select } from '../../../../test/select.ts'
import { type World, world } from '../../../../test/world.ts'
import type { MessageId } from '../../../lib/ids.ts'
import { findCampaignSubscriptions } from '../../campaigns/index.ts'
import type { Report } from '../../channels/index.ts'
import { applyReports } from './reports.ts'

const FROM = { default_from: 'shop@example.com' }
const postmark = { kind: 'postmark', channel: 'email', settings: { server_token: 'token', ...FROM } }
const SIGNING_KEY = 'key-of-reports'
const mailgun = {
  kind: 'mailgun',
  channel: 'email',
  settings: { api_key: 'key', domain: 'mg.example.com', region: 'eu', signing_key: SIGNING_KEY, ...FROM },
}

/** An email to Ana that the provider gave this reply to. */
async function answered(w: World, fake: FakeProvider, kind: Parameters<typeof providerOf>[1], reply: FakeReply) {
  w.replaceFetch({ request: fake.fetch.request })
  const provider = await providerOf(w, kind)
  await w.users('ana')
  const campaign = await answerOrders(w)
  await order(w, 'ana')
  await run(w, 'ingest.apply')
  fake.answer(reply)
  await run(w, 'messages.send')
  const [message] = await select(w, 'select id::int from messages where project_id = $1', [w.projectId])
  const messageId = message?.id as MessageId
  const apply = (what: Report['what'], reference: string) => {
    const one: Report = { what, at: w.clock.now(), messageId, reference, address: 'other@example.com' }
    return applyReports(w.ctx, findCampaignSubscriptions, provider, [one])
  }
  return { campaign, provider, messageId, apply }
}

const suppressedIn = async (w: World) =>
  (await w.get('/api/client/suppressions')).body.results.map(({ address }: { address: string }) => address)

const statesOfAna = async (w: World) =>
  (await w.get('/api/client/users/ana/subscriptions')).body.results.map(({ state }: { state: number }) => state)

const refusedBy = (ErrorCode: number) => ({ status: 422, body: { ErrorCode, Message: 'Refused.' } })

test.each<[string, FakeReply]>([
  ['deferred provider_deferred', { status: 429 }],
  ['failed provider_rejected', refusedBy(400)],
  ['bounced hard_bounce', refusedBy(406)],
])('a message that its provider did not take, and is %s, is not the one that is reported with its id', async (outcome, reply) => {
  await using w = await world()
  await using fake = await openFakeProvider()
  const { campaign, apply } = await answered(w, fake, postmark, reply)
  const before = { outcomes: await outcomes(w, campaign), states: await statesOfAna(w), suppressed: await suppressedIn(w) }
  expect(before.outcomes).toEqual([`ana: ${outcome}`])
  for (const what of ['bounced', 'complained', 'unsubscribed'] as const) await apply(what, 'foreign-1')
  await w.drain()
  expect({ outcomes: await outcomes(w, campaign), states: await statesOfAna(w), suppressed: await suppressedIn(w) }).toEqual(before)
})

test('a message that its provider may have takes the id there of the first report, and those with another are about another', async () => {
  await using w = await world()
  await using fake = await openFakeProvider()
  const { campaign, apply } = await answered(w, fake, postmark, { status: 504 })
  await apply('failed', 'vendor-1')
  expect(await outcomes(w, campaign)).toEqual(['ana: failed provider_rejected'])
  await apply('complained', 'foreign-1')
  await w.drain()
  expect([await outcomes(w, campaign), await suppressedIn(w)]).toEqual([['ana: failed provider_rejected'], []])
  await apply('complained', 'vendor-1')
  await w.drain()
  expect([await outcomes(w, campaign), await suppressedIn(w)]).toEqual([['ana: complained complaint'], ['ana@example.com']])
})

test.each(['delivered', 'opened'])('a signature of Mailgun that came with %s is not accepted with another report', async (first) => {
  await using w = await world()
  await using fake = await openFakeProvider()
  const { campaign, provider, messageId } = await answered(w, fake, mailgun, { status: 200, body: { id: '<vendor-1@mg.example.com>' } })
  const report = (token: string, event: string) => {
    const timestamp = String(Math.floor(w.clock.now().getTime() / 1000))
    const signature = createHmac('sha256', SIGNING_KEY)
      .update(timestamp + token)
      .digest('hex')
    const message = { headers: { 'message-id': 'vendor-1@mg.example.com' } }
    const data = { event, message, recipient: 'ana@example.com', 'user-variables': { carillon_message_id: String(messageId) } }
    const raw = JSON.stringify({ signature: { timestamp, token, signature }, 'event-data': data })
    return w.request('POST', `/callbacks/providers/${provider}`, undefined, { key: null, raw })
  }
  expect((await report('token-1', first)).status).toBe(204)
  const before = await outcomes(w, campaign)
  // Mailgun repeats a call whose answer was lost, and is to stop then.
  expect((await report('token-1', 'complained')).status).toBe(204)
  await w.drain()
  expect([await outcomes(w, campaign), await suppressedIn(w)]).toEqual([before, []])
  await report('token-2', 'complained')
  await w.drain()
  expect([await outcomes(w, campaign), await suppressedIn(w)]).toEqual([['ana: complained complaint'], ['ana@example.com']])
})
