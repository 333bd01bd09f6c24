import { expect, test } from 'vitest'
import { blastBeforeMerge, blastTo, listOf, messagesIn, pathOf, run, schedule, write } from '../../../../test/blasts.ts'
import { answerOrders, order, providerOf, recipientsOf, sendOver } from '../../../../test/mailing.ts'
import { openRelay } from '../../../../test/relay.ts'
import { select } from '../../../../test/select.ts'
import { type World, world } from '../../../../test/world.ts'
import { type Db, sql } from '../../../infra/postgres/db.ts'
import type { MessageId } from '../../../lib/ids.ts'
import { findCampaignSubscriptions, findSendingCampaigns, recordOverBudget } from '../../campaigns/index.ts'
import { createInboxStreams } from '../../inbox/index.ts'
import { applyReports } from '../reports/reports.ts'
import { BULK, type Priority, TRANSACTIONAL } from '../schema.ts'
import { claim } from '../sending/claim.ts'
import { createSender, sendQueue } from '../sending/sender.ts'

/** How many messages ana has: in the mailbox behind a relay, and in the in-app inbox that her client reads. */
async function receivedByAna(w: World, relay: Parameters<typeof recipientsOf>[0]): Promise<number> {
  const inbox = await w.get('/api/client/users/ana/messages')
  expect(inbox.status, inbox.text).toBe(200)
  return recipientsOf(relay).length + inbox.body.results.length
}

const POLICY = '/api/client/sending-policy'

const senderOf = (priority: Priority) =>
  createSender({ recordOverBudget, findSendingCampaigns, inboxStreams: createInboxStreams() }, priority)

test('a policy is returned as it was saved; invalid values are refused', async () => {
  await using w = await world()
  expect((await w.get(POLICY)).body).toEqual({ caps: [], quiet_hours: null })
  const policy = {
    caps: [{ channels: ['email'], max: 1, window_hours: 24 }],
    quiet_hours: { channels: ['email'], from: '21:00', to: '08:00' },
  }
  expect((await w.put(POLICY, policy)).body).toEqual(policy)
  expect((await w.get(POLICY)).body).toEqual(policy)
  expect((await w.put(POLICY, { ...policy, quiet_hours: { ...policy.quiet_hours, from: '25:00' } })).status).toBe(400)
  expect((await w.put(POLICY, policy, { key: w.keys.editor })).status).toBe(403)
})

test('a user whose stored time zone is none has the quiet hours of the project, and keeps no other message waiting', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  await w.put(POLICY, { caps: [], quiet_hours: { channels: ['email'], from: '21:00', to: '08:00' } })
  const list = await listOf(w, 'ana', 'bo', 'cy')
  await w.db.run(sql`update users set timezone = 'Europe/London' where project_id = ${w.projectId} and external_id <> 'bo'`)
  await w.db.run(sql`update users set timezone = 'IST' where project_id = ${w.projectId} and external_id = 'bo'`)
  const campaign = await blastTo(w, [list])
  await schedule(w, campaign)
  // 23:00 in Sydney, the zone of the project.
  w.clock.set(new Date('2026-11-23T12:00:00Z'))
  await w.drain()
  expect(recipientsOf(relay)).toEqual(['ana@example.com', 'cy@example.com'])
  w.advance('10 hours')
  await w.drain()
  expect(recipientsOf(relay)).toEqual(['ana@example.com', 'bo@example.com', 'cy@example.com'])
})

