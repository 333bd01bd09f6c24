/** Makes the webhook events of a delivery report (D-WH-5). Pure. */
import type { Report } from '../../channels/index.ts'
import type { UserRow } from '../../users/index.ts'
import { type WebhookEvent, webhookEvents } from '../../webhook-events/index.ts'
import { messageMembers, shortened } from '../message-members.ts'
import { type MessageState, SENT_STATES } from '../schema.ts'
import type { ReportedMessage, ReportedState } from './queries.ts'

/** A report with its message, its state before, and the new one if it changed. */
export type MatchedReport = {
  report: Report
  message: ReportedMessage
  was: MessageState
  became: ReportedState | null
  user: UserRow | undefined
}

/** The states of messages that were completed. */
const COMPLETED: readonly MessageState[] = [...SENT_STATES, 'failed']

/** The webhook events of one report, in order; none if the report changed nothing. */
export function webhookEventsOfReport({ report, message, was, became, user }: MatchedReport, now: Date): WebhookEvent[] {
  const about = messageMembers(message, user, message.recipient)
  const diagnostic = shortened(report.diagnostic)
  const elapsed_ms = Math.max(0, now.getTime() - message.created_at.getTime())
  // A message is completed once: when the provider accepted it, or now.
  const completed = (delivered: number, failed: number) =>
    COMPLETED.includes(was) ? [] : [webhookEvents.deliveryCompleted.of({ ...about, elapsed_ms, delivered, failed })]
  if (report.what === 'delayed') return [webhookEvents.deliveryDsnTempFail.of({ ...about, diagnostic, asynchronous: true }, report.at)]
  if (!became) return []
  switch (became.state) {
    case 'delivered':
      return [
        webhookEvents.deliveryDelivered.of({ ...about, ...(diagnostic !== '' && { response: diagnostic }) }, report.at),
        ...completed(1, 0),
      ]
    case 'bounced': {
      const attempts = Math.max(1, message.attempts)
      return [
        webhookEvents.deliveryDsnPermFail.of({ ...about, diagnostic, attempts, suppressed: true, asynchronous: true }, report.at),
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
      return [
        webhookEvents.incomingReportAbuse.of(
          { ...about, incidents: 1, arrival_date: report.at, suppressed: true, unsubscribed: true },
          report.at,
        ),
      ]
    default:
      return []
  }
}
