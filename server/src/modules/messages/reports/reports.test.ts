import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { blastTo, listOf, pathOf, schedule, subscriptionTo } from '../../../../test/blasts.ts'
import { openFakeProvider } from '../../../../test/fake-provider.ts'
import { providerOf, recipientsOf, sendOver } from '../../../../test/mailing.ts'
import { openRelay } from '../../../../test/relay.ts'
import { type World, world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import { inTx } from '../../../infra/runtime/ctx.ts'
import type { MessageId, ProviderId } from '../../../lib/ids.ts'
import { findCampaignSubscriptions } from '../../campaigns/index.ts'
import type { Report } from '../../channels/index.ts'
import { recordEngagement } from './engagement.ts'
import { applyReports } from './reports.ts'

const Row = Type.Object({ id: Type.Unsafe<MessageId>({ type: 'integer' }), state: Type.String(), reason: Type.Unsafe<string | null>({}) })

/** An email to Ana that a provider accepted, with its id `vendor-1` at the provider. */
async function sentToAna(w: World): Promise<{ id: MessageId; campaign: number; provider: ProviderId }> {
  const list = await listOf(w, 'ana')
  const provider = (await w.post('/api/client/providers', { name: 'Discard', kind: 'discard', channel: 'email', settings: {} })).body.id
  const campaign = await blastTo(w, [list])
  await schedule(w, campaign)
  await w.drain()
  await w.db.run(sql`update messages set provider_message_id = 'vendor-1' where project_id = ${w.projectId}`)
  const row = await messageOf(w)
  expect(row).toMatchObject({ state: 'sent' })
  return { id: row.id, campaign: campaign.id, provider }
}

async function messageOf(w: World) {
  const row = await w.db.first(Row, sql`select id, state, reason from messages where project_id = ${w.projectId}`)
  if (!row) throw new Error('There is no message.')
  return row
}

const Sent = Type.Object({ id: Type.Unsafe<MessageId>({ type: 'integer' }), recipient: Type.String() })

const sentIn = (w: World) => w.db.many(Sent, sql`select id, recipient from messages where project_id = ${w.projectId} order by recipient`)

const report = (w: World, what: Report['what'], more: Partial<Report> = {}): Report => ({ what, at: w.clock.now(), ...more })

const eventsOf = async (w: World) => (await w.get('/api/client/users/ana/events')).body.results.map(({ name }: { name: string }) => name)

const apply = (w: World, provider: ProviderId, ...reports: Report[]) => applyReports(w.ctx, findCampaignSubscriptions, provider, reports)

type EventSent = {
  type: string
  data: { message_id: number; to: string; suppressed?: boolean; unsubscribed?: boolean; user?: { external_id: string } }
}

/** The webhook events that a receiver got. */
const eventsSentTo = ({ requests }: { requests: { json: Record<string, unknown> }[] }) => requests.map(({ json }) => json as EventSent)

test('a bounce changes the state of the message, suppresses the address, adds an event to the user, and is counted', async () => {
  await using w = await world()
  const { campaign, provider } = await sentToAna(w)
  await apply(w, provider, report(w, 'bounced', { reference: 'vendor-1', diagnostic: '550 5.1.1 No such user' }))
  await w.drain()
  expect(await messageOf(w)).toMatchObject({ state: 'bounced', reason: 'hard_bounce' })
  expect((await w.get('/api/client/suppressions')).body.results).toMatchObject([{ address: 'ana@example.com', reason: 'hard_bounce' }])
  expect(await eventsOf(w)).toContain('email_bounced')
  expect((await w.get(`/api/client/campaigns/${campaign}`)).body.delivery).toMatchObject({ total: 1, sent: 1, bounced: 1 })

  const again = await blastTo(w, [await listOf(w, 'ana')])
  await schedule(w, again)
  await w.drain()
  const [skipped] = (await w.get(`/api/client/campaigns/${again.id}/recipients`)).body.results
  expect(skipped).toMatchObject({ state: 'skipped', reason: 'suppressed' })
})

test('a complaint that comes after an erasure suppresses an earlier address of the user, and does not store it', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  const event_types = ['incoming-report.abuse-report', 'delivery.failed']
  expect((await w.post('/api/client/webhooks', { name: 'All', url: receiver.url, event_types })).status).toBe(201)
  const { provider } = await sentToAna(w)
  await w.post('/api/client/users/batch', [{ external_id: 'ana', email: 'new@example.com' }])
  await w.delete('/api/client/users/ana')
  await w.drain()
  const said = { reference: 'vendor-1', address: 'ana@example.com', diagnostic: 'ana@example.com complained' }
  await apply(w, provider, report(w, 'complained', said))
  await w.drain()
  const { results } = (await w.get('/api/client/suppressions?q=ana@example.com')).body
  expect(results).toMatchObject([{ reason: 'complaint', address: null }])
  expect(eventsSentTo(receiver).map(({ type }) => type)).toEqual(['incoming-report.abuse-report'])
  expect(JSON.stringify(eventsSentTo(receiver))).not.toContain('ana@')
})