test('a message over a cap waits until the first has left the window, with the reason', async () => {
  await using w = await world()
  await w.put(POLICY, { caps: [{ channels: ['email'], max: 1, window_hours: 24 }], quiet_hours: null })
  const list = await listOf(w, 'ana', 'kim')
  const [first, second] = [await blastTo(w, [list]), await blastTo(w, [list])]
  await schedule(w, first)
  await w.drain()
  w.advance('1 hour')
  await schedule(w, second)
  await w.drain()
  expect(await messagesIn(w, second)).toMatchObject([
    { state: 'deferred', reason: 'frequency_cap' },
    { state: 'deferred', reason: 'frequency_cap' },
  ])
  expect((await w.get(`/api/client/campaigns/${second.id}`)).body).toMatchObject({ state: 'running', delivery: { sent: 0, total: 2 } })
  w.advance('23 hours')
  await w.drain()
  expect(await messagesIn(w, second)).toMatchObject([{ state: 'delivered' }, { state: 'delivered' }])
  expect((await w.get('/api/client/sandbox/messages')).body.results).toHaveLength(4)
})

test('a cap whose window outlasts the deadline is the reason, and the explanation says until when it would wait', async () => {
  await using w = await world()
  await w.put(POLICY, { caps: [{ channels: ['email'], max: 1, window_hours: 24 }], quiet_hours: null })
  const list = await listOf(w, 'ana')
  await schedule(w, await blastTo(w, [list]))
  await w.drain()
  const capped = await blastTo(w, [list], { expires_after_hours: 2 })
  await schedule(w, capped)
  await w.drain()
  expect(await messagesIn(w, capped)).toMatchObject([{ user: 'ana', state: 'skipped', reason: 'frequency_cap' }])
  const { summary } = (await w.get(`/api/client/campaigns/${capped.id}/recipients/ana/explain`)).body
  expect(summary).toContain('because the user has reached the frequency cap')
  expect(summary).toContain('until 2026-11-24T09:00:00.000Z, which is after its deadline of 2026-11-23T11:00:00.000Z')
})

test('a cap counts what a user got before another one was merged into it', async () => {
  await using w = await world()
  await w.put(POLICY, { caps: [{ channels: ['email'], max: 1, window_hours: 24 }], quiet_hours: null })
  await blastBeforeMerge(w)
  const next = await blastTo(w, [await listOf(w, 'ana')])
  await schedule(w, next)
  await w.drain()
  expect(await messagesIn(w, next)).toMatchObject([{ user: 'ana', state: 'deferred', reason: 'frequency_cap' }])
  w.advance('1 day')
  await w.drain()
  expect(await messagesIn(w, next)).toMatchObject([{ state: 'delivered' }])
})

test('of several messages at once one is sent, and each of the others waits for its own window', async () => {
  await using w = await world()
  await w.put(POLICY, { caps: [{ channels: ['email'], max: 1, window_hours: 24 }], quiet_hours: null })
  const list = await listOf(w, 'ana')
  for (let count = 0; count < 3; count++) await schedule(w, await blastTo(w, [list]))
  for (const sent of [1, 2, 3]) {
    await w.drain()
    expect((await w.get('/api/client/sandbox/messages')).body.results).toHaveLength(sent)
    w.advance('1 day')
  }
})

test('a cap counts a message that another sender has claimed and not sent yet', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  await w.put(POLICY, { caps: [{ channels: ['email'], max: 1, window_hours: 24 }], quiet_hours: null })
  const list = await listOf(w, 'ana')
  for (let count = 0; count < 2; count++) await schedule(w, await blastTo(w, [list]))
  await run(w, 'campaigns.launch')
  await run(w, 'campaigns.load', 2)
  const claimedAt = w.clock.now()
  const held = await claim(w.ctx, BULK, [{ project_id: w.projectId, channel: 'email', limit: 1 }])
  expect(held).toHaveLength(1)
  expect(await run(w, 'messages.send-bulk')).toBe(1)
  expect(recipientsOf(relay)).toEqual([])
  await sendQueue(w.ctx, senderOf(BULK), held, claimedAt)
  await w.drain()
  expect(recipientsOf(relay)).toEqual(['ana@example.com'])
  w.advance('1 day')
  await w.drain()
  expect(recipientsOf(relay)).toEqual(['ana@example.com', 'ana@example.com'])
})

