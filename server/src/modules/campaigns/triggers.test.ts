import { expect, test } from 'vitest'
import { CAMPAIGNS, listOf, outcomes, subscriptionTo, write } from '../../../test/blasts.ts'
import { answerOrders, order, recipientsOf, sendOver } from '../../../test/mailing.ts'
import { openRelay } from '../../../test/relay.ts'
import { world } from '../../../test/world.ts'
import type { CampaignId, SubscriptionId, UserId } from '../../lib/ids.ts'
import { matchesOf, type Trigger } from './triggers.ts'

const NOW = new Date('2026-11-20T09:31:00Z')

const trigger = (id: number, event_name: string, more: Partial<Trigger> = {}): Trigger => ({
  id: id as CampaignId,
  event_name,
  event_rule: null,
  channel: 'email',
  subscription_id: 1 as SubscriptionId,
  expires_after_hours: 72,
  ...more,
})

const storedEvent = (user: number, key: string, name: string) => {
  const at = new Date('2026-11-20T09:30:00Z')
  return {
    userId: user as UserId,
    event: { key, name, data: { n: user }, createdAt: at, receivedAt: at, eventId: null },
    source: 'api' as const,
    starts: 'all' as const,
    triggers: true,
  }
}

test('each event makes one intent for each campaign that it matches, with its own cause', () => {
  const events = [storedEvent(1, '5-0', 'bought'), storedEvent(2, '5-1', 'left'), storedEvent(1, '5-2', 'bought')]
  const intents = matchesOf(events, [trigger(7, 'bought'), trigger(8, 'seen'), trigger(9, 'bought', { channel: 'push' })], NOW)
  expect(intents.map(({ intent: { user_id, campaign_id, channel, cause } }) => [user_id, campaign_id, channel, cause])).toEqual([
    [1, 7, 'email', 'campaign:7:event:5-0'],
    [1, 9, 'push', 'campaign:9:event:5-0'],
    [1, 7, 'email', 'campaign:7:event:5-2'],
    [1, 9, 'push', 'campaign:9:event:5-2'],
  ])
  expect(intents[0]?.intent.event).toEqual({ name: 'bought', data: { n: 1 }, created_at: '2026-11-20T09:30:00.000Z' })
})

test('event names are case-sensitive', () => {
  expect(matchesOf([storedEvent(1, '1-0', 'Bought')], [trigger(7, 'bought')], NOW)).toEqual([])
})

test('a rule on event data uses the operators of list rules', () => {
  const events = [storedEvent(1, '5-0', 'bought'), storedEvent(2, '5-1', 'bought'), storedEvent(3, '5-2', 'bought')]
  const rule = {
    where: [
      { attribute: 'data.n', at_least: 2 },
      { attribute: 'data.n', is_not: 3 },
    ],
  }
  const users = matchesOf(events, [trigger(7, 'bought', { event_rule: rule })], NOW).map(({ intent }) => intent.user_id)
  expect(users).toEqual([2])
})

test('a rule on the user is returned for later evaluation', () => {
  const [found] = matchesOf(
    [storedEvent(1, '5-0', 'bought')],
    [trigger(7, 'bought', { event_rule: { user: { attribute: 'data.plan', is: 'pro' } } })],
    NOW,
  )
  expect(found?.user?.rule).toEqual({ attribute: 'data.plan', is: 'pro' })
})

test('a message expires after the hours that its campaign sets', () => {
  const [found] = matchesOf([storedEvent(1, '5-0', 'bought')], [trigger(7, 'bought', { expires_after_hours: 2 })], NOW)
  expect(found?.intent.expires_at.toISOString()).toBe('2026-11-20T11:31:00.000Z')
})

test('only users for whom the rule on the user holds get a message, and only one for each event', async () => {
  await using w = await world()
  await w.post('/api/client/users/batch', [
    { external_id: 'pro', email: 'pro@example.com', data: { plan: 'pro' } },
    { external_id: 'free', email: 'free@example.com', data: { plan: 'free' } },
  ])
  const subscription_id = await subscriptionTo(w)
  const event_rule = { user: { attribute: 'data.plan', is: 'pro' } }
  const made = await w.post(CAMPAIGNS, { type: 'trigger', name: 'Thanks', subscription_id, event_name: 'bought', event_rule })
  await w.put(`${CAMPAIGNS}/${made.body.id}/templates/en`, { from: 'shop@example.com', subject: 'Thanks', html: '<p>Thanks</p>' })
  await write(w, made.body, { state: 'running' })
  await w.post('/api/client/events', [
    { name: 'bought', external_id: 'pro', event_id: 'one' },
    { name: 'bought', external_id: 'free' },
    { name: 'bought', external_id: 'pro', event_id: 'one' },
  ])
  await w.drain()
  const { results } = (await w.get(`/api/client/messages?campaign_id=${made.body.id}`)).body
  expect(results.map(({ user }: { user: { external_id: string } }) => user.external_id)).toEqual(['pro'])
})

