import { expect, test } from 'vitest'
import type { CampaignId, MessageId, ProjectId, UserId } from '../../lib/ids.ts'
import { result, type SendResult } from './eligibility.ts'
import type { ClaimedMessage } from './schema.ts'
import { webhookEventsOf } from './webhook-events.ts'

const now = new Date('2026-11-23T09:00:05.000Z')
const startedAt = new Date('2026-11-23T09:00:04.000Z')
const message: ClaimedMessage = {
  id: 5 as MessageId,
  project_id: 1 as ProjectId,
  user_id: 2 as UserId,
  campaign_id: 7 as CampaignId,
  channel: 'email',
  cause: 'campaign:7',
  variant: null,
  event: null,
  attempts: 2,
  due_at: startedAt,
  expires_at: null,
  lease_token: 'token',
  journey_id: null,
  entrance_id: null,
  step: null,
  resent_from: null,
  is_requested: false,
  provider_id: null,
  uncertain_at: null,
  created_at: new Date('2026-11-23T09:00:00.000Z'),
}
const outgoing = { channel: 'email' as const, recipient: 'ana@example.com', summary: 'Hi', content: { from: 'hello@example.com' } }
const attempt = { outgoing, connection: { defaultFrom: null }, startedAt, elapsedMs: 12.4, retries: null }
const about = {
  message_id: 5,
  campaign_id: 7,
  channel: 'email',
  from: 'hello@example.com',
  to: 'ana@example.com',
  attempt: 2,
  attempt_id: '5.2',
  recipient_domain: 'example.com',
}

test.each<[string, SendResult, boolean, string[]]>([
  ['delivered', result('delivered'), true, ['attempt-start', 'delivered', 'completed', 'attempt-end']],
  ['sent', result('sent'), true, ['attempt-start', 'delivered', 'completed', 'attempt-end']],
  ['failed', result('failed', 'provider_rejected', 'No.'), true, ['attempt-start', 'failed', 'completed', 'attempt-end']],
  [
    'deferred',
    { ...result('deferred', 'provider_deferred', 'Busy.'), dueAt: now },
    true,
    ['attempt-start', 'queue.rescheduled', 'attempt-end'],
  ],
  ['bounced', result('bounced', 'hard_bounce', 'No such mailbox.'), true, ['attempt-start', 'dsn-perm-fail', 'completed', 'attempt-end']],
  ['unknown', result('unknown', 'uncertain', 'The connection broke.'), true, ['attempt-start', 'attempt-end']],
  ['deferred before any attempt', result('deferred', 'quiet_hours'), false, []],
  ['failed before any attempt', result('failed', 'render_failed'), false, ['failed', 'completed']],
  ['skipped', result('skipped', 'not_subscribed'), false, ['completed']],
  ['aborted', result('aborted', 'campaign_stopped'), false, []],
])('a message that was %s has its webhook events in order', (_, result, tried, types) => {
  const events = webhookEventsOf(message, undefined, result, tried ? attempt : null, now)
  expect(events.map(({ type }) => type)).toEqual(types.map((type) => (type.startsWith('queue.') ? type : `delivery.${type}`)))
})

test('the webhook events carry the data of the message', () => {
  const [start, failed, completed, end] = webhookEventsOf(
    message,
    undefined,
    { ...result('failed', 'provider_rejected', 'No such number.'), code: '21211' },
    attempt,
    now,
  )
  expect(start).toEqual({ type: 'delivery.attempt-start', data: { ...about, queued_ms: 4000 }, occurredAt: startedAt })
  expect(end?.data).toEqual({ ...about, elapsed_ms: 12, result: 'failed' })
  expect(failed?.data).toEqual({ ...about, reason: 'No such number.', provider_code: '21211' })
  expect(completed?.data).toEqual({ ...about, elapsed_ms: 5000, delivered: 0, failed: 1 })
})

type Sent = Parameters<typeof webhookEventsOf>[3] & object
test.each<[string, Record<string, unknown>, Partial<Sent['outgoing']>, string | undefined]>([
  ['that of its template', { from: 'Ana <ana@shop.example>' }, {}, 'ana@shop.example'],
  ['the default one of its provider', {}, {}, 'hello@example.com'],
  ['the default one at the domain of its campaign', {}, { fromDomain: 'news.example' }, 'hello@news.example'],
  [
    'not known if it is redacted',
    { from: 'Ana <ana@shop.example>' },
    { shown: { ...outgoing, content: { from: '[redacted]' } } },
    undefined,
  ],
])('the sender of an email is an address: %s', (_, content, more, from) => {
  const connection = { defaultFrom: 'Shop <hello@example.com>' }
  const tried = { ...attempt, outgoing: { ...outgoing, content, ...more }, connection }
  expect(webhookEventsOf(message, undefined, result('sent'), tried, now).map(({ data }) => (data as { from?: string }).from)).toEqual(
    Array(4).fill(from),
  )
})

test.each(['attempt-start', 'delivered', 'completed', 'attempt-end'])(
  'of the events of every message, only those that are wanted are made: %s',
  (wanted) => {
    const events = webhookEventsOf(message, undefined, result('sent'), attempt, now, ({ type }) => type === `delivery.${wanted}`)
    expect(events).toEqual([
      webhookEventsOf(message, undefined, result('sent'), attempt, now).find(({ type }) => type === `delivery.${wanted}`),
    ])
  },
)