/** Of two senders, whose results are saved once both have decided. */
function resultsOfBoth(w: World): Db {
  const both = Promise.withResolvers<void>()
  let arrived = 0
  const transaction: Db['transaction'] = async (...given) => {
    if (++arrived === 2) both.resolve()
    await both.promise
    return w.db.transaction(...given)
  }
  return { ...w.db, transaction }
}

test('of two messages that are claimed at the same moment one is sent, and the other waits or is skipped', async () => {
  await using relay = await openRelay()
  await using w = await world()
  await sendOver(w, relay)
  await w.put(POLICY, { caps: [{ channels: ['email', 'in_app'], max: 1, window_hours: 168 }], quiet_hours: null })
  const [email, inApp] = [await answerOrders(w), await answerOrders(w, 'in_app')]
  await w.users('ana')
  await order(w, 'ana')
  await run(w, 'ingest.apply')
  const queues = (['email', 'in_app'] as const).map((channel) => ({ project_id: w.projectId, channel, limit: 1 }))
  const claimedAt = w.clock.now()
  const held = await claim(w.ctx, TRANSACTIONAL, queues)
  expect(held).toHaveLength(2)
  const resultsDb = resultsOfBoth(w)
  await Promise.all(held.map((message) => sendQueue(w.ctx, senderOf(TRANSACTIONAL), [message], claimedAt, resultsDb)))
  w.advance('30 seconds')
  await w.drain()
  const states = [...(await messagesIn(w, email)), ...(await messagesIn(w, inApp))].map(({ state, reason }) => `${state} ${reason}`)
  expect(states.filter((state) => state === 'skipped frequency_cap')).toHaveLength(1)
  expect(await receivedByAna(w, relay)).toBe(1)
})

test('a cap holds when messages that are claimed together are due in another order than that of their ids', async () => {
  await using relay = await openRelay()
  await using w = await world()
  await sendOver(w, relay)
  await w.put(POLICY, { caps: [{ channels: ['email', 'in_app'], max: 2, window_hours: 168 }], quiet_hours: null })
  const campaigns = [await answerOrders(w), await answerOrders(w, 'in_app'), await answerOrders(w)]
  await w.users('ana')
  await order(w, 'ana')
  await run(w, 'ingest.apply')
  const lastDue = `update messages set due_at = due_at + interval '5 seconds' where campaign_id = $1 returning id`
  await select(w, lastDue, [campaigns[0]?.id])
  w.advance('5 seconds')
  const queues = (['email', 'in_app'] as const).map((channel) => ({ project_id: w.projectId, channel, limit: 2 }))
  const claimedAt = w.clock.now()
  const held = await claim(w.ctx, TRANSACTIONAL, queues)
  expect(held).toHaveLength(3)
  const batches = [...Map.groupBy(held, ({ channel }) => channel).values()]
  const resultsDb = resultsOfBoth(w)
  await Promise.all(batches.map((batch) => sendQueue(w.ctx, senderOf(TRANSACTIONAL), batch, claimedAt, resultsDb)))
  w.advance('30 seconds')
  await w.drain()
  const messages = (await Promise.all(campaigns.map((campaign) => messagesIn(w, campaign)))).flat()
  const states = messages.map(({ state, reason }) => `${state} ${reason}`)
  expect(states.filter((state) => state === 'skipped frequency_cap')).toHaveLength(1)
  expect(await receivedByAna(w, relay)).toBe(2)
})

