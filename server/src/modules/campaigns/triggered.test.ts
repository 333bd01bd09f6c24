import { expect, test } from 'vitest'
import type { CampaignId, SubscriptionId, UserId } from '../../lib/ids.ts'
import { type Trigger, triggered } from './triggered.ts'

const trigger = (id: number, event_name: string, channel: Trigger['channel'] = 'email'): Trigger => ({
  id: id as CampaignId,
  event_name,
  channel,
  subscription_id: 1 as SubscriptionId,
})

const fact = (user: number, key: string, name: string) => {
  const at = new Date('2026-11-20T09:30:00Z')
  return { userId: user as UserId, event: { key, name, data: { n: user }, createdAt: at, receivedAt: at, eventId: null }, triggers: true }
}

test('each event makes one intent for each campaign that fires on it, with a cause of its own', () => {
  const facts = [fact(1, '5-0', 'bought'), fact(2, '5-1', 'left'), fact(1, '5-2', 'bought')]
  const intents = triggered(facts, [trigger(7, 'bought'), trigger(8, 'seen'), trigger(9, 'bought', 'push')])
  expect(intents.map(({ user_id, campaign_id, channel, cause }) => [user_id, campaign_id, channel, cause])).toEqual([
    [1, 7, 'email', 'campaign:7:event:5-0'],
    [1, 9, 'push', 'campaign:9:event:5-0'],
    [1, 7, 'email', 'campaign:7:event:5-2'],
    [1, 9, 'push', 'campaign:9:event:5-2'],
  ])
  expect(intents[0]?.event).toEqual({ name: 'bought', data: { n: 1 }, created_at: '2026-11-20T09:30:00.000Z' })
})

test('names of events are taken as they are', () => {
  expect(triggered([fact(1, '1-0', 'Bought')], [trigger(7, 'bought')])).toEqual([])
})