test('a message is completed once: when the provider accepts it, and not again by the reports that follow', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  const event_types = ['delivery.delivered', 'delivery.dsn-perm-fail', 'delivery.completed']
  expect((await w.post('/api/client/webhooks', { name: 'All', url: receiver.url, event_types })).status).toBe(201)
  const { provider } = await sentToAna(w)
  w.advance('1 second')
  await apply(w, provider, report(w, 'delivered', { reference: 'vendor-1' }))
  w.advance('1 second')
  await apply(w, provider, report(w, 'bounced', { reference: 'vendor-1', diagnostic: '550 5.1.1 No such user' }))
  await w.drain()
  const received = receiver.requests.map(
    ({ json }) => json as { id: string; type: string; data: { relayed?: boolean; asynchronous?: boolean } },
  )
  expect(received.sort((a, b) => (a.id < b.id ? -1 : 1)).map(({ type, data }) => [type, data.relayed ?? data.asynchronous])).toEqual([
    ['delivery.delivered', true],
    ['delivery.completed', undefined],
    ['delivery.delivered', undefined],
    ['delivery.dsn-perm-fail', true],
  ])
})

test('only bounces and complaints suppress the address; only complaints and unsubscribes unsubscribe the user', async () => {
  await using w = await world()
  await using relay = await openRelay()
  const provider = await sendOver(w, relay)
  const whats = ['delivered', 'delayed', 'failed', 'bounced', 'complained', 'unsubscribed'] as const
  const list = await listOf(w, ...whats)
  await schedule(w, await blastTo(w, [list]))
  await w.drain()
  expect(relay.mails).toHaveLength(whats.length)
  const sent = await sentIn(w)
  const idOf = (what: string) => sent.find(({ recipient }) => recipient === `${what}@example.com`)?.id as MessageId
  // The address that the message went to counts, not the one in the report.
  await apply(w, provider, ...whats.map((what) => report(w, what, { messageId: idOf(what), address: 'other@example.com' })))
  await w.drain()
  const { results: suppressed } = (await w.get('/api/client/suppressions?direction=asc')).body
  expect(suppressed.map(({ address, reason }: { address: string; reason: string }) => [address, reason]).sort()).toEqual([
    ['bounced@example.com', 'hard_bounce'],
    ['complained@example.com', 'complaint'],
  ])
  const subscription_id = await subscriptionTo(w)
  const unsubscribed: string[] = []
  for (const what of whats) {
    const { results } = (await w.get(`/api/client/users/${what}/subscriptions`)).body
    if (results.some((one: { subscription_id: number; state: number }) => one.subscription_id === subscription_id && one.state === 0))
      unsubscribed.push(what)
  }
  expect(unsubscribed).toEqual(['complained', 'unsubscribed'])
  relay.mails.length = 0
  await schedule(w, await blastTo(w, [list]))
  await w.drain()
  expect(recipientsOf(relay)).toEqual(['delayed@example.com', 'delivered@example.com', 'failed@example.com'])
})