test('a message that waited for one in flight is sent if that one is not', async () => {
  await using w = await world()
  await w.put(POLICY, { caps: [{ channels: ['email'], max: 1, window_hours: 24 }], quiet_hours: null })
  const list = await listOf(w, 'ana')
  const [first, second] = [await blastTo(w, [list]), await blastTo(w, [list], { expires_after_hours: 2 })]
  for (const blast of [first, second]) await schedule(w, blast)
  await run(w, 'campaigns.launch')
  await run(w, 'campaigns.load', 2)
  const claimedAt = w.clock.now()
  const held = await claim(w.ctx, BULK, [{ project_id: w.projectId, channel: 'email', limit: 1 }])
  await run(w, 'messages.send-bulk')
  expect(await messagesIn(w, second)).toMatchObject([{ state: 'deferred', reason: 'frequency_cap' }])
  await write(w, first, { state: 'aborted' })
  await sendQueue(w.ctx, senderOf(BULK), held, claimedAt)
  w.advance('30 seconds')
  await w.drain()
  expect(await messagesIn(w, first)).toMatchObject([{ state: 'aborted' }])
  expect(await messagesIn(w, second)).toMatchObject([{ state: 'delivered' }])
})

test('a message that waited for another one of its batch is sent if that one fails', async () => {
  await using relay = await openRelay()
  await using w = await world()
  await sendOver(w, relay)
  await w.put(POLICY, { caps: [{ channels: ['email'], max: 1, window_hours: 168 }], quiet_hours: null })
  const [first, second] = [await answerOrders(w), await answerOrders(w)]
  const needsPlan = { from: 'Shop <shop@example.com>', subject: 'Thanks', html: '<p>Thanks</p>', required: ['user.data.plan'] }
  await w.put(`${pathOf(first)}/templates/en`, needsPlan)
  await w.users('ana')
  await order(w, 'ana')
  await w.drain()
  expect(await messagesIn(w, first)).toMatchObject([{ state: 'failed', reason: 'render_failed' }])
  w.advance('30 seconds')
  await w.drain()
  expect(recipientsOf(relay)).toEqual(['ana@example.com'])
  expect(await messagesIn(w, second)).toMatchObject([{ state: 'sent' }])
})

test.each([
  [false, { state: 'deferred', reason: 'frequency_cap', due_at: new Date('2026-11-24T09:00:00.000Z') }],
  [true, { state: 'delivered' }],
])(
  'what was reported before its sender died is received, and not in flight for ever; transactional: %s',
  async (isTransactional, outcome) => {
    await using w = await world()
    await w.put(POLICY, { caps: [{ channels: ['email'], max: 1, window_hours: 24 }], quiet_hours: null })
    const list = await listOf(w, 'ana')
    const type = (await w.post('/api/client/subscriptions', { name: 'News', channel: 'email', is_transactional: isTransactional })).body
    await w.patch('/api/client/users/ana/subscriptions', [{ subscription_id: type.id, state: 1 }])
    const [first, second] = [await blastTo(w, [list], { subscription_id: type.id }), await blastTo(w, [list])]
    await schedule(w, first)
    await run(w, 'campaigns.launch')
    await run(w, 'campaigns.load')
    const [claimed] = await claim(w.ctx, BULK, [{ project_id: w.projectId, channel: 'email', limit: 1 }])
    const provider = await providerOf(w, { kind: 'sandbox', channel: 'email', settings: {} })
    const report = { what: 'delivered' as const, at: w.clock.now(), messageId: claimed?.id as MessageId }
    await applyReports(w.ctx, findCampaignSubscriptions, provider, [report])
    w.advance('1 hour')
    await schedule(w, second)
    await w.drain()
    expect(await messagesIn(w, first)).toMatchObject([{ state: 'delivered' }])
    expect(await messagesIn(w, second)).toMatchObject([outcome])
  },
)