test('a message that is sent on request has the data of the request; a blast is refused', async () => {
  await using w = await world()
  await w.users('kim')
  const subscription_id = await subscriptionTo(w)
  const template = { from: 'shop@example.com', subject: 'Code {{ event.data.code }}', html: '<p>Hi</p>' }
  const made = await w.post(CAMPAIGNS, { type: 'trigger', name: 'Code', subscription_id })
  await w.put(`${CAMPAIGNS}/${made.body.id}/templates/en`, template)
  await write(w, made.body, { state: 'running' })
  const request = { external_id: 'kim', data: { code: '7' }, key: 'a' }
  const sent = await w.post(`${CAMPAIGNS}/${made.body.id}/trigger`, request)
  expect(sent.body).toEqual({ message_id: expect.any(Number) })
  expect((await w.post(`${CAMPAIGNS}/${made.body.id}/trigger`, request)).body).toEqual(sent.body)
  // More than a page of newer messages hides no earlier one.
  for (let at = 0; at < 101; at++) await w.post(`${CAMPAIGNS}/${made.body.id}/trigger`, { external_id: 'kim' })
  expect((await w.post(`${CAMPAIGNS}/${made.body.id}/trigger`, request)).body).toEqual(sent.body)
  await w.drain()
  expect((await w.get(`/api/client/messages/${sent.body.message_id}`)).body.content).toMatchObject({ subject: 'Code 7' })
  const blast = await w.post(CAMPAIGNS, { type: 'blast', name: 'Spring', subscription_id })
  const refused = await w.post(`${CAMPAIGNS}/${blast.body.id}/trigger`, request)
  expect([refused.status, refused.body.error.param]).toEqual([422, 'type'])
})

test('users in an exclusion list get no message, by an event or a request', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  await w.users('lee', 'kim')
  const campaign = await answerOrders(w)
  await write(w, campaign, { exclusion_list_ids: [await listOf(w, 'lee')] })
  await order(w, 'lee', 'kim')
  const triggered = await w.post(`${CAMPAIGNS}/${campaign.id}/trigger`, { external_id: 'lee' })
  expect(triggered.status, triggered.text).toBe(202)
  const asked = await w.post('/api/client/messages', { campaign_id: campaign.id, user: { external_id: 'lee' } }, { key: w.keys.publisher })
  expect(asked.body).toMatchObject({ state: 'skipped', reason: 'excluded' })
  await w.drain()
  expect(recipientsOf(relay)).toEqual(['kim@example.com'])
  expect((await outcomes(w, campaign)).sort()).toEqual([
    'kim: sent',
    'lee: skipped excluded',
    'lee: skipped excluded',
    'lee: skipped excluded',
  ])
})

test('a message that follows from a list which users enter because time passes delays no password reset', async () => {
  await using w = await world()
  await w.users('ana')
  const rule = { event: 'login', within: '1h', exactly: 0 }
  await w.post('/api/client/lists', { name: 'Away', type: 'dynamic', rule })
  await w.post('/api/client/events', [{ name: 'login', external_id: 'ana' }])
  await w.drain()
  const subscription_id = await subscriptionTo(w)
  const made = await w.post(CAMPAIGNS, { type: 'trigger', name: 'Back', subscription_id, event_name: 'list_entered' })
  await w.put(`${CAMPAIGNS}/${made.body.id}/templates/en`, { from: 'shop@example.com', subject: 'Hi', html: '<p>Hi</p>' })
  await write(w, made.body, { state: 'running' })
  w.advance('61 minutes')
  await w.drain('timers.apply')
  const sent = async () => (await w.get('/api/client/sandbox/messages')).body.results
  await w.drain('messages.send', 'messages.send-bulk')
  expect(await sent()).toEqual([])
  await w.drain('messages.send-timed')
  expect(await sent()).toHaveLength(1)
})
