/** Makes the webhook events of a send result (D-WH-5). Pure. */

import type { UserRow } from '../users/index.ts'
import { type WebhookEvent, webhookEvents } from '../webhook-events/index.ts'
import type { SendResult } from './eligibility.ts'
import type { ClaimedMessage } from './schema.ts'

/** One try to give a message to a provider. */
type Attempt = { outgoing: { recipient: string; content: Record<string, unknown> }; startedAt: Date; elapsedMs: number }

const REASON_LENGTH_MAX = 1000

/** The webhook events of a message, in order. Without an attempt, an aborted or deferred message has none. */
export function webhookEventsOf(
  message: ClaimedMessage,
  user: UserRow | undefined,
  result: SendResult,
  attempt: Attempt | null,
  now: Date,
): WebhookEvent[] {
  const about = aboutMessage(message, user, attempt)
  const sinceQueued = Math.max(0, now.getTime() - message.created_at.getTime())
  const completed = (delivered: number, failed: number) =>
    webhookEvents.deliveryCompleted.of({ ...about, elapsed_ms: sinceQueued, delivered, failed })
  const failed = () =>
    webhookEvents.deliveryFailed.of({
      ...about,
      reason: textOf(result),
      ...(result.code !== undefined && { provider_code: result.code }),
    })
  const bounced = () =>
    webhookEvents.deliveryDsnPermFail.of({ ...about, diagnostic: textOf(result), attempts: message.attempts, suppressed: true })
  const tried = attempt ? attemptEvents(about, result, attempt) : []
  switch (result.state) {
    case 'delivered':
      return [
        ...tried,
        webhookEvents.deliveryDelivered.of({ ...about, ...(attempt && { elapsed_ms: Math.round(attempt.elapsedMs) }) }),
        completed(1, 0),
      ]
    case 'failed':
      return [...tried, failed(), completed(0, 1)]
    case 'deferred':
      return attempt ? [...tried, failed()] : []
    case 'bounced':
      return [...tried, bounced(), completed(0, 1)]
    case 'skipped':
      return [completed(0, 0)]
    case 'sent':
    case 'unknown':
      return tried
    case 'aborted':
      return []
    default:
      return result.state satisfies never
  }
}

const textOf = ({ detail, reason }: SendResult): string => (detail ?? reason ?? '').slice(0, REASON_LENGTH_MAX)

const RESULTS = {
  sent: undefined,
  delivered: 'delivered',
  deferred: 'deferred',
  failed: 'failed',
  bounced: 'failed',
  unknown: undefined,
  skipped: undefined,
  aborted: undefined,
} as const

function attemptEvents(about: ReturnType<typeof aboutMessage>, { state }: SendResult, { startedAt, elapsedMs }: Attempt): WebhookEvent[] {
  const result = RESULTS[state]
  const elapsed_ms = Math.round(elapsedMs)
  return [
    webhookEvents.deliveryAttemptStart.of(about, startedAt),
    webhookEvents.deliveryAttemptEnd.of({ ...about, elapsed_ms, ...(result && { result }) }),
  ]
}

function aboutMessage({ id, campaign_id, channel, attempts }: ClaimedMessage, user: UserRow | undefined, attempt: Attempt | null) {
  const { from } = attempt?.outgoing.content ?? {}
  return {
    message_id: id,
    campaign_id,
    channel,
    ...(user && { user: { id: user.id, external_id: user.external_id } }),
    ...(typeof from === 'string' && { from }),
    ...(attempt && { to: attempt.outgoing.recipient, attempt: attempts }),
    ...(attempt && channel === 'email' && { recipient_domain: attempt.outgoing.recipient.split('@').at(-1) ?? '' }),
  }
}
