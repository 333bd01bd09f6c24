import { Type } from 'typebox'
import { OneOf, Timestamp } from '../../../lib/shapes.ts'
import { eventKind } from '../event-kind.ts'
import { AboutMessage, Addresses, Count, Reason, sampleMessage } from './members.ts'

const { attempt: _, ...sampleQueued } = sampleMessage

export const queueMessageAuthenticated = eventKind({
  type: 'queue.queue-message-authenticated',
  summary:
    'A message that was submitted with authentication, through the API or by SMTP, was added to the outbound queue. Messages of blasts have this event only with the mail engine, and once more if they are sent again after a new `send_at`.',
  data: AboutMessage({ size: Type.Integer({ minimum: 0, description: 'Size of the message in bytes.' }) }),
  sample: { ...sampleQueued, queue_id: '4f1c2a', size: 20_480 },
})

export const queueRescheduled = eventKind({
  type: 'queue.rescheduled',
  summary: 'Delivery to at least one recipient failed temporarily, or must wait because of a warm-up plan. The next attempt is scheduled.',
  data: AboutMessage({
    next_attempt_at: Timestamp,
    expires_at: Type.Optional(Timestamp),
    pending: Type.Optional(Addresses),
    reason: Type.Optional(Reason),
  }),
  sample: {
    ...sampleMessage,
    next_attempt_at: new Date('2026-11-20T03:06:21.664Z'),
    expires_at: new Date('2026-11-22T02:56:21.664Z'),
    pending: ['kim@example.org'],
    reason: '451 4.7.1 Greylisted, try again later',
  },
})

export const queueQuotaExceeded = eventKind({
  type: 'queue.quota-exceeded',
  summary: 'A message was refused because a sending quota was exceeded.',
  data: AboutMessage({
    quota: Type.String({ description: 'The name of the quota.' }),
    limit: Count,
    used: Type.Optional(Count),
    unit: Type.Optional(
      OneOf(['messages', 'bytes'], { description: 'What `limit` and `used` count. `messages`: each recipient of an email is one.' }),
    ),
    count: Type.Optional(Type.Integer({ minimum: 1, description: 'The number of messages refused since the last event of this type.' })),
  }),
  sample: {
    from: 'hello@news.example.com',
    to: ['kim@example.org', 'lee@example.net'],
    quota: 'submitted-messages-per-day',
    limit: 50_000,
    used: 50_000,
    unit: 'messages',
  },
})