test('a cap does not count a transactional message in flight', async () => {
  await using w = await world()
  await w.put(POLICY, { caps: [{ channels: ['email'], max: 1, window_hours: 24 }], quiet_hours: null })
  const list = await listOf(w, 'ana')
  const receipts = (await w.post('/api/client/subscriptions', { name: 'Receipts', channel: 'email', is_transactional: true })).body
  const [receipt, blast] = [await blastTo(w, [list], { subscription_id: receipts.id }), await blastTo(w, [list])]
  await schedule(w, receipt)
  await run(w, 'campaigns.launch')
  await run(w, 'campaigns.load')
  expect(await claim(w.ctx, BULK, [{ project_id: w.projectId, channel: 'email', limit: 1 }])).toHaveLength(1)
  await schedule(w, blast)
  await w.drain()
  expect(await messagesIn(w, receipt)).toMatchObject([{ state: 'claimed' }])
  expect(await messagesIn(w, blast)).toMatchObject([{ state: 'delivered' }])
})

test('a cap does not count transactional messages', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  await w.put(POLICY, { caps: [{ channels: ['email'], max: 1, window_hours: 24 }], quiet_hours: null })
  const list = await listOf(w, 'ana')
  const receipts = (await w.post('/api/client/subscriptions', { name: 'Receipts', channel: 'email', is_transactional: true })).body
  for (const more of [{ subscription_id: receipts.id }, { subscription_id: receipts.id }, {}, {}]) {
    await schedule(w, await blastTo(w, [list], more))
    await w.drain()
  }
  expect(relay.mails).toHaveLength(3)
})

test('quiet hours are in the user’s time zone, do not apply to transactional types, and delay no message past its deadline', async () => {
  await using w = await world()
  // It is 09:00 in UTC, 20:00 in Sydney and 01:00 in Los Angeles.
  await w.put(POLICY, { caps: [], quiet_hours: { channels: ['email'], from: '21:00', to: '08:00' } })
  const list = await listOf(w, 'sydney', 'angeles')
  await w.post('/api/client/users/batch', [
    { external_id: 'sydney', timezone: 'Australia/Sydney' },
    { external_id: 'angeles', timezone: 'America/Los_Angeles' },
  ])
  const blast = await blastTo(w, [list])
  await schedule(w, blast)
  const hasty = await blastTo(w, [list], { expires_after_hours: 2 })
  await schedule(w, hasty)
  const type = (await w.post('/api/client/subscriptions', { name: 'Receipts', channel: 'email', is_transactional: true })).body
  const receipt = await blastTo(w, [list], { subscription_id: type.id })
  await schedule(w, receipt)
  await w.drain()
  expect(await messagesIn(w, blast)).toMatchObject([
    { user: 'angeles', state: 'deferred', reason: 'quiet_hours', due_at: new Date('2026-11-23T16:00:00.000Z') },
    { user: 'sydney', state: 'delivered' },
  ])
  expect(await messagesIn(w, hasty)).toMatchObject([
    { user: 'angeles', state: 'skipped', reason: 'deadline_passed' },
    { user: 'sydney', state: 'delivered' },
  ])
  expect(await messagesIn(w, receipt)).toMatchObject([{ state: 'delivered' }, { state: 'delivered' }])
  w.advance('7 hours')
  await w.drain()
  expect(await messagesIn(w, blast)).toMatchObject([{ state: 'delivered' }, { state: 'delivered' }])
})

test('all senders share the rate of a provider, and messages over it are sent later', async () => {
  await using w = await world()
  const provider = { name: 'Slow', kind: 'sandbox', channel: 'email', settings: {}, rate: { limit: 5, interval_seconds: 60 } }
  expect((await w.post('/api/client/providers', provider)).status).toBe(201)
  const blast = await blastTo(w, [await listOf(w, ...Array.from({ length: 12 }, (_, at) => `user-${at}`))])
  await schedule(w, blast)
  const sent = async () => (await messagesIn(w, blast)).filter(({ state }) => state === 'delivered').length
  await Promise.all([w.drain(), w.drain()])
  expect(await sent()).toBe(5)
  w.advance('1 minute')
  await Promise.all([w.drain(), w.drain()])
  expect([9, 10]).toContain(await sent())
  w.advance('1 minute')
  await w.drain()
  expect(await sent()).toBe(12)
})
