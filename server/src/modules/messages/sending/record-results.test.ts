/** Which provider is called, and what follows from its answer. Messages are counted at relays and at a push service. */

import { generateKeyPairSync } from 'node:crypto'
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { blastTo, listOf, outcomes, pathOf, run, schedule, subscriptionTo, write } from '../../../../test/blasts.ts'
import { openFakeProvider } from '../../../../test/fake-provider.ts'
import { answerOrders, order, providerOf, recipientsOf, sendOver } from '../../../../test/mailing.ts'
import { openRelay } from '../../../../test/relay.ts'
import { createTestClock } from '../../../../test/test-clock.ts'
import { type World, world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import type { Ctx } from '../../../infra/runtime/ctx.ts'
import type { MessageId } from '../../../lib/ids.ts'
import { findCampaignSubscriptions, findSendingCampaigns, recordOverBudget } from '../../campaigns/index.ts'
import type { Report } from '../../channels/index.ts'
import { createInboxStreams } from '../../inbox/index.ts'
import { EVENT_TYPES } from '../../webhook-events/index.ts'
import { applyReports } from '../reports/reports.ts'
import { TRANSACTIONAL } from '../schema.ts'
import { claim } from './claim.ts'
import type { FindSendingCampaigns } from './find-sending-campaigns.ts'
import { createSender, sendQueue } from './sender.ts'

test('an address that a relay calls unknown is suppressed; an address that it refuses for another reason is not', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  await w.users('ana', 'bo')
  const campaign = await answerOrders(w)
  relay.answer({ at: 'RCPT', code: 550, text: '5.1.1 No such user' })
  await order(w, 'ana')
  await w.drain()
  relay.answer({ at: 'RCPT', code: 550, text: '5.7.1 Relaying denied' })
  await order(w, 'bo')
  await w.drain()
  expect(await outcomes(w, campaign)).toEqual(['ana: bounced hard_bounce', 'bo: failed provider_rejected'])
  await schedule(w, await blastTo(w, [await listOf(w, 'ana', 'bo')]))
  await order(w, 'ana', 'bo')
  await w.drain()
  expect(recipientsOf(relay)).toEqual(['bo@example.com', 'bo@example.com'])
  expect((await w.get('/api/client/suppressions')).body.results).toMatchObject([
    { address: 'ana@example.com', reason: 'hard_bounce', source: { message_id: expect.any(Number) } },
  ])
})

test('a device token that a push service calls dead is not used again', async () => {
  await using w = await world()
  const service = await w.receiver()
  service.answer(410)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const private_key = privateKey.export({ format: 'pem', type: 'pkcs8' })
  const { host } = new URL(service.url)
  const settings = { team_id: 'TEAMTEAM00', key_id: 'KEYKEYKEY0', private_key, bundle_id: 'shop.example', host }
  await providerOf(w, { kind: 'apns', channel: 'push', settings })
  await w.users('ana')
  const device = (device_id: string, token: string) => w.post('/api/client/devices', { external_id: 'ana', device_id, token, os: 'ios' })
  await device('phone', 'a1'.repeat(32))
  const campaign = await answerOrders(w, 'push')
  for (let time = 0; time < 2; time++) {
    await order(w, 'ana')
    await w.drain()
  }
  expect(service.requests.map(({ path }) => path)).toEqual([`/3/device/${'a1'.repeat(32)}`])
  expect(await outcomes(w, campaign)).toEqual(['ana: failed provider_rejected', 'ana: skipped no_push_device'])
  service.answer(200)
  await device('phone', 'b2'.repeat(32))
  await order(w, 'ana')
  await w.drain()
  expect(service.requests.map(({ path }) => path).slice(1)).toEqual([`/3/device/${'b2'.repeat(32)}`])
})

test('messages that are claimed together go over the provider of their campaign, or else over the default provider', async () => {
  await using w = await world()
  await using usual = await openRelay()
  await using named = await openRelay()
  await sendOver(w, usual)
  const second = await sendOver(w, named)
  await w.users('ana', 'bo', 'cy')
  const [plain, special] = [await answerOrders(w), await answerOrders(w)]
  await write(w, special, { provider_id: second })
  await order(w, 'ana', 'bo', 'cy')
  await w.drain()
  const all = ['ana@example.com', 'bo@example.com', 'cy@example.com']
  expect([recipientsOf(usual), recipientsOf(named)]).toEqual([all, all])
  expect(await outcomes(w, plain)).toEqual(await outcomes(w, special))
})

