/** Makes the webhook events of a send result (D-WH-5). Pure. */

import type { MailRetries } from '../../lib/mail-retries.ts'
import {
  emailSenderOf,
  type Outgoing,
  type ProviderConnection,
  type ProviderResponse,
  type QueuedMail,
  type SmtpTrace,
  shownOf,
} from '../channels/index.ts'
import type { UserRow } from '../users/index.ts'
import { type WebhookEvent, webhookEvents } from '../webhook-events/index.ts'
import { isNoticeDue, type SendResult } from './eligibility.ts'
import { messageMembers, shortened } from './message-members.ts'
import type { ClaimedMessage } from './schema.ts'
import { acceptedBy, smtpEvents, smtpReply } from './smtp-events.ts'

/** One try to give a message to a provider. */
type Attempt = {
  outgoing: Pick<Outgoing, 'recipient' | 'content' | 'shown' | 'fromDomain'>
  connection: Pick<ProviderConnection, 'defaultFrom'>
  outcome?: { is: ProviderResponse['is']; smtp?: SmtpTrace; mail?: QueuedMail }
  startedAt: Date
  elapsedMs: number
  retries: MailRetries | null
}

/** Whether an endpoint wants events of a kind. */
type Wants = (kind: { type: string }) => boolean

/**
 * The webhook events of a message, in order. Without an attempt, an aborted or deferred message has none. Those that every message has are made
 * only for endpoints that want them.
 */
export function webhookEventsOf(
  message: ClaimedMessage,
  user: UserRow | undefined,
  result: SendResult,
  attempt: Attempt | null,
  now: Date,
  wants: Wants = () => true,
): WebhookEvent[] {
  const about = aboutMessage(message, user, attempt)
  if (attempt?.outcome?.mail) return enqueued(about, message, attempt.outcome.mail)
  const outcome = outcomeEvents(about, message, result, attempt, now, wants)
  if (!attempt) return outcome
  const { startedAt, elapsedMs } = attempt
  const ended = RESULTS[result.state]
  const smtp = attempt.outcome?.smtp
  return [
    ...(wants(webhookEvents.deliveryAttemptStart)
      ? [webhookEvents.deliveryAttemptStart.of({ ...about, queued_ms: sinceMs(message.created_at, startedAt) }, startedAt)]
      : []),
    ...(smtp ? smtpEvents(about, smtp, textOf(result), result.state === 'unknown') : []),
    ...outcome,
    ...(wants(webhookEvents.deliveryAttemptEnd)
      ? [webhookEvents.deliveryAttemptEnd.of({ ...about, elapsed_ms: Math.round(elapsedMs), ...(ended && { result: ended }) })]
      : []),
  ]
}

type About = ReturnType<typeof aboutMessage>

/** The server delivers the email itself, and the mail queue reports what happened to it. Only blasts have no event from the time they were made. */
function enqueued(
  { attempt: _, attempt_id: __, ...about }: About,
  { cause, campaign_id }: ClaimedMessage,
  mail: QueuedMail,
): WebhookEvent[] {
  if (cause !== `campaign:${campaign_id}`) return []
  const { messageId, size, from } = mail
  return [webhookEvents.queueMessageAuthenticated.of({ ...about, from, rfc_message_id: messageId, size })]
}

/** What the attempt, or the decision against one, means for the message. A relay or provider that accepts it completes it. */
function outcomeEvents(
  about: About,
  message: ClaimedMessage,
  result: SendResult,
  attempt: Attempt | null,
  now: Date,
  wants: Wants,
): WebhookEvent[] {
  const completed = (delivered: number, failed: number) =>
    wants(webhookEvents.deliveryCompleted)
      ? [webhookEvents.deliveryCompleted.of({ ...about, elapsed_ms: sinceMs(message.created_at, now), delivered, failed })]
      : []
  switch (result.state) {
    case 'sent':
    case 'delivered':
      return [...(wants(webhookEvents.deliveryDelivered) ? [delivered(about, result, attempt)] : []), ...completed(1, 0)]
    case 'failed':
      return [...givenUp(about, message, result, attempt), ...completed(0, 1)]
    case 'bounced':
      return [refusedForGood(about, message, result, attempt), ...completed(0, 1)]
    case 'deferred':
      return attempt ? rescheduled(about, message, result, attempt) : []
    case 'skipped':
      return completed(0, 0)
    // It may be delivered: a report can complete it.
    case 'unknown':
    case 'aborted':
      return []
    default:
      return result.state satisfies never
  }
}