test('a report about a copy suppresses the address of the copy, and says nothing about the message and its user', async () => {
  await using w = await world()
  await using relay = await openRelay()
  const receiver = await w.receiver()
  const event_types = ['delivery.delivered', 'delivery.dsn-perm-fail', 'incoming-report.abuse-report']
  await w.post('/api/client/webhooks', { name: 'Reports', url: receiver.url, event_types })
  const provider = await sendOver(w, relay)
  const list = await listOf(w, 'ana')
  const campaign = await blastTo(w, [list])
  const copied = { cc: 'Boss <boss@example.com>, ana@example.com', bcc: 'archive@example.com' }
  await w.put(`${pathOf(campaign)}/templates/en`, { from: 'shop@example.com', subject: 'Hi', html: '<p>Hi</p>', ...copied })
  await schedule(w, campaign)
  await w.drain()
  receiver.requests.length = 0
  expect(recipientsOf(relay)).toEqual(['ana@example.com', 'archive@example.com', 'boss@example.com'])
  const { id } = await messageOf(w)
  const about = (what: Report['what'], address: string) => report(w, what, { messageId: id, address })
  await apply(w, provider, about('bounced', 'Archive@example.com'), about('complained', 'boss@example.com'))
  await apply(w, provider, about('delivered', 'boss@example.com'), about('unsubscribed', 'boss@example.com'))
  await w.drain()
  expect(await messageOf(w)).toMatchObject({ state: 'sent', reason: null })
  const events = eventsSentTo(receiver).map(({ type, data }) => [type, data.message_id, data.to, data.suppressed, data.unsubscribed])
  expect(events.sort()).toEqual([
    ['delivery.dsn-perm-fail', id, 'Archive@example.com', true, undefined],
    ['incoming-report.abuse-report', id, 'boss@example.com', true, false],
  ])
  const { results } = (await w.get('/api/client/suppressions')).body
  expect(results.map(({ address, reason }: { address: string; reason: string }) => [address, reason]).sort()).toEqual([
    ['archive@example.com', 'hard_bounce'],
    ['boss@example.com', 'complaint'],
  ])
  relay.mails.length = 0
  await schedule(w, await blastTo(w, [list]))
  await w.drain()
  expect(recipientsOf(relay)).toEqual(['ana@example.com'])
  await apply(w, provider, about('bounced', 'ANA@example.com'))
  expect(await w.db.many(Row, sql`select id, state, reason from messages where id = ${id}`)).toMatchObject([{ state: 'bounced' }])
})

test('a complaint unsubscribes the user with a consent entry and sends a webhook event', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  await w.post('/api/client/webhooks', { name: 'Reports', url: receiver.url, event_types: ['incoming-report.abuse-report'] })
  const { id, provider } = await sentToAna(w)
  await apply(w, provider, report(w, 'complained', { messageId: id }))
  await w.drain()
  expect(await messageOf(w)).toMatchObject({ state: 'complained' })
  const subscription_id = await subscriptionTo(w)
  const states = (await w.get('/api/client/users/ana/subscriptions')).body.results
  expect(states).toContainEqual(expect.objectContaining({ subscription_id, state: 0 }))
  expect((await w.get('/api/client/users/ana/consents')).body.results[0]).toMatchObject({ state: 0, source: 'complaint' })
  expect(receiver.requests.map(({ json }) => json.data)).toMatchObject([{ message_id: id, unsubscribed: true, to: 'ana@example.com' }])
})

test('an unsubscribe or a complaint about a message of an archived campaign unsubscribes the user', async () => {
  await using w = await world()
  await using relay = await openRelay()
  const receiver = await w.receiver()
  await w.post('/api/client/webhooks', { name: 'Reports', url: receiver.url, event_types: ['incoming-report.abuse-report'] })
  const provider = await sendOver(w, relay)
  const list = await listOf(w, 'ana', 'complained', 'erased', 'unsubscribed')
  const campaign = await blastTo(w, [list])
  await schedule(w, campaign)
  await w.drain()
  const sent = await sentIn(w)
  expect((await w.delete(pathOf(campaign))).status).toBe(204)
  await w.delete('/api/client/users/erased')
  await w.drain()
  const about = (name: string) => ({ messageId: sent.find(({ recipient }) => recipient === `${name}@example.com`)?.id as MessageId })
  await apply(w, provider, report(w, 'unsubscribed', about('unsubscribed')), report(w, 'complained', about('complained')))
  await apply(w, provider, report(w, 'complained', about('erased')))
  await w.drain()
  const { results } = (await w.get('/api/client/users/complained/consents')).body
  expect(results[0]).toMatchObject({ state: 0, source: 'complaint' })
  expect(Object.fromEntries(eventsSentTo(receiver).map(({ data }) => [data.message_id, data.unsubscribed]))).toEqual({
    [about('complained').messageId]: true,
    [about('erased').messageId]: false,
  })
  relay.mails.length = 0
  await schedule(w, await blastTo(w, [list]))
  await w.drain()
  expect(recipientsOf(relay)).toEqual(['ana@example.com'])
})

