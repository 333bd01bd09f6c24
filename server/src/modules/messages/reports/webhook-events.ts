/** What outsiders hear of a report (D-WH-5). Pure. */
import type { Report } from '../../channels/index.ts'
import type { UserRow } from '../../users/index.ts'
import { type WebhookEvent, webhookEvents } from '../../webhook-events/index.ts'
import type { ReportedMessage, Resettled } from './queries.ts'

/** A report, the message that it is about, and what it made of it. */
export type MatchedReport = { report: Report; message: ReportedMessage; became: Resettled | null; user: UserRow | undefined }

const WORDS_LENGTH_MAX = 1000

/** News of one report, in the order in which it happened; one that says nothing new is no news. */
export function webhookEventsOfReport({ report, message, became, user }: MatchedReport, now: Date): WebhookEvent[] {
  const about = {
    message_id: message.id,
    campaign_id: message.campaign_id,
    channel: message.channel,
    ...(user && { user: { id: user.id, external_id: user.external_id } }),
    ...(message.recipient !== null && { to: message.recipient }),
    ...(message.recipient !== null && message.channel === 'email' && { recipient_domain: message.recipient.split('@').at(-1) ?? '' }),
  }
  const words = (report.diagnostic ?? '').slice(0, WORDS_LENGTH_MAX)
  const elapsed_ms = Math.max(0, now.getTime() - message.created_at.getTime())
  const completed = (delivered: number, failed: number) => webhookEvents.deliveryCompleted.of({ ...about, elapsed_ms, delivered, failed })
  if (report.what === 'delayed')
    return [webhookEvents.deliveryDsnTempFail.of({ ...about, diagnostic: words, asynchronous: true }, report.at)]
  if (!became) return []
  switch (became.state) {
    case 'delivered':
      return [webhookEvents.deliveryDelivered.of({ ...about, ...(words !== '' && { response: words }) }, report.at), completed(1, 0)]
    case 'bounced': {
      const attempts = Math.max(1, message.attempts)
      return [
        webhookEvents.deliveryDsnPermFail.of({ ...about, diagnostic: words, attempts, suppressed: true, asynchronous: true }, report.at),
        completed(0, 1),
      ]
    }
    case 'failed':
      return [
        webhookEvents.deliveryFailed.of(
          { ...about, reason: words, ...(report.code !== undefined && { provider_code: report.code }) },
          report.at,
        ),
        completed(0, 1),
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
