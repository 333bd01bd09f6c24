/** Applies reports on recipients that are of no message: those of submitted email, and copies (`cc`, `bcc`) of messages. */
import type { InTx } from '../../../infra/runtime/ctx.ts'
import { type ReportedRecipient, type ReturnPath, saveBounce } from '../../mta/index.ts'
import { recordBounces, suppress } from '../../subscriptions/index.ts'
import { emit, type WebhookEvent, webhookEvents } from '../../webhook-events/index.ts'
import { shortened } from '../message-members.ts'
import type { AppliedReport } from './applied-report.ts'
import { bounceMembers } from './webhook-events.ts'

/** Applies a report on one recipient: suppresses the address and adds the event. Such a recipient has no subscription to end. */
export async function applyToRecipient(ctx: InTx, path: ReturnPath, recipient: ReportedRecipient, report: AppliedReport): Promise<void> {
  const event = await eventOf(ctx, path, recipient, report)
  if (event) await emit(ctx, () => [event])
}

async function eventOf(
  ctx: InTx,
  path: ReturnPath,
  recipient: ReportedRecipient,
  report: AppliedReport,
): Promise<WebhookEvent | undefined> {
  const { address, domain, mail_from: from, rfc_message_id, envelope_id } = recipient
  const about = {
    ...{ message_id: path.mail_id, channel: 'email' as const, from, recipient_domain: domain },
    ...(address !== '' && { to: address }),
    ...(rfc_message_id !== null && { rfc_message_id }),
    ...(envelope_id !== null && { envelope_id }),
  }
  const source = { message_id: path.mail_id }
  const feedback = { incidents: 1, arrival_date: report.at, ...report.feedback, unsubscribed: false }
  const complain = async () => {
    if (address !== '') await suppress(ctx, [{ channel: 'email', address, reason: 'complaint', source }])
    return address !== ''
  }
  switch (report.what) {
    case 'delayed':
      return webhookEvents.deliveryDsnTempFail.of({ ...about, diagnostic: shortened(report.diagnostic), asynchronous: true })
    case 'bounced':
      return bounceOf(ctx, path, recipient, report, about)
    case 'complained':
      return webhookEvents.incomingReportAbuse.of({ ...about, ...feedback, suppressed: await complain() })
    case 'fraud':
      return webhookEvents.incomingReportFraud.of({ ...about, ...feedback, suppressed: await complain() })
    case 'virus':
      return webhookEvents.incomingReportVirus.of({ ...about, ...feedback, suppressed: false })
    default:
      return undefined
  }
}

/** A bounce counts once: later ones find the recipient failed. */
async function bounceOf(
  ctx: InTx,
  path: ReturnPath,
  { no, address, attempts }: ReportedRecipient,
  { bounce, diagnostic, at }: AppliedReport,
  about: object,
): Promise<WebhookEvent | undefined> {
  if (!bounce) return undefined
  const { smtp_code: code, enhanced_code } = bounce
  const detail = address === '' ? 'bounced' : shortened(diagnostic)
  const past = { attempt: Math.max(1, attempts), at: at.toISOString(), outcome: 'failed' as const, detail }
  const isFirst = await saveBounce(ctx, path, no, {
    ...past,
    ...(code !== undefined && { code }),
    ...(enhanced_code !== undefined && { enhanced_code }),
  })
  if (!isFirst) return undefined
  const suppressed = address === '' ? new Set() : await recordBounces(ctx, [{ ...bounce, address, source: { message_id: path.mail_id } }])
  return webhookEvents.deliveryDsnPermFail.of({
    ...about,
    ...{ diagnostic: detail, attempts: Math.max(1, attempts), ...bounceMembers(bounce) },
    ...{ suppressed: suppressed.has(address), asynchronous: true },
  })
}