test('when a batch goes over several providers, a mail of a lost sender is `unknown` and not sent again', async () => {
  await using w = await world()
  await using named = await openRelay()
  // The sandbox sends nothing, so its messages need no record of an attempt; those of the relay do.
  const second = await sendOver(w, named)
  const sandbox = await providerOf(w, { kind: 'sandbox', channel: 'email', settings: {} })
  await w.users('ana')
  const [tried, special] = [await answerOrders(w), await answerOrders(w)]
  await write(w, tried, { provider_id: sandbox })
  await write(w, special, { provider_id: second })
  await order(w, 'ana')
  await run(w, 'ingest.apply')
  const claimedAt = w.clock.now()
  const messages = await claim(w.ctx, TRANSACTIONAL, [{ project_id: w.projectId, channel: 'email', limit: 10 }])
  expect(messages).toHaveLength(2)
  const answerNow = named.hold('BODY').release
  const sending = sendQueue(
    { ...w.ctx, clock: createTestClock(claimedAt) },
    createSender({ recordOverBudget, findSendingCampaigns, inboxStreams: createInboxStreams() }, TRANSACTIONAL),
    messages,
    claimedAt,
  )
  await expect.poll(() => named.unanswered()).toBe(1)
  w.advance('6 minutes')
  await w.drain()
  answerNow()
  await sending
  await w.drain()
  expect(recipientsOf(named)).toEqual(['ana@example.com'])
  expect(await outcomes(w, special)).toEqual(['ana: unknown sender_lost'])
})

test('a message keeps the consent entry that it was sent by', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  await w.users('ana')
  const campaign = await answerOrders(w)
  const subscription_id = await subscriptionTo(w)
  const consentOf = async () => {
    await order(w, 'ana')
    await w.drain()
    const { messages } = (await w.get(`${pathOf(campaign)}/recipients/ana/explain`)).body
    return messages.map(({ consent_id }: { consent_id: number | null }) => consent_id)
  }
  expect(await consentOf()).toEqual([null])
  for (const state of [0, 1]) await w.patch('/api/client/users/ana/subscriptions', [{ subscription_id, state }])
  const [entry] = (await w.get('/api/client/users/ana/consents')).body.results
  expect(entry).toMatchObject({ state: 1 })
  expect((await consentOf()).toSorted()).toEqual([entry.id, null])
})

/** A project with Postmark, a cap of one email a day, two campaigns about orders, and a receiver of webhook events. */
async function capped(w: World) {
  const receiver = await w.receiver()
  const event_types = ['delivery.attempt-start', 'delivery.attempt-end', 'delivery.delivered', 'delivery.completed', 'queue.rescheduled']
  expect((await w.post('/api/client/webhooks', { name: 'All', url: receiver.url, event_types })).status).toBe(201)
  await w.put('/api/client/sending-policy', { caps: [{ channels: ['email'], max: 1, window_hours: 24 }], quiet_hours: null })
  const provider = await providerOf(w, {
    kind: 'postmark',
    channel: 'email',
    settings: { server_token: 'token', default_from: 'shop@example.com' },
  })
  await w.users('ana')
  const campaigns = [await answerOrders(w), await answerOrders(w)]
  for (const { id } of campaigns)
    await w.put(`/api/client/campaigns/${id}/templates/en`, { subject: 'Thanks', html: '<p>Thanks</p>', cc: 'boss@example.com' })
  await order(w, 'ana')
  await run(w, 'ingest.apply')
  return { receiver, provider, campaigns }
}

/** Claims one due email, and sends it as one sender. */
async function sendOne(w: World, ctx: Ctx): Promise<MessageId | undefined> {
  const claimedAt = w.clock.now()
  const messages = await claim(w.ctx, TRANSACTIONAL, [{ project_id: w.projectId, channel: 'email', limit: 1 }])
  const sender = createSender({ recordOverBudget, findSendingCampaigns, inboxStreams: createInboxStreams() }, TRANSACTIONAL)
  await sendQueue(ctx, sender, messages, claimedAt)
  return messages[0]?.id
}

