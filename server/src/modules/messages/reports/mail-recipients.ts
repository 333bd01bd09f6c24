/** Applies reports on recipients that are of no message: those of submitted email, and copies (`cc`, `bcc`) of messages. */
import type { InTx } from '../../../infra/runtime/ctx.ts'
import { type ReportedRecipient, type ReturnPath, saveBounces } from '../../mta/index.ts'
import { recordBounces, suppress } from '../../subscriptions/index.ts'
import { emit, type WebhookEvent, webhookEvents } from '../../webhook-events/index.ts'
import { shortened } from '../message-members.ts'
import { type AppliedReport, withoutNames } from './applied-report.ts'
import { bounceMembers } from './webhook-events.ts'

/** A recipient with what is reported of it. */
export type ReportOnRecipient = { recipient: ReportedRecipient; report: AppliedReport }

/** Applies a report: suppresses addresses and adds the events. Such recipients have no subscription to end. */
export async function applyToRecipients(ctx: InTx, path: ReturnPath, reported: ReportOnRecipient[]): Promise<void> {
  const source = { message_id: path.mail_id }
  const complained = reported.filter(({ report: { what }, recipient }) => isComplaint(what) && recipient.address !== '')
  await suppress(
    ctx,
    complained.map(({ recipient: { address } }) => ({ channel: 'email', address, reason: 'complaint', source })),
  )
  const bounced = await countBounces(ctx, path, reported)
  const shown = reported.map((one) => (one.recipient.address === '' ? { ...one, report: withoutNames(one.report) } : one))
  const events = shown.flatMap((one) => eventOf(path, one, bounced) ?? [])
  if (events.length > 0) await emit(ctx, () => events)
}

const isComplaint = (what: AppliedReport['what']): boolean => what === 'complained' || what === 'fraud'

/** The recipients whose bounce counts, and the addresses that were suppressed by that. */
type Bounced = { counted: ReadonlySet<number>; suppressed: ReadonlySet<string> }

/** A bounce counts once: later ones find the recipient failed. */
async function countBounces(ctx: InTx, path: ReturnPath, reported: ReportOnRecipient[]): Promise<Bounced> {
  const bounces = reported.flatMap(({ recipient, report }) => (report.bounce ? [{ recipient, report, bounce: report.bounce }] : []))
  if (bounces.length === 0) return { counted: new Set(), suppressed: new Set() }
  const saved = await saveBounces(
    ctx,
    path,
    bounces.map(({ recipient, report, bounce: { smtp_code: code, enhanced_code } }) => ({
      no: recipient.no,
      past: {
        attempt: Math.max(1, recipient.attempts),
        at: report.at.toISOString(),
        outcome: 'failed' as const,
        detail: detailOf(recipient, report),
        ...(code !== undefined && { code }),
        ...(enhanced_code !== undefined && { enhanced_code }),
      },
    })),
  )
  const counted = new Set(saved.map(({ no }) => no))
  const suppressing = bounces.filter(({ recipient: { no, address } }) => counted.has(no) && address !== '')
  const source = { message_id: path.mail_id }
  const suppressed = await recordBounces(
    ctx,
    suppressing.map(({ recipient: { address }, bounce }) => ({ ...bounce, address, source })),
  )
  return { counted, suppressed }
}

const detailOf = ({ address }: ReportedRecipient, { diagnostic }: AppliedReport): string =>
  address === '' ? 'bounced' : shortened(diagnostic)

function eventOf(path: ReturnPath, { recipient, report }: ReportOnRecipient, { counted, suppressed }: Bounced): WebhookEvent | undefined {
  const { no, address, domain, mail_from: from, rfc_message_id, envelope_id } = recipient
  const about = {
    ...{ message_id: path.mail_id, channel: 'email' as const, from, recipient_domain: domain },
    ...(address !== '' && { to: address }),
    ...(rfc_message_id !== null && { rfc_message_id }),
    ...(envelope_id !== null && { envelope_id }),
  }
  const feedback = { incidents: 1, arrival_date: report.at, ...report.feedback, unsubscribed: false }
  switch (report.what) {
    case 'delayed':
      return webhookEvents.deliveryDsnTempFail.of({ ...about, diagnostic: shortened(report.diagnostic), asynchronous: true })
    case 'bounced':
      if (!report.bounce || !counted.has(no)) return undefined
      return webhookEvents.deliveryDsnPermFail.of({
        ...about,
        ...{ diagnostic: detailOf(recipient, report), attempts: Math.max(1, recipient.attempts), ...bounceMembers(report.bounce) },
        ...{ suppressed: suppressed.has(address), asynchronous: true },
      })
    case 'complained':
      return webhookEvents.incomingReportAbuse.of({ ...about, ...feedback, suppressed: address !== '' })
    case 'fraud':
      return webhookEvents.incomingReportFraud.of({ ...about, ...feedback, suppressed: address !== '' })
    case 'virus':
      return webhookEvents.incomingReportVirus.of({ ...about, ...feedback, suppressed: false })
    default:
      return undefined
  }
}
