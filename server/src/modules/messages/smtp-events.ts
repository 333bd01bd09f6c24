/** Makes the webhook events of what an SMTP server replied about an email, stage by stage (D-WH-5). Pure. */
import type { DeliveryStep } from '../../infra/outgoing/mx/outcome.ts'
import type { SmtpTrace } from '../channels/index.ts'
import { type WebhookEvent, webhookEvents } from '../webhook-events/index.ts'
import type { messageMembers } from './message-members.ts'

type About = Partial<Omit<ReturnType<typeof messageMembers>, 'to'>> & { to?: string | string[] }

/** The events between the start of an attempt and its result. `reason` is why it failed, for stages without a reply. */
export function smtpEvents(about: About, smtp: SmtpTrace, reason: string, isUncertain: boolean): WebhookEvent[] {
  const { host, peer, reply, failedAt, noTls } = smtp
  const unencrypted =
    peer.plainBecause === undefined
      ? []
      : [webhookEvents.deliveryStartTlsUnavailable.of({ ...about, ...hostOf(smtp), reason: peer.plainBecause, required: false })]
  if (failedAt === undefined) return unencrypted
  const failure = { host, peer, stage: failedAt, reason, ...(reply && { reply }), ...(isUncertain && { uncertain: true as const }) }
  return [...unencrypted, ...failureEvents(about, { ...failure, fallback: 'none', ...(noTls && { noTls, required: true }) })]
}

/** A failure at a host. */
export type Failure = Omit<Extract<DeliveryStep, { is: 'failed' }>, 'is' | 'to'>

/** The event of a failure at a stage of SMTP. A login that fails has no type of its own: `queue.rescheduled` reports it. */
export function failureEvents(about: About, failure: Failure): WebhookEvent[] {
  const { stage, reason, reply, fallback = 'none', required = false } = failure
  const data = { ...about, ...hostOf(failure) }
  const refusal = { ...data, ...(reply ? replyMembers(reply) : { reason }) }
  switch (stage) {
    case 'AUTH':
      return []
    case 'DNS':
      return [webhookEvents.deliveryIpLookupFailed.of({ ...about, host: failure.host, reason })]
    case 'CONNECT':
      return [webhookEvents.deliveryConnectError.of({ ...data, reason })]
    case 'TLS':
      return [webhookEvents.deliveryImplicitTlsError.of({ ...data, reason })]
    case 'GREETING':
      return [webhookEvents.deliveryGreetingFailed.of(refusal)]
    case 'EHLO':
      return [webhookEvents.deliveryEhloRejected.of(refusal)]
    case 'STARTTLS':
      return failure.noTls
        ? [webhookEvents.deliveryStartTlsUnavailable.of({ ...data, reason, required })]
        : [webhookEvents.deliveryStartTlsError.of({ ...data, reason, fallback })]
    case 'MAIL':
      return [webhookEvents.deliveryMailFromRejected.of(refusal)]
    case 'RCPT':
      return reply ? [webhookEvents.deliveryRcptToRejected.of(refusal)] : [webhookEvents.deliveryRcptToFailed.of({ ...data, reason })]
    case 'DATA':
      return [webhookEvents.deliveryMessageRejected.of({ ...refusal, ...(failure.uncertain && { uncertain: true }) })]
    default:
      return stage satisfies never
  }
}

const hostOf = ({ host, peer: { ip } }: Pick<SmtpTrace, 'host' | 'peer'>) => ({ host, ...(ip !== undefined && { ip }) })

type SmtpReply = NonNullable<SmtpTrace['reply']>

/** The members for a reply. */
export const replyMembers = ({ code, enhancedCode, response }: SmtpReply) => ({
  smtp_code: code,
  ...(enhancedCode !== undefined && { enhanced_code: enhancedCode }),
  response,
})

/** The members for a reply; none if there was none. */
export const smtpReply = ({ reply }: SmtpTrace) => (reply ? replyMembers(reply) : {})

/** The members that say which host accepted an email, and how. */
export const acceptedBy = (smtp: SmtpTrace) => ({
  ...hostOf(smtp),
  ...smtpReply(smtp),
  ...(smtp.peer.tls && { tls: smtp.peer.tls }),
})
