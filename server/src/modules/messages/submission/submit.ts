/** Accepts an email that an application submits over SMTP: into the mail queue, or into the sandbox of a project without a provider (D-MTA-56). */
import type { ReceivedMail, SmtpRefusal } from '../../../infra/incoming/smtp-listener.ts'
import { type InTx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { takeQuota } from '../../../infra/runtime/quota.ts'
import { sharedBytes } from '../../../infra/threads/shared-bytes.ts'
import { signaturesOf } from '../../../lib/dkim/sign.ts'
import type { KeyId, MessageId } from '../../../lib/ids.ts'
import { connectProvider } from '../../channels/index.ts'
import { sendingDomainOf } from '../../domains/index.ts'
import { deflateContent, enqueueMail, expiresAt, type RequestedReports } from '../../mta/index.ts'
import { emit, webhookEvents } from '../../webhook-events/index.ts'
import { messageKey } from '../message-key.ts'
import { newMessageId } from '../messages.queries.ts'
import { insertSubmittedSandboxMessage } from '../sandbox/queries.ts'
import { TRANSACTIONAL } from '../schema.ts'
import { hashBody, readSubmitted } from '../tasks.ts'
import type { SubmittedContent } from './content.ts'
import { fromAddress, type Head, is8Bit, isUtf8Head, onlyValue, preparedMail, readHead } from './head.ts'
import { recordRefusal } from './refusals.ts'

/** The quota of recipients a day. */
const QUOTA = 'submitted-messages-per-day'
/** The bodies of larger emails are hashed by a thread. */
const HASHED_AT_ONCE_BYTES_MAX = 65_536

type Submission = { id: MessageId; keyId: KeyId; mail: ReceivedMail; head: Head; from: string; messageId: string; date: Date }

/** Stores an email. Returns its id after the commit, or why it is refused. */
export async function submitMail(ctx: ProjectCtx, keyId: KeyId, mail: ReceivedMail): Promise<MessageId | SmtpRefusal> {
  const head = readHead(mail.content)
  if (!head) return refusal(554, '5.6.0 The headers of the email cannot be read.')
  const from = fromAddress(head)
  if (from === null) return refusal(554, '5.6.0 The email needs one From header with one address.')
  const { provider } = await connectProvider(ctx, 'email', null)
  const given = onlyValue(head, 'message-id')
  if (given === null) return refusal(554, '5.6.0 The email has several Message-ID headers.')
  const date = ctx.clock.now()
  const id = await newMessageId(ctx)
  const messageId = given ?? `<${messageKey(ctx, { project_id: ctx.projectId, id, created_at: date })}@${domainOf(from)}>`
  const submission = { id, keyId, mail, head, from, messageId, date }
  if (provider === 'sandbox') return keepInSandbox(ctx, submission)
  if (provider !== 'mta') return refusal(550, '5.7.1 The default email provider of this project is not the mail engine (`mta`).')
  return queue(ctx, submission)
}

const refusal = (code: number, text: string): SmtpRefusal => ({ code, text })
const domainOf = (address: string) => address.slice(address.lastIndexOf('@') + 1).toLowerCase()

async function queue(ctx: ProjectCtx, submission: Submission): Promise<MessageId | SmtpRefusal> {
  const { id, keyId, mail, head, from, messageId, date } = submission
  const domain = await sendingDomainOf(ctx, domainOf(from))
  if (!domain?.is_verified) return refusal(550, `5.7.1 ${domainOf(from)} is not a verified sending domain of this project.`)
  const prepared = sharedBytes(...preparedMail(head, { messageId, date }))
  const signatures = await signaturesOf(prepared, domain.dkim, date, { bodyHash: await largeBodyHash(ctx, prepared) })
  const to = mail.recipients.map(({ address }) => address)
  const content = await deflateContent(...signatures, prepared)
  return accepted(ctx, submission, content.size, (ctx) =>
    enqueueMail(ctx, [
      {
        id,
        source: 'submission',
        priority: TRANSACTIONAL,
        campaign_id: null,
        journey_id: null,
        key_id: keyId,
        mail_from: from,
        return_domain: domain.return_path,
        rfc_message_id: messageId,
        to,
        content,
        needs_8bit: is8Bit(prepared),
        needs_smtp_utf8: isUtf8Head(head) || [from, ...to].some((address) => !/^[\x20-\x7e]*$/.test(address)),
        expires_at: expiresAt(TRANSACTIONAL, date),
        reports: requestedReports(mail),
      },
    ]),
  )
}

/** Undefined for a small email, and for one that takes a thread too long: those are hashed as they are signed. */
async function largeBodyHash(ctx: ProjectCtx, content: Buffer): Promise<string | undefined> {
  if (content.length <= HASHED_AT_ONCE_BYTES_MAX) return undefined
  // The memory for emails that come in limits how many wait, so that none is refused for it.
  const hashed = await ctx.threads.run({ ...ctx, caller: { kind: 'system' } }, hashBody, content)
  return 'value' in hashed ? hashed.value : undefined
}

/** What the client asks mail hosts to report (RFC 3461). */
const requestedReports = ({ envid, ret, recipients }: ReceivedMail): RequestedReports => ({
  envelope_id: envid,
  returns: ret === 'FULL' || ret === 'HDRS' ? ret : null,
  recipients: recipients.map(({ notify = null, orcpt = null }) => ({ notify, original_recipient: orcpt })),
})

async function keepInSandbox(ctx: ProjectCtx, submission: Submission): Promise<MessageId | SmtpRefusal> {
  const { id, mail, head, messageId, date } = submission
  const content = sharedBytes(...preparedMail(head, { messageId, date }))
  const read = await ctx.threads.run(ctx, readSubmitted, content)
  const shown: SubmittedContent = 'value' in read ? read.value : { subject: '', html: '', text: '' }
  const to = mail.recipients.map(({ address }) => address).join(', ')
  return accepted(ctx, submission, content.length, (ctx) =>
    insertSubmittedSandboxMessage(ctx, {
      id,
      recipient: to,
      summary: shown.subject,
      content: { from: submission.from, to, ...shown },
      source: content,
    }),
  )
}

/** Stores what was accepted, with its event, unless the quota is exceeded. */
async function accepted(
  ctx: ProjectCtx,
  { id, mail, from, messageId }: Submission,
  size: number,
  store: (ctx: InTx) => Promise<unknown>,
): Promise<MessageId | SmtpRefusal> {
  const to = mail.recipients.map(({ address }) => address)
  return inTx(ctx, async (ctx) => {
    const exceeded = await takeQuota(ctx, 'submissions_day', to.length)
    if (exceeded) {
      await recordRefusal(ctx, { quota: QUOTA, ...exceeded, from, to })
      return refusal(452, '4.3.1 The project has used its quota of submitted email for today.')
    }
    await store(ctx)
    const about = {
      message_id: id,
      channel: 'email' as const,
      from,
      to,
      queue_id: String(id),
      rfc_message_id: messageId,
      ...(mail.envid !== null && { envelope_id: mail.envid }),
    }
    await emit(ctx, () => [webhookEvents.queueMessageAuthenticated.of({ ...about, size })])
    return id
  })
}