test('reports that come twice, in the wrong order or for unknown messages change nothing', async () => {
  await using w = await world()
  const { id, campaign, provider } = await sentToAna(w)
  const delivered = report(w, 'delivered', { messageId: id })
  await apply(w, provider, report(w, 'bounced', { messageId: id }), delivered, report(w, 'delivered', { reference: 'unknown' }))
  await apply(w, provider, delivered, report(w, 'bounced', { messageId: id }))
  await w.drain()
  expect(await messageOf(w)).toMatchObject({ state: 'bounced' })
  expect((await eventsOf(w)).filter((name: string) => name === 'email_bounced')).toHaveLength(1)
  expect((await w.get(`/api/client/campaigns/${campaign}`)).body.delivery).toMatchObject({ bounced: 1, total: 1 })
})

test('a report with our id of a message, and with the id of another message at the provider, is about neither', async () => {
  await using w = await world()
  const { id, provider } = await sentToAna(w)
  const about = { messageId: id, reference: 'vendor-2', address: 'kim@example.com' }
  await apply(w, provider, report(w, 'bounced', about), report(w, 'complained', about))
  expect(await messageOf(w)).toMatchObject({ state: 'sent' })
  expect((await w.get('/api/client/suppressions')).body.results).toEqual([])
  await apply(w, provider, report(w, 'complained', { ...about, reference: 'vendor-1' }))
  expect(await messageOf(w)).toMatchObject({ state: 'complained' })
})

test.each(['complained', 'bounced', 'unsubscribed'] as const)(
  'a message that was given to no provider is not the one that is reported as %s with its id: another server has sent that',
  async (what) => {
    await using w = await world()
    const provider = await providerOf(w, { kind: 'discard', channel: 'email', settings: {} })
    await w.post('/api/client/users/batch', [{ external_id: 'ana' }])
    const list = (await w.post('/api/client/lists', { name: 'Ana', type: 'static' })).body.id
    await w.post(`/api/client/lists/${list}/users`, { external_ids: ['ana'] })
    await schedule(w, await blastTo(w, [list]))
    await w.drain()
    const { id, reason } = await messageOf(w)
    expect(reason).toBe('no_address')
    const states = async () =>
      (await w.get('/api/client/users/ana/subscriptions')).body.results.map(({ state }: { state: number }) => state)
    const before = await states()
    await apply(w, provider, report(w, what, { messageId: id, reference: 'foreign-1', address: 'other@example.com' }))
    await apply(w, provider, report(w, what, { messageId: id, address: 'other@example.com' }))
    await w.drain()
    expect(await states()).toEqual(before)
    expect(await messageOf(w)).toMatchObject({ state: 'skipped' })
    expect((await w.get('/api/client/suppressions')).body.results).toEqual([])
  },
)

test('an id of a provider finds messages of that provider only', async () => {
  await using w = await world()
  const { provider } = await sentToAna(w)
  await apply(w, (provider + 1000) as ProviderId, report(w, 'bounced', { reference: 'vendor-1' }))
  expect(await messageOf(w)).toMatchObject({ state: 'sent' })
})

test('a message in the state unknown becomes delivered when it is opened, and is then completed', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  const { id, campaign, provider } = await sentToAna(w)
  await w.post('/api/client/webhooks', { name: 'All', url: receiver.url, event_types: ['delivery.delivered', 'delivery.completed'] })
  await w.db.run(sql`update messages set state = 'unknown', reason = 'sender_lost' where project_id = ${w.projectId}`)
  const open = { messageId: id, what: 'opened' as const, at: w.clock.now() }
  await inTx(w.ctx, (ctx) => recordEngagement(ctx, [open, open, { ...open, what: 'clicked', url: 'https://example.com/' }]))
  await inTx(w.ctx, (ctx) => recordEngagement(ctx, [open]))
  await apply(w, provider, report(w, 'delivered', { messageId: id }))
  await w.drain()
  expect(
    eventsSentTo(receiver)
      .map(({ type, data }) => [type, data.message_id, data.to, data.user?.external_id])
      .sort(),
  ).toEqual([
    ['delivery.completed', id, 'ana@example.com', 'ana'],
    ['delivery.delivered', id, 'ana@example.com', 'ana'],
  ])
  expect(await messageOf(w)).toMatchObject({ state: 'delivered', reason: null })
  expect((await w.get(`/api/client/campaigns/${campaign}`)).body.delivery).toMatchObject({ opens: 1, clicks: 1, sent: 1 })
  expect((await eventsOf(w)).filter((name: string) => name.startsWith('email_')).sort()).toEqual([
    'email_clicked',
    'email_delivered',
    'email_opened',
    'email_sent',
  ])
})

