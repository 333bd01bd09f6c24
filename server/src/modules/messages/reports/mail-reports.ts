/**
 * Applies reports that come by email (D-MTA-51 to D-MTA-54): bounces and complaints. Anyone can send one, so that a report changes something only
 * if it has a return path or a Message-ID that this server made, and concerns the recipients of that alone.
 */
import { type Ctx, type InTx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { ProjectId } from '../../../lib/ids.ts'
import {
  classificationOfExpiry,
  classify,
  deliveriesByRecipient,
  type Feedback,
  lockReportedRecipients,
  type MailReport,
  ownAddressesOf,
  type ReportedDelivery,
  type ReportedRecipient,
  type ReturnPath,
  readReturnPath,
  recordSiteComplaint,
  statusIn,
  worstOf,
} from '../../mta/index.ts'
import { readMailReport } from '../../mta/tasks.ts'
import { inProject } from '../../projects/index.ts'
import { addressHash } from '../addresses.ts'
import { messageKey } from '../message-key.ts'
import { shortened } from '../message-members.ts'
import type { FindCampaignSubscriptions } from '../sending/find-sending-campaigns.ts'
import type { AppliedReport, ReportedFeedback } from './applied-report.ts'
import { applyToRecipients } from './mail-recipients.ts'
import { findAddressed, findByMessageId } from './queries.ts'
import { type Addressed, concernedBy, type ReadReport } from './reported-address.ts'
import { applyMailReport } from './reports.ts'

/** An email that came to this server, with the addresses that it came to. */
export type IncomingMail = { recipients: readonly string[]; content: Uint8Array }

/** What happened to an incoming email. `unmatched` reports are of no email of this server. */
export type ReportOutcome = 'applied' | 'unmatched' | 'auto-reply' | 'challenge' | 'other' | 'unreadable'

/** Reports are read for no project, because which one they concern is in them. */
const NO_PROJECT = { projectId: 0 as ProjectId, caller: { kind: 'system' } }

/** Reads a report and applies it. When this returns, the effects are committed. */
export async function receiveMailReport(
  ctx: Ctx,
  findCampaignSubscriptions: FindCampaignSubscriptions,
  { recipients, content }: IncomingMail,
): Promise<ReportOutcome> {
  const read = await ctx.threads.run(NO_PROJECT, readMailReport, content)
  const outcome = 'exceeded' in read ? 'unreadable' : await applyRead(ctx, findCampaignSubscriptions, recipients, read.value)
  ctx.log.info({ outcome, bytes: content.length }, 'email with a report received')
  return outcome
}

async function applyRead(
  ctx: Ctx,
  findCampaignSubscriptions: FindCampaignSubscriptions,
  recipients: readonly string[],
  report: MailReport,
): Promise<ReportOutcome> {
  if (report.is !== 'delivery' && report.is !== 'feedback') return report.is
  const matched = await matchOf(ctx, recipients, report)
  if (!matched) return 'unmatched'
  return inProject(ctx, matched.path.project_id, (ctx) => applyMatched(ctx, findCampaignSubscriptions, matched, report))
}

type Matched = { path: ReturnPath; isByMessageId: boolean }

/** The recipient that a report is about: by the address it came to, by what it has of the envelope, or by the Message-ID. */
async function matchOf(ctx: Ctx, recipients: readonly string[], { paths, messageIds }: ReadReport): Promise<Matched | undefined> {
  for (const address of [...recipients, ...paths.map((path) => `${path}@`)]) {
    const path = readReturnPath(ctx, address)
    if (path) return { path, isByMessageId: false }
  }
  if (messageIds.length === 0) return undefined
  const found = await findByMessageId(ctx, messageIds)
  const isOurs = found?.provider_message_id.startsWith(`<${messageKey(ctx, found)}@`)
  return found && isOurs ? { path: { project_id: found.project_id, mail_id: found.id, recipient_no: 0 }, isByMessageId: true } : undefined
}

async function applyMatched(
  outer: ProjectCtx,
  findCampaignSubscriptions: FindCampaignSubscriptions,
  { path, isByMessageId }: Matched,
  read: ReadReport,
): Promise<ReportOutcome> {
  return inTx(outer, async (ctx) => {
    const recipients = await lockReportedRecipients(ctx, path)
    if (recipients[0]?.source === 'report') return 'other'
    // The email of a message may be gone from the queue, or have been sent by a relay.
    if (recipients.length === 0 && path.recipient_no !== 0) return 'unmatched'
    // A return path of the queue is of recipients at one domain. A relay has one for the recipient and all copies.
    const addressed = recipients.length === 0 || isByMessageId ? await addressedOf(ctx, path, isByMessageId) : null
    const concerned = addressed ? concernedBy(read, addressed) : { is: 'recipient' as const, report: read }
    const { report } = concerned
    const now = { at: ctx.clock.now(), ownAddresses: () => ownAddressesOf(ctx) }
    if (concerned.is === 'other') {
      const read = readOf([], report, now)[0]?.read
      if (!read) return 'other'
      await applyMailReport(ctx, findCampaignSubscriptions, { ...read, other: concerned.address, messageId: path.mail_id })
      return 'applied'
    }
    const reported = readOf(recipients, report, now)
    if (reported.length === 0) return 'unmatched'
    const applied = reported.flatMap(({ recipient, read }) => (read ? [{ recipient, report: read }] : []))
    if (applied.length === 0) return 'other'
    await noteComplaint(ctx, path, applied[0] as Applied)
    const own = applied.find(isOfMessage)
    if (own) await applyMailReport(ctx, findCampaignSubscriptions, { ...own.report, ...mailOf(own), messageId: path.mail_id })
    const others = applied.flatMap((one) => (one.recipient && one !== own ? [{ recipient: one.recipient, report: one.report }] : []))
    await applyToRecipients(ctx, path, others)
    return 'applied'
  })
}

/** Whom a message went to. Null if it is gone. */
async function addressedOf(ctx: InTx, { mail_id }: ReturnPath, isByMessageId: boolean): Promise<Addressed | null> {
  const message = await findAddressed(ctx, mail_id)
  if (!message) return null
  const { campaign_id, recipient, copies } = message
  const hashOf = (address: string) => addressHash(ctx, campaign_id, 'email', address) ?? ''
  const own = recipient === null ? null : hashOf(recipient)
  return {
    isRecipient: (address) => hashOf(address) === own,
    isCopy: (address) => copies?.includes(hashOf(address)) ?? false,
    hasCopies: copies !== null,
    isByMessageId,
  }
}

/** What is reported of a recipient; null for the user of a message whose email is gone. */
type Applied = { recipient: ReportedRecipient | null; report: Unmatched }

const mailOf = ({ recipient }: Applied) =>
  recipient ? { mail: { from: recipient.mail_from, rfc_message_id: recipient.rfc_message_id } } : {}

const isOfMessage = ({ recipient }: Applied): boolean => recipient === null || isUser(recipient)

/** Whether it is the user that a message went to, and not a copy. */
const isUser = ({ source, no }: ReportedRecipient): boolean => source === 'message' && no === 0

async function noteComplaint(ctx: InTx, path: ReturnPath, { recipient, report: { what } }: Applied): Promise<void> {
  if (what === 'fraud' || what === 'virus') ctx.log.warn({ message_id: path.mail_id, complaint: what }, 'complaint received')
  if (recipient && (what === 'complained' || what === 'fraud')) await recordSiteComplaint(ctx, recipient.site)
}

/** When a report is read, and the addresses by which hosts know this server. */
type ReadingNow = { at: Date; ownAddresses(): readonly string[] }

/**
 * The recipients that a report is about, with what it says of each, if that changes anything: the only one that its return path is of, or those of
 * these that it names. A complaint comes from one; hosts hide addresses in it, so that it is from the user of a message unless it names a copy.
 */
function readOf(
  recipients: ReportedRecipient[],
  report: ReadReport,
  now: ReadingNow,
): { recipient: ReportedRecipient | null; read: Unmatched | undefined }[] {
  if (report.is === 'feedback') {
    const read = ofFeedback(report.feedback, now.at)
    if (recipients.length === 0) return [{ recipient: null, read }]
    const named = recipients.find(({ address }) => isNamed(address, report.feedback))
    const recipient = recipients.length === 1 ? recipients[0] : (named ?? recipients.find(isUser))
    return recipient ? [{ recipient, read }] : []
  }
  if (recipients.length === 0) return [{ recipient: null, read: ofDelivery(worstOf(report.deliveries), now) }]
  return deliveriesByRecipient(recipients, report.deliveries).map(({ recipient, delivery }) => ({
    recipient,
    read: ofDelivery(delivery, now),
  }))
}

const isNamed = (address: string, { recipients }: Feedback): boolean =>
  address !== '' && recipients.some((name) => name.toLowerCase() === address.toLowerCase())

type Unmatched = Omit<AppliedReport, 'address' | 'reference' | 'messageId'>

/** Undefined for a notice that it was delivered, or passed on. */
function ofDelivery(delivery: ReportedDelivery | undefined, { at, ownAddresses }: ReadingNow): Unmatched | undefined {
  if (!delivery || !(delivery.action === 'failed' || delivery.action === 'delayed')) return undefined
  const { action, status, diagnostic } = delivery
  const code = Number(/^(?:smtp; ?)?([245]\d\d)\b/i.exec(diagnostic)?.[1] ?? 0)
  const enhanced_code = statusIn(diagnostic) ?? status ?? undefined
  if (action === 'delayed') return { what: 'delayed', at, diagnostic: shortened(diagnostic) }
  const reply = { response: diagnostic, ...(code > 0 && { code }), ...(enhanced_code !== undefined && { enhancedCode: enhanced_code }) }
  const said = classify(reply, { ownAddresses: ownAddresses() })
  // A host that gives up after temporary failures has tried for long enough.
  const { label, suppresses } = said.isPermanent ? said : classificationOfExpiry(said)
  const codes = { ...(code > 0 && { smtp_code: code }), ...(enhanced_code !== undefined && { enhanced_code }) }
  return { what: 'bounced', at, diagnostic: shortened(diagnostic), bounce: { label, suppresses, ...codes } }
}

const WHAT = { abuse: 'complained', fraud: 'fraud', virus: 'virus' } as const

const ofFeedback = (feedback: Feedback, at: Date): Unmatched => ({ what: WHAT[feedback.type], at, feedback: membersOf(feedback, at) })

const membersOf = (feedback: Feedback, at: Date): ReportedFeedback => ({
  incidents: feedback.incidents,
  arrival_date: feedback.arrivedAt ?? at,
  ...(feedback.reporter !== null && { reporter: feedback.reporter }),
  ...(feedback.sourceIp !== null && { source_ip: feedback.sourceIp }),
  ...(feedback.userAgent !== null && { user_agent: feedback.userAgent }),
  ...(feedback.reportedDomains.length > 0 && { reported_domain: feedback.reportedDomains }),
  ...(feedback.reportedUris.length > 0 && { reported_uri: feedback.reportedUris }),
  ...(feedback.mailFrom !== null && { original_mail_from: feedback.mailFrom }),
  ...(feedback.recipients.length > 0 && { original_rcpt_to: feedback.recipients }),
})
