/**
 * Emails to members: invitations and lost passwords. They go through the relay of SYSTEM_SMTP_URL, by a job, so that a request takes as long for an
 * address of no member. What waits is encrypted.
 */
import type { SmtpAnswer, SmtpRelay } from '../../infra/outgoing/smtp-relays.ts'
import { job } from '../../infra/queue/jobs.ts'
import { type Ctx, inTx } from '../../infra/runtime/ctx.ts'
import { html } from '../../lib/html.ts'
import { composeMail } from '../../lib/mime/compose.ts'
import { MINUTE_MS, SECOND_MS } from '../../lib/times.ts'
import { wasLinkedSince } from './links.queries.ts'
import { createLink, deleteLinkAt, isInvitation } from './links.ts'
import * as queries from './mails.queries.ts'
import { findByEmail, lockMembers } from './queries.ts'

/** `link` is a path. That of a lost password is made when the email is sent, and made again for the next attempt. */
type Waiting =
  | { kind: 'invitation'; to: string; link: string; organisation: string; by: string }
  | { kind: 'password'; to: string; link?: string }

const MAIL = { name: 'members.mail' }
const SEALED_AS = 'member mail'
const ATTEMPTS_MAX = 6
const LEASE_MS = 5 * MINUTE_MS
const RETRY_FIRST_MS = 30 * SECOND_MS
/** An address gets at most one link for a lost password in this time. */
const LINK_EVERY_MS = 5 * MINUTE_MS

/** Whether this server can send emails to members. */
export const canMail = ({ config }: Ctx): boolean => config.SYSTEM_SMTP_URL !== undefined && config.SYSTEM_MAIL_FROM !== undefined

const sealed = (ctx: Pick<Ctx, 'secrets'>, waiting: Waiting): string => ctx.secrets.seal(JSON.stringify(waiting), SEALED_AS)

/** Lets a job send an email. Does nothing on a server that sends none. */
export async function sendLater(ctx: Ctx, waiting: Waiting): Promise<void> {
  if (!canMail(ctx)) return
  await queries.insertMail(ctx, sealed(ctx, waiting))
  ctx.wake(MAIL)
}

async function sendDue(ctx: Ctx): Promise<number> {
  const claimed = await queries.claimMail(ctx, new Date(ctx.clock.now().getTime() + LEASE_MS))
  if (!claimed) return 0
  // The last attempt threw, or its process ended.
  if (claimed.attempts > ATTEMPTS_MAX) await queries.deleteMail(ctx, claimed.id)
  else await attempt(ctx, claimed)
  return 1
}

async function attempt(ctx: Ctx, { id, sealed, attempts }: queries.MailRow): Promise<void> {
  const waiting = JSON.parse(ctx.secrets.open(sealed, SEALED_AS)) as Waiting
  // Other processes may have the settings already, or still.
  const { link, problem } = canMail(ctx) ? await sendWithLink(ctx, id, waiting) : { link: null, problem: 'not_configured' as const }
  const isLast = attempts >= ATTEMPTS_MAX
  // A link that was not mailed must not keep the member from asking for another one.
  if (isLast && waiting.kind === 'password' && link !== null && problem !== null && problem !== 'uncertain') await deleteLinkAt(ctx, link)
  if (problem === null || isLast) await queries.deleteMail(ctx, id)
  else await queries.delayMail(ctx, id, new Date(ctx.clock.now().getTime() + RETRY_FIRST_MS * 2 ** attempts))
  if (problem !== null) ctx.log.warn({ kind: waiting.kind, attempt: attempts, problem }, 'an email to a member was not sent')
}

/** Sends an email, unless it has no link any more. Returns the link, and the problem if the email was not accepted. */
async function sendWithLink(ctx: Ctx, id: number, waiting: Waiting) {
  const link = waiting.kind === 'invitation' ? await invitationLink(ctx, waiting) : await passwordLink(ctx, id, waiting)
  return { link, problem: link === null ? null : await send(ctx, waiting, `${ctx.baseUrl()}${link}`) }
}

/** The link of an invitation. Null if it was used, replaced or withdrawn, or has expired. */
const invitationLink = async (ctx: Ctx, { link }: Extract<Waiting, { kind: 'invitation' }>): Promise<string | null> =>
  (await isInvitation(ctx, link)) ? link : null

