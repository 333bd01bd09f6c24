/** Makes the webhook events of what an SMTP server told about an email, stage by stage (D-WH-5). Pure. */
import type { SmtpTrace } from '../channels/index.ts'
import { type WebhookEvent, webhookEvents } from '../webhook-events/index.ts'
import type { messageMembers } from './message-members.ts'

type About = ReturnType<typeof messageMembers>

/** The events between the start of an attempt and its result. `reason` is why it failed, for stages without a reply. */
export function smtpEvents(about: About, smtp: SmtpTrace, reason: string, isUncertain: boolean): WebhookEvent[] {
  const { plainBecause } = smtp.peer
  const unencrypted =
    plainBecause === undefined
      ? []
      : [webhookEvents.deliveryStartTlsUnavailable.of({ ...about, ...hostOf(smtp), reason: plainBecause, required: false })]
  return [...unencrypted, ...failureOf(about, smtp, reason, isUncertain)]
}

function failureOf(about: About, smtp: SmtpTrace, reason: string, isUncertain: boolean): WebhookEvent[] {
  const data = { ...about, ...hostOf(smtp) }
  const refusal = { ...data, ...(smtp.reply ? smtpReply(smtp) : { reason }) }
  switch (smtp.failedAt) {
    case undefined:
    // A login that fails has no type of its own: `queue.rescheduled` tells it.
    case 'AUTH':
      return []
    case 'DNS':
      return [webhookEvents.deliveryIpLookupFailed.of({ ...about, host: smtp.host, reason })]
    case 'CONNECT':
      return [webhookEvents.deliveryConnectError.of({ ...data, reason })]
    case 'TLS':
      return [webhookEvents.deliveryImplicitTlsError.of({ ...data, reason })]
    case 'GREETING':
      return [webhookEvents.deliveryGreetingFailed.of(refusal)]
    case 'EHLO':
      return [webhookEvents.deliveryEhloRejected.of(refusal)]
    case 'STARTTLS':
      return smtp.noTls
        ? [webhookEvents.deliveryStartTlsUnavailable.of({ ...data, reason, required: true })]
        : [webhookEvents.deliveryStartTlsError.of({ ...data, reason, fallback: 'none' })]
    case 'MAIL':
      return [webhookEvents.deliveryMailFromRejected.of(refusal)]
    case 'RCPT':
      return smtp.reply ? [webhookEvents.deliveryRcptToRejected.of(refusal)] : [webhookEvents.deliveryRcptToFailed.of({ ...data, reason })]
    case 'DATA':
      return [webhookEvents.deliveryMessageRejected.of({ ...refusal, ...(isUncertain && { uncertain: true }) })]
    default:
      return smtp.failedAt satisfies never
  }
}

const hostOf = ({ host, peer: { ip } }: SmtpTrace) => ({ host, ...(ip !== undefined && { ip }) })

/** The members for a reply; none if there was none. */
export const smtpReply = ({ reply }: SmtpTrace) =>
  reply
    ? {
        smtp_code: reply.code,
        ...(reply.enhancedCode !== undefined && { enhanced_code: reply.enhancedCode }),
        response: reply.response,
      }
    : {}

/** The members that say which host accepted an email, and how. */
export const acceptedBy = (smtp: SmtpTrace) => ({
  ...hostOf(smtp),
  ...smtpReply(smtp),
  ...(smtp.peer.tls && { tls: smtp.peer.tls }),
})