test.each([
  ['accepts the message', { status: 200, body: { MessageID: 'p-1', ErrorCode: 0, Message: 'OK' } }, 1],
  ['has not answered in time', 'hang', 0],
] as const)(
  'a report that comes before the result of the send, and then the provider %s: what was sent is kept',
  async (_, reply, accepted) => {
    await using w = await world()
    await using fake = await openFakeProvider()
    const { receiver, provider, campaigns } = await capped(w)
    fake.answer(reply, { status: 200, body: { MessageID: 'p-2' } })
    const messageId = (await w.db.value(Id, sql`select min(id) as id from messages where project_id = ${w.projectId}`)) as MessageId
    const reported = (what: Report['what'], more: Partial<Report> = {}) =>
      applyReports(w.ctx, findCampaignSubscriptions, provider, [{ what, at: w.clock.now(), messageId, ...more }])
    const request: Ctx['fetch']['request'] = async (request) => {
      const answer = await fake.fetch.request(request)
      if (fake.requests.length === 1) {
        await reported('bounced', { address: 'boss@example.com' })
        await reported('delivered')
        // Another sender has the next message of the user meanwhile.
        await sendOne(w, { ...w.ctx, fetch: fake.fetch })
      }
      return answer
    }
    expect(await sendOne(w, { ...w.ctx, fetch: { ...fake.fetch, request } })).toBe(messageId)
    await reported('bounced', { address: 'boss@example.com', ...(accepted && { reference: 'p-1' }) })
    w.advance('1 minute')
    while (await sendOne(w, { ...w.ctx, fetch: fake.fetch }));
    expect(fake.requests).toHaveLength(1)
    await w.drain()
    expect((await Promise.all(campaigns.map((one) => outcomes(w, one)))).flat().sort()).toEqual([
      'ana: deferred frequency_cap',
      'ana: delivered',
    ])
    expect(
      await w.db.one(Facts, sql`select recipient, provider, provider_id, provider_message_id from messages where id = ${messageId}`),
    ).toEqual({
      recipient: 'ana@example.com',
      provider: 'postmark',
      provider_id: provider,
      provider_message_id: accepted ? 'p-1' : null,
    })
    const sent = receiver.requests.map(({ json }) => json as { type: string; data: { message_id: number } })
    expect(
      sent
        .filter(({ data }) => data.message_id === messageId)
        .map(({ type }) => type)
        .sort(),
    ).toEqual([
      'delivery.attempt-end',
      'delivery.attempt-start',
      'delivery.completed',
      ...Array.from({ length: 1 + accepted }, () => 'delivery.delivered'),
    ])
    const events = (await w.get('/api/client/users/ana/events?limit=100')).body.results.map(({ name }: { name: string }) => name)
    expect(events.filter((name: string) => name.startsWith('email_')).sort()).toEqual(
      accepted ? ['email_delivered', 'email_sent'] : ['email_delivered'],
    )
  },
)

const Id = Type.Integer()
const Facts = Type.Object({
  recipient: Type.Unsafe<string | null>({}),
  provider: Type.Unsafe<string | null>({}),
  provider_id: Type.Unsafe<number | null>({}),
  provider_message_id: Type.Unsafe<string | null>({}),
})

const Event = Type.Object({ event: Type.String() })
const Personal = Type.Object({ is_erased: Type.Boolean(), recipient: Type.Null(), detail: Type.Null(), event: Type.Null() })

test.each(['smtp', 'sandbox'])(
  'of a message that was being sent over %s when its user was erased nothing personal is kept',
  async (kind) => {
    await using w = await world()
    await using relay = await openRelay()
    if (kind === 'smtp') await sendOver(w, relay)
    relay.answer({ at: 'RCPT', code: 550, text: '5.1.1 ana@example.com is unknown' })
    const event_types = EVENT_TYPES.filter((type) => type.startsWith('delivery.'))
    await w.post('/api/client/webhooks', { name: 'All', url: 'https://127.0.0.1:1024/', event_types })
    await w.users('ana')
    const campaign = await answerOrders(w)
    await order(w, 'ana')
    await run(w, 'ingest.apply')
    const claimedAt = w.clock.now()
    const messages = await claim(w.ctx, TRANSACTIONAL, [{ project_id: w.projectId, channel: 'email', limit: 10 }])
    const find: FindSendingCampaigns = async (ctx, ids, lock) => {
      if (lock === 'share') {
        expect((await w.delete('/api/client/users/ana')).status).toBe(204)
        await run(w, 'users.erase')
      }
      return findSendingCampaigns(ctx, ids, lock)
    }
    await sendQueue(
      w.ctx,
      createSender({ recordOverBudget, findSendingCampaigns: find, inboxStreams: createInboxStreams() }, TRANSACTIONAL),
      messages,
      claimedAt,
    )
    await w.drain()
    const [row, ...more] = await w.db.many(
      Personal,
      sql`select is_erased, recipient, detail, event from messages where campaign_id = ${campaign.id}`,
    )
    expect([row, more]).toEqual([{ is_erased: true, recipient: null, detail: null, event: null }, []])
    expect(
      await w.db.many(
        Event,
        sql`select data::text as event from webhook_events where project_id = ${w.projectId} and data::text like '%ana%'`,
      ),
    ).toEqual([])
    expect((await w.get('/api/client/sandbox/messages')).body.results).toEqual([])
    expect((await w.get('/api/client/suppressions')).body.results).toMatchObject([{ address: null, reason: 'erased', source: {} }])
    expect(await run(w, 'ingest.apply')).toBe(0)
  },
)