/**
 * A link for a member who lost the password. Null for an address of no member, for one that got a link by another email shortly before, and where
 * passwords do not sign in any more. The email keeps its link, so that the next attempt replaces it, whether this one fails or its process ends.
 */
const passwordLink = (ctx: Ctx, mailId: number, { to, link: earlier }: Extract<Waiting, { kind: 'password' }>): Promise<string | null> =>
  inTx(ctx, async (ctx) => {
    if (!ctx.config.LOCAL_SIGN_IN) return null
    const member = await findByEmail(ctx, to)
    if (!member?.joined_at) return null
    const { id, organization_id: organisationId } = member
    // Two emails to a member take turns: each would find the link that the other replaces, and neither be sent.
    await lockMembers(ctx, organisationId)
    if (earlier !== undefined) await deleteLinkAt(ctx, earlier)
    if (await wasLinkedSince(ctx, organisationId, id, new Date(ctx.clock.now().getTime() - LINK_EVERY_MS))) return null
    const link = await createLink(ctx, 'password', organisationId, id)
    await queries.changeMail(ctx, mailId, sealed(ctx, { kind: 'password', to, link }))
    return link
  })

/** Sends an email. Returns the problem if it was not accepted. */
async function send(ctx: Ctx, waiting: Waiting, url: string): Promise<Exclude<SmtpAnswer['is'], 'accepted'> | null> {
  const from = ctx.config.SYSTEM_MAIL_FROM as string
  const random = ctx.secrets.random(16).toString('hex')
  const { subject, before, after } = wordsOf(waiting)
  const content = composeMail({
    from: { name: 'Carillon', address: from },
    to: [{ name: '', address: waiting.to }],
    subject,
    messageId: `<${random}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    date: ctx.clock.now(),
    text: `${before}\n\n${url}\n\n${after}\n`,
    html: html`<!doctype html><html lang="en-AU"><body><p>${before}</p><p><a href="${url}">${url}</a></p><p>${after}</p></body></html>`
      .text,
    headers: [['Auto-Submitted', 'auto-generated']],
    boundary: random,
  })
  const answer = await submit(ctx, waiting.to, Buffer.concat([...content]))
  return answer.is === 'accepted' ? null : answer.is
}

/** Gives an email to the relay of this server. Call it only where `canMail`. */
export const submit = (ctx: Ctx, to: string, content: Buffer): Promise<SmtpAnswer> =>
  ctx.smtp.send(relayOf(ctx.config.SYSTEM_SMTP_URL as string), {
    envelope: { from: ctx.config.SYSTEM_MAIL_FROM as string, to: [to] },
    content,
  })

const wordsOf = (waiting: Waiting) =>
  waiting.kind === 'invitation'
    ? {
        subject: `Invitation to ${waiting.organisation} on Carillon`,
        before: `${waiting.by} has invited you to join ${waiting.organisation}. Open this link to choose a password:`,
        after: 'The link can be used once, within seven days.',
      }
    : {
        subject: 'Reset your Carillon password',
        before: 'Open this link to choose a new password:',
        after: 'The link can be used once, within an hour. If you did not request this, ignore this email. Your password will not change.',
      }

const SUBMISSION_PORT = 587
const TLS_PORT = 465

/** The relay of a URL: `smtps:` is encrypted from the start; `smtp:` must be encrypted if it has a password. */
export function relayOf(text: string): SmtpRelay {
  const { protocol, hostname, port, username, password } = new URL(text)
  const isImplicit = protocol === 'smtps:'
  return {
    host: hostname,
    port: port === '' ? (isImplicit ? TLS_PORT : SUBMISSION_PORT) : Number(port),
    tls: isImplicit ? 'implicit' : username === '' ? 'opportunistic' : 'starttls',
    connections: 1,
    ...(username !== '' && { username: decodeURIComponent(username), password: decodeURIComponent(password) }),
  }
}

/** A new email wakes it; the search for those of a process that ended can wait. */
export const mailJob = job({ ...MAIL, idleMs: MINUTE_MS, nextAt: queries.nextMailAt, run: sendDue })