function delivered(about: About, { state }: SendResult, attempt: Attempt | null): WebhookEvent {
  const smtp = attempt?.outcome?.smtp
  const queueId = /\bqueued as ([\w.-]{1,100})/i.exec(smtp?.reply?.response ?? '')?.[1]
  return webhookEvents.deliveryDelivered.of({
    ...about,
    ...(queueId !== undefined && { queue_id: queueId }),
    ...(smtp && acceptedBy(smtp)),
    ...(attempt && { elapsed_ms: Math.round(attempt.elapsedMs) }),
    ...(state === 'sent' && { relayed: true }),
  })
}

/**
 * The events of a message that is not tried again. A permanent refusal by an SMTP server is `dsn-perm-fail`. Other reasons are
 * `delivery.failed`: the attempts or the time ran out, another provider refused the message, or there was no attempt.
 */
function givenUp(about: About, message: ClaimedMessage, result: SendResult, attempt: Attempt | null): WebhookEvent[] {
  const failed = webhookEvents.deliveryFailed.of({
    ...about,
    reason: textOf(result),
    ...(result.code !== undefined && { provider_code: result.code }),
  })
  if (!attempt?.outcome?.smtp) return [failed]
  const refused = refusedForGood(about, message, result, attempt)
  return attempt.outcome.is === 'rejected' ? [refused] : [failed, refused]
}

const refusedForGood = (about: About, { attempts }: ClaimedMessage, result: SendResult, attempt: Attempt | null): WebhookEvent => {
  const { smtp_code, enhanced_code } = smtpCodes(attempt?.outcome?.smtp)
  return webhookEvents.deliveryDsnPermFail.of({
    ...about,
    diagnostic: textOf(result),
    attempts,
    ...(smtp_code !== undefined && { smtp_code }),
    ...(enhanced_code !== undefined && { enhanced_code }),
    suppressed: result.state === 'bounced',
  })
}

const smtpCodes = (smtp: SmtpTrace | undefined): { smtp_code?: number; enhanced_code?: string } => (smtp ? smtpReply(smtp) : {})

/** The next attempt is planned. Emails have a delay notice too, the first time and after hours. */
function rescheduled(about: About, message: ClaimedMessage, result: SendResult, { retries }: Attempt): WebhookEvent[] {
  const times = {
    ...(result.dueAt && { next_attempt_at: result.dueAt }),
    ...(message.expires_at && { expires_at: message.expires_at }),
  }
  const notice =
    message.channel === 'email' && isNoticeDue(message.attempts, retries)
      ? [webhookEvents.deliveryDsnTempFail.of({ ...about, diagnostic: textOf(result), ...times })]
      : []
  if (!result.dueAt) return notice
  const pending = about.to === undefined ? {} : { pending: [about.to] }
  return [
    ...notice,
    webhookEvents.queueRescheduled.of({ ...about, ...times, next_attempt_at: result.dueAt, ...pending, reason: textOf(result) }),
  ]
}

const sinceMs = (from: Date, to: Date): number => Math.max(0, to.getTime() - from.getTime())

const textOf = ({ detail, reason }: SendResult): string => shortened(detail ?? reason)

const RESULTS = {
  sent: 'delivered',
  delivered: 'delivered',
  deferred: 'deferred',
  failed: 'failed',
  bounced: 'failed',
  unknown: undefined,
  skipped: undefined,
  aborted: undefined,
} as const

function aboutMessage(message: ClaimedMessage, user: UserRow | undefined, attempt: Attempt | null) {
  const shown = attempt && shownOf(message.channel, attempt.outgoing)
  const from = attempt && shown ? senderOf(message.channel, shown.content, attempt) : undefined
  const rfcMessageId = attempt?.outcome?.smtp?.messageId
  return {
    ...messageMembers(message, user, shown?.recipient ?? null),
    ...(from !== undefined && { from }),
    ...(attempt && { attempt: message.attempts, attempt_id: `${message.id}.${message.attempts}` }),
    ...(rfcMessageId !== undefined && { rfc_message_id: rfcMessageId }),
  }
}

/** The number that a text message comes from, or the address of an email, without the name. */
function senderOf(
  channel: ClaimedMessage['channel'],
  content: Outgoing['content'],
  { outgoing: { fromDomain }, connection: { defaultFrom } }: Attempt,
): string | undefined {
  if (channel === 'email') return emailSenderOf(content, defaultFrom ?? '', fromDomain)?.address
  return typeof content.from === 'string' ? content.from : undefined
}
