import { expect, test } from 'vitest'
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

const fact = (user: number, key: string, name: string) => {
  const at = new Date('2026-11-20T09:30:00Z')
  return { userId: user as UserId, event: { key, name, data: { n: user }, createdAt: at, receivedAt: at, eventId: null }, triggers: true }
}

test('each event makes one intent for each campaign that fires on it, with a cause of its own', () => {
  const facts = [fact(1, '5-0', 'bought'), fact(2, '5-1', 'left'), fact(1, '5-2', 'bought')]
  const intents = matchesOf(facts, [trigger(7, 'bought'), trigger(8, 'seen'), trigger(9, 'bought', { channel: 'push' })], NOW)
  expect(intents.map(({ intent: { user_id, campaign_id, channel, cause } }) => [user_id, campaign_id, channel, cause])).toEqual([
    [1, 7, 'email', 'campaign:7:event:5-0'],
    [1, 9, 'push', 'campaign:9:event:5-0'],
    [1, 7, 'email', 'campaign:7:event:5-2'],
    [1, 9, 'push', 'campaign:9:event:5-2'],
  ])
  expect(intents[0]?.intent.event).toEqual({ name: 'bought', data: { n: 1 }, created_at: '2026-11-20T09:30:00.000Z' })
})

test('names of events are taken as they are', () => {
  expect(matchesOf([fact(1, '1-0', 'Bought')], [trigger(7, 'bought')], NOW)).toEqual([])
})

test('a rule asks what the event carries, by the operators of lists', () => {
  const facts = [fact(1, '5-0', 'bought'), fact(2, '5-1', 'bought'), fact(3, '5-2', 'bought')]
  const rule = {
    where: [
      { attribute: 'data.n', at_least: 2 },
      { attribute: 'data.n', is_not: 3 },
    ],
  }
  const users = matchesOf(facts, [trigger(7, 'bought', { event_rule: rule })], NOW).map(({ intent }) => intent.user_id)
  expect(users).toEqual([2])
})

test('a rule about the person is left to be asked', () => {
  const [found] = matchesOf(
    [fact(1, '5-0', 'bought')],
    [trigger(7, 'bought', { event_rule: { user: { attribute: 'data.plan', is: 'pro' } } })],
    NOW,
  )
  expect(found?.user?.rule).toEqual({ attribute: 'data.plan', is: 'pro' })
})

test('a message makes sense for as many hours as its campaign says', () => {
  const [found] = matchesOf([fact(1, '5-0', 'bought')], [trigger(7, 'bought', { expires_after_hours: 2 })], NOW)
  expect(found?.intent.expires_at.toISOString()).toBe('2026-11-20T11:31:00.000Z')
})
