/** Makes the webhook events of a delivery report (D-WH-5). Pure. */
import type { UserRow } from '../../users/index.ts'
import { type WebhookEvent, webhookEvents } from '../../webhook-events/index.ts'
import { messageMembers, shortened } from '../message-members.ts'
import { type MessageState, SENT_STATES } from '../schema.ts'
import type { AppliedReport, ReportedBounce } from './applied-report.ts'
import type { ReportedMessage, ReportedState } from './queries.ts'

/** A report with its message, its state before, and the new one if it changed. */
export type MatchedReport = {
  report: AppliedReport
  message: ReportedMessage
  was: MessageState
  became: ReportedState | null
  user: UserRow | undefined
  /** The address of the copy (`cc`, `bcc`) that it is about, or of nobody known; then it has no user. */
  copy?: string | null
  /** Its address was suppressed by the report. */
  suppressed: boolean
  /** It unsubscribed the user. */
  unsubscribed: boolean
}

/** The states of messages that were completed. */
const COMPLETED: readonly MessageState[] = [...SENT_STATES, 'failed']

/** The webhook events of one report, in order; none if the report changed nothing. */
export function webhookEventsOfReport(matched: MatchedReport, now: Date): WebhookEvent[] {
  const { report, message, was, became, user, copy, suppressed, unsubscribed } = matched
  if (copy !== undefined) return webhookEventsOfCopy(matched, copy)
  const about = { ...messageMembers(message, user, message.recipient), ...mailMembers(matched) }
  const diagnostic = shortened(report.diagnostic)
  const elapsed_ms = Math.max(0, now.getTime() - message.created_at.getTime())
  // A message is completed once: when the provider accepted it, or now. The mail engine completes an uncertain one too.
  const isCompleted = COMPLETED.includes(was) || message.provider === 'mta'
  const completed = (delivered: number, failed: number) =>
    isCompleted ? [] : [webhookEvents.deliveryCompleted.of({ ...about, elapsed_ms, delivered, failed })]
  if (report.what === 'delayed') return [webhookEvents.deliveryDsnTempFail.of({ ...about, diagnostic, asynchronous: true }, report.at)]
  const feedback = { incidents: 1, arrival_date: report.at, ...report.feedback }
  if (report.what === 'fraud') return [webhookEvents.incomingReportFraud.of({ ...about, ...feedback, suppressed, unsubscribed: false })]
  if (report.what === 'virus') return [webhookEvents.incomingReportVirus.of({ ...about, ...feedback, suppressed, unsubscribed: false })]
  if (!became) return []
  switch (became.state) {
    case 'delivered':
      return [
        webhookEvents.deliveryDelivered.of({ ...about, ...(diagnostic !== '' && { response: diagnostic }) }, report.at),
        ...completed(1, 0),
      ]
    case 'bounced': {
      const attempts = Math.max(1, message.attempts)
      const reply = report.bounce ? bounceMembers(report.bounce) : {}
      return [
        webhookEvents.deliveryDsnPermFail.of({ ...about, diagnostic, attempts, ...reply, suppressed, asynchronous: true }, report.at),
        ...completed(0, 1),
      ]
    }
    case 'failed':
      return [
        webhookEvents.deliveryFailed.of(
          { ...about, reason: diagnostic, ...(report.code !== undefined && { provider_code: report.code }) },
          report.at,
        ),
        ...completed(0, 1),
      ]
    case 'complained':
      return [webhookEvents.incomingReportAbuse.of({ ...about, ...feedback, suppressed, unsubscribed }, report.at), ...completed(1, 0)]
    default:
      return []
  }
}

/** The webhook events of a report about a copy, whose state is not kept: the provider may repeat them. */
function webhookEventsOfCopy(matched: MatchedReport, address: string | null): WebhookEvent[] {
  const { report, message, suppressed } = matched
  const about = { ...messageMembers(message, undefined, address), ...mailMembers(matched) }
  const late = { diagnostic: shortened(report.diagnostic), asynchronous: true }
  const feedback = { incidents: 1, arrival_date: report.at, ...report.feedback, suppressed, unsubscribed: false }
  switch (report.what) {
    case 'delayed':
      return [webhookEvents.deliveryDsnTempFail.of({ ...about, ...late }, report.at)]
    case 'bounced': {
      const reply = report.bounce ? bounceMembers(report.bounce) : {}
      const attempts = Math.max(1, message.attempts)
      return [webhookEvents.deliveryDsnPermFail.of({ ...about, ...late, attempts, ...reply, suppressed }, report.at)]
    }
    case 'complained':
      return [webhookEvents.incomingReportAbuse.of({ ...about, ...feedback }, report.at)]
    case 'fraud':
      return [webhookEvents.incomingReportFraud.of({ ...about, ...feedback }, report.at)]
    case 'virus':
      return [webhookEvents.incomingReportVirus.of({ ...about, ...feedback }, report.at)]
    default:
      return []
  }
}

/** Their id of a message is its Message-ID. */
const OVER_SMTP: readonly (string | null)[] = ['mta', 'smtp']

/** What is known of the email itself. */
function mailMembers({ report: { mail }, message: { provider, provider_message_id } }: MatchedReport) {
  const rfcMessageId = mail?.rfc_message_id ?? (OVER_SMTP.includes(provider) ? provider_message_id : null)
  return { ...(mail && { from: mail.from }), ...(rfcMessageId !== null && { rfc_message_id: rfcMessageId }) }
}

/** The members of a webhook event that say how a bounce is classified. */
export const bounceMembers = ({ label, smtp_code, enhanced_code }: ReportedBounce) => ({
  classification: label,
  ...(smtp_code !== undefined && { smtp_code }),
  ...(enhanced_code !== undefined && { enhanced_code }),
})