test('an email can be read in the browser with its URL, until the user is erased', async () => {
  await using w = await world()
  const list = await listOf(w, 'ana')
  const campaign = await blastTo(w, [list])
  await w.put(`/api/client/campaigns/${campaign.id}/templates/en`, {
    from: 'shop@example.com',
    subject: 'Hi',
    html: '<p>Hello {{ user.external_id }}</p><a href="{{ view_url }}">Read it in the browser</a>',
  })
  await schedule(w, campaign)
  await w.drain()
  const [{ id }] = (await w.get('/api/client/sandbox/messages')).body.results
  const { content } = (await w.get(`/api/client/sandbox/messages/${id}`)).body
  const path = new URL(/href="([^"]+\/v\/[^"]+)"/.exec(content.html)?.[1] ?? '').pathname
  const page = await w.get(path, { key: null })
  expect(page.status).toBe(200)
  expect(page.text).toContain('Hello ana')
  expect(page.headers['content-security-policy']).toContain("default-src 'none'")
  const forged = `${path.slice(0, -8)}${path.at(-8) === 'x' ? 'y' : 'x'}${path.slice(-7)}`
  expect((await w.get(forged, { key: null })).status).toBe(404)
  // What was received can still be read when the campaign is put away.
  await w.delete(pathOf(campaign))
  expect((await w.get(path, { key: null })).text).toContain('Hello ana')
  await w.delete('/api/client/users/ana')
  await w.drain()
  expect((await w.get(path, { key: null })).status).toBe(404)
})

test('STOP unsubscribes, and the reply is returned to the provider or sent as a message', async () => {
  await using w = await world()
  await w.post('/api/client/users/batch', [{ external_id: 'ana', phone: '+61412345678' }])
  const { id } = (await w.post('/api/client/providers', { name: 'Discard', kind: 'discard', channel: 'text', settings: {} })).body
  const stop = report(w, 'received', { address: '+61412345678', text: ' Stop. ' })
  const applyStop = (repliesInAnswer: boolean) => applyReports(w.ctx, findCampaignSubscriptions, id, [stop], { repliesInAnswer })
  expect(await applyStop(true)).toEqual(expect.any(String))
  expect(await applyStop(false)).toBeUndefined()
  expect(
    await applyReports(w.ctx, findCampaignSubscriptions, id, [{ ...stop, text: 'Stop it, I like it' }], { repliesInAnswer: true }),
  ).toBeUndefined()
  const subscription_id = await subscriptionTo(w, 'text')
  expect((await w.get('/api/client/users/ana/subscriptions')).body.results).toContainEqual(
    expect.objectContaining({ subscription_id, state: 0 }),
  )
  expect((await w.get('/api/client/suppressions')).body.results).toMatchObject([{ channel: 'text', address: '+61412345678' }])
})

test('a text message that the provider repeats is recorded, acted on and answered once', async () => {
  await using w = await world()
  await using fake = await openFakeProvider()
  await w.post('/api/client/users/batch', [{ external_id: 'ana', phone: '+61412345678' }])
  const settings = { api_key: 'KEY', public_key: Buffer.alloc(32).toString('base64'), from: '+61411111111' }
  const provider = await providerOf(w, { kind: 'telnyx', channel: 'text', settings })
  const receive = (text: string, reference: string, repliesInAnswer = false) => {
    const one = report(w, 'received', { address: '+61412345678', text, reference })
    return applyReports({ ...w.ctx, fetch: fake.fetch }, findCampaignSubscriptions, provider, [one], { repliesInAnswer })
  }
  for (const reference of ['in-1', 'in-1', 'in-2']) await receive('HELP', reference)
  expect(fake.requests).toHaveLength(2)
  const stopped = await receive('STOP', 'in-3', true)
  await receive('START', 'in-4')
  // Its first answer may be lost.
  expect(await receive('STOP', 'in-3', true)).toBe(stopped)
  await w.drain()
  expect((await eventsOf(w)).filter((name: string) => name === 'text_received')).toHaveLength(4)
  expect((await w.get('/api/client/suppressions')).body.results).toEqual([])
})
