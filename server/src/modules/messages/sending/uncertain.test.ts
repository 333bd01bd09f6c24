/**
 * A provider with idempotency keys may have a message that it did not answer for. It knows the key for a day, so that the message is repeated
 * there, for a shorter time, and nowhere else. Requests are counted at a fake provider.
 */
import { describe, expect, test } from 'vitest'
import { blastTo, listOf, outcomes, pathOf, run, schedule, write } from '../../../../test/blasts.ts'
import { type FakeProvider, openFakeProvider } from '../../../../test/fake-provider.ts'
import { answerOrders, order, providerOf } from '../../../../test/mailing.ts'
import { select } from '../../../../test/select.ts'
import { type World, world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import { inTx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, MessageId, ProviderId } from '../../../lib/ids.ts'
import { findCampaignSubscriptions, findSendingCampaigns, recordOverBudget } from '../../campaigns/index.ts'
import type { Report } from '../../channels/index.ts'
import { createInboxStreams } from '../../inbox/index.ts'
import { recordEngagement } from '../reports/engagement.ts'
import { applyReports } from '../reports/reports.ts'
import { TRANSACTIONAL } from '../schema.ts'
import { claim } from './claim.ts'
import { createSender, sendQueue } from './sender.ts'

const resend = { kind: 'resend', channel: 'email', settings: { api_key: 're_secret', default_from: 'shop@example.com' } }
const accepted = { status: 200, body: { id: 'r-1' } }

/** An email to Ana that waits to be sent over Resend. */
async function waiting(w: World, fake: FakeProvider, more: object = {}): Promise<{ campaign: { id: CampaignId }; provider: ProviderId }> {
  w.replaceFetch({ request: fake.fetch.request })
  const provider = await providerOf(w, resend)
  await w.users('ana')
  const campaign = await answerOrders(w)
  await write(w, campaign, { expires_after_hours: 720, ...more })
  await order(w, 'ana')
  await run(w, 'ingest.apply')
  return { campaign, provider }
}

const WEBHOOK = 'https://hooks.example.com/'

/** The requests for messages. Those of webhooks and checks come here too. */
const sentTo = ({ requests }: FakeProvider) => requests.filter(({ url }) => /^https:\/\/api\.(resend|postmarkapp)\.com\/emails?$/.test(url))

const keysOf = (fake: FakeProvider) => new Set(sentTo(fake).map(({ headers }) => headers['idempotency-key']))

describe.each(['hang', 'cut', { status: 504 }] as const)('after an attempt that ended with %j', (reply) => {
  test('the message is repeated with the same key', async () => {
    await using w = await world()
    await using fake = await openFakeProvider()
    const { campaign } = await waiting(w, fake)
    fake.answer(reply, { status: 503 }, accepted)
    await run(w, 'messages.send')
    expect(await outcomes(w, campaign)).toEqual(['ana: deferred provider_deferred'])
    for (const wait of ['30 seconds', '2 minutes']) {
      w.advance(wait)
      await run(w, 'messages.send')
    }
    expect([sentTo(fake).length, keysOf(fake).size]).toEqual([3, 1])
    expect(await outcomes(w, campaign)).toEqual(['ana: sent'])
  })
})

type Prepared = Awaited<ReturnType<typeof waiting>>

test.each<[string, (w: World, set: Prepared) => Promise<void>]>([
  ['the workers were down for a day', async (w) => w.advance('24 hours')],
  [
    'the campaign was paused for a day',
    async (w, { campaign }) => {
      await w.post(`${pathOf(campaign)}/pause`)
      await w.drain()
      w.advance('25 hours')
      await w.post(`${pathOf(campaign)}/resume`)
    },
  ],
  [
    'it is past its deadline',
    async (w, { campaign }) => {
      await w.db.run(sql`update messages set expires_at = ${w.clock.now()} where campaign_id = ${campaign.id}`)
      w.advance('30 seconds')
    },
  ],
  [
    'the campaign has another provider',
    async (w, { campaign }) => {
      await write(w, campaign, { provider_id: await providerOf(w, resend) })
      w.advance('30 seconds')
    },
  ],
  [
    'the provider was deleted',
    async (w, { provider }) => {
      await providerOf(w, { kind: 'postmark', channel: 'email', settings: { server_token: 'token', default_from: 'shop@example.com' } })
      expect((await w.delete(`/api/client/providers/${provider}`)).status).toBe(204)
      w.advance('30 seconds')
    },
  ],
  ['the campaign was aborted', async (w, { campaign }) => void (await write(w, campaign, { state: 'aborted' }))],
  [
    'its template cannot be rendered any more',
    async (w, { campaign }) => {
      const needsPlan = { from: 'Shop <shop@example.com>', subject: 'Thanks', html: '<p>Thanks</p>', required: ['user.data.plan'] }
      expect((await w.put(`${pathOf(campaign)}/templates/en`, needsPlan)).status).toBe(200)
      w.advance('30 seconds')
    },
  ],
])('a message whose attempt was uncertain is not sent again when %s', async (_, meanwhile) => {
  await using w = await world()
  await using fake = await openFakeProvider()
  const set = await waiting(w, fake)
  fake.answer('hang', accepted)
  await run(w, 'messages.send')
  await meanwhile(w, set)
  await w.drain()
  expect(sentTo(fake)).toHaveLength(1)
  expect(await outcomes(w, set.campaign)).toEqual(['ana: unknown uncertain'])
  const [row] = await select(w, 'select attempts, recipient, counts_to_caps from messages where project_id = $1', [w.projectId])
  expect(row).toEqual({ attempts: 1, recipient: 'ana@example.com', counts_to_caps: true })
})

test('of the messages of merged users, the one whose attempt was uncertain stays, and is repeated', async () => {
  await using w = await world()
  await using fake = await openFakeProvider()
  w.replaceFetch({ request: fake.fetch.request })
  await providerOf(w, resend)
  await w.post('/api/client/users/batch', [{ anonymous_id: 'browser', email: 'browser@example.com' }])
  const { body: browser } = await w.get('/api/client/users/browser')
  const list = await listOf(w, 'ana')
  await w.post(`/api/client/lists/${list}/users`, { user_ids: [browser.id] })
  const campaign = await blastTo(w, [list])
  await schedule(w, campaign)
  await run(w, 'campaigns.launch')
  await run(w, 'campaigns.load')
  await w.db.run(
    sql`update messages set due_at = due_at + interval '1 minute' where campaign_id = ${campaign.id} and user_id <> ${browser.id}`,
  )
  fake.answer('hang', accepted, accepted)
  await run(w, 'messages.send-bulk')
  await w.post('/api/client/users/batch', [{ external_id: 'ana', anonymous_id: 'browser' }])
  w.advance('1 hour')
  await w.drain()
  expect([sentTo(fake).length, keysOf(fake).size]).toEqual([2, 1])
  expect((await outcomes(w, campaign)).toSorted()).toEqual(['?: sent', 'ana: skipped duplicate'])
})

test('of messages of several merged users that were under way, the one whose attempt was uncertain is repeated, and no other is sent', async () => {
  await using w = await world()
  await using fake = await openFakeProvider()
  w.replaceFetch({ request: fake.fetch.request })
  await providerOf(w, resend)
  const names = ['browser', 'tablet']
  await w.post(
    '/api/client/users/batch',
    names.map((anonymous_id) => ({ anonymous_id, email: `${anonymous_id}@example.com` })),
  )
  const [browser, tablet] = await Promise.all(names.map(async (name) => (await w.get(`/api/client/users/${name}`)).body.id as number))
  const list = await listOf(w, 'ana')
  await w.post(`/api/client/lists/${list}/users`, { user_ids: [browser, tablet] })
  const campaign = await blastTo(w, [list])
  await schedule(w, campaign)
  await run(w, 'campaigns.launch')
  await run(w, 'campaigns.load')
  await w.db.run(
    sql`update messages set due_at = due_at + interval '1 minute' where campaign_id = ${campaign.id} and user_id <> ${browser ?? 0}`,
  )
  fake.answer('hang', accepted, accepted, accepted)
  await run(w, 'messages.send-bulk')
  await w.post('/api/client/users/batch', [{ external_id: 'ana', anonymous_id: 'browser' }])
  // The other one is claimed when its user is merged, and is deferred then.
  const changeTablet = (state: string) =>
    w.db.run(sql`update messages set state = ${state}, due_at = ${w.clock.now()} where user_id = ${tablet ?? 0}`)
  await changeTablet('claimed')
  await w.post('/api/client/users/batch', [{ external_id: 'ana', anonymous_id: 'tablet' }])
  await changeTablet('deferred')
  await run(w, 'messages.send-bulk')
  w.advance('1 hour')
  await w.drain()
  expect([sentTo(fake).length, keysOf(fake).size]).toEqual([2, 1])
  expect((await outcomes(w, campaign)).toSorted()).toEqual(['?: sent', '?: skipped duplicate', 'ana: skipped duplicate'])
})

test('a message whose attempt was uncertain is delivered if it is opened, and is not repeated', async () => {
  await using w = await world()
  await using fake = await openFakeProvider()
  await w.post('/api/client/webhooks', { name: 'Completed', url: WEBHOOK, event_types: ['delivery.completed'] })
  const { campaign } = await waiting(w, fake)
  fake.answer('hang', accepted)
  await run(w, 'messages.send')
  const [message] = await select(w, 'select id::int from messages where project_id = $1', [w.projectId])
  const open = { messageId: message?.id as MessageId, what: 'opened' as const, at: w.clock.now() }
  await inTx(w.ctx, (ctx) => recordEngagement(ctx, [open]))
  w.advance('1 hour')
  await w.drain()
  expect(sentTo(fake)).toHaveLength(1)
  expect(await outcomes(w, campaign)).toEqual(['ana: delivered'])
  expect(fake.requests.filter(({ url }) => url === WEBHOOK)).toHaveLength(1)
})

test.each<[string, object, string[]]>([
  ['its campaign has it tried again after a day', { mail_retries: { after_minutes: [1440], for_hours: 48 } }, ['hang']],
  ['no attempt is left', { mail_retries: { after_minutes: [60], for_hours: 1 } }, ['hang', 'refused']],
])('a message whose attempt was uncertain is unknown at once if %s', async (_, more, replies) => {
  await using w = await world()
  await using fake = await openFakeProvider()
  const { campaign } = await waiting(w, fake, more)
  fake.answer(...(replies as 'hang'[]))
  await run(w, 'messages.send')
  w.advance('1 hour')
  await run(w, 'messages.send')
  expect(await outcomes(w, campaign)).toEqual(['ana: unknown uncertain'])
  expect(sentTo(fake)).toHaveLength(1)
})

test.each([
  ['6 minutes', 2, 'ana: sent'],
  ['24 hours', 1, 'ana: unknown uncertain'],
] as const)(
  'a message whose worker died while it was sent, and that another one finds %s later: requests %i, %s',
  async (later, requests, outcome) => {
    await using w = await world()
    await using fake = await openFakeProvider()
    const { campaign } = await waiting(w, fake)
    fake.answer(accepted, accepted)
    const claimedAt = w.clock.now()
    const messages = await claim(w.ctx, TRANSACTIONAL, [{ project_id: w.projectId, channel: 'email', limit: 10 }])
    const dying = {
      ...w.ctx,
      fetch: {
        ...fake.fetch,
        request: async (request: Parameters<FakeProvider['fetch']['request']>[0]) => {
          await fake.fetch.request(request)
          throw new Error('The worker dies.')
        },
      },
    }
    const sender = createSender({ recordOverBudget, findSendingCampaigns, inboxStreams: createInboxStreams() }, TRANSACTIONAL)
    await expect(sendQueue(dying, sender, messages, claimedAt)).rejects.toThrow('The worker dies.')
    w.advance(later)
    await w.drain()
    expect([sentTo(fake).length, keysOf(fake).size]).toEqual([requests, 1])
    expect(await outcomes(w, campaign)).toEqual([outcome])
  },
)

test.each<[Report['what'], string, object]>([
  ['delivered', 'ana: delivered', { sent: 1, bounced: 0 }],
  ['bounced', 'ana: bounced hard_bounce', { sent: 1, bounced: 1 }],
])('a message that is reported as %s while it waits to be repeated is not repeated', async (what, outcome, delivery) => {
  await using w = await world()
  await using fake = await openFakeProvider()
  await w.post('/api/client/webhooks', { name: 'Completed', url: WEBHOOK, event_types: ['delivery.completed'] })
  const { campaign, provider } = await waiting(w, fake)
  fake.answer('hang', accepted)
  await run(w, 'messages.send')
  const [message] = await select(w, 'select id::int from messages where project_id = $1', [w.projectId])
  const report: Report = { what, at: w.clock.now(), messageId: message?.id as MessageId, reference: 'r-1', address: 'ana@example.com' }
  await applyReports(w.ctx, findCampaignSubscriptions, provider, [report])
  w.advance('1 hour')
  await w.drain()
  expect(sentTo(fake)).toHaveLength(1)
  expect(await outcomes(w, campaign)).toEqual([outcome])
  expect((await w.get(pathOf(campaign))).body.delivery).toMatchObject(delivery)
  expect(fake.requests.filter(({ url }) => url === WEBHOOK)).toHaveLength(1)
})

test('a report about a message that waits and cannot have been sent changes nothing', async () => {
  await using w = await world()
  await using fake = await openFakeProvider()
  const { campaign, provider } = await waiting(w, fake)
  fake.answer('refused', accepted)
  await run(w, 'messages.send')
  const [message] = await select(w, 'select id::int from messages where project_id = $1', [w.projectId])
  const report: Report = { what: 'delivered', at: w.clock.now(), messageId: message?.id as MessageId }
  await applyReports(w.ctx, findCampaignSubscriptions, provider, [report])
  expect(await outcomes(w, campaign)).toEqual(['ana: deferred provider_deferred'])
  w.advance('1 hour')
  await w.drain()
  expect(await outcomes(w, campaign)).toEqual(['ana: sent'])
})
