/** Makes the webhook events of a send result (D-WH-5). Pure. */

import { channels } from '../../lib/channels.ts'
import type { UserRow } from '../users/index.ts'
import { type WebhookEvent, webhookEvents } from '../webhook-events/index.ts'
import type { SendResult } from './eligibility.ts'
import type { ClaimedMessage } from './schema.ts'

/** One try to give a message to a provider. */
type Attempt = { outgoing: { recipient: string; content: Record<string, unknown> }; startedAt: Date; elapsedMs: number }

const TEXT_LENGTH_MAX = 1000

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

const textOf = ({ detail, reason }: SendResult): string => shortened(detail ?? reason)

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

function aboutMessage(message: ClaimedMessage, user: UserRow | undefined, attempt: Attempt | null) {
  const { from } = attempt?.outgoing.content ?? {}
  return {
    ...messageMembers(message, user, attempt?.outgoing.recipient ?? null),
    ...(typeof from === 'string' && { from }),
    ...(attempt && { attempt: message.attempts }),
  }
}

/** The members of a webhook event that say which message, user and recipient it is about. */
export const messageMembers = (
  { id, campaign_id, channel, journey_id }: Pick<ClaimedMessage, 'id' | 'campaign_id' | 'channel' | 'journey_id'>,
  user: UserRow | undefined,
  recipient: string | null,
) => ({
  message_id: id,
  campaign_id,
  ...(journey_id !== null && { journey_id }),
  channel,
  ...(user && { user: { id: user.id, external_id: user.external_id } }),
  ...(recipient !== null && { to: recipient }),
  ...(recipient !== null && channels[channel].recipient === 'email' && { recipient_domain: recipient.split('@').at(-1) ?? '' }),
})

/** The text of a reason or diagnosis, as long as webhook events may have it. */
export const shortened = (text: string | null | undefined): string => (text ?? '').slice(0, TEXT_LENGTH_MAX)
