/** Shared by the providers for email: senders, recipients and common settings. */
import addressparser from 'nodemailer/lib/addressparser'
import { encodeWord } from 'nodemailer/lib/mime-funcs'
import { Type } from 'typebox'
import { isEmail } from '../../lib/email.ts'
import type { Attachment } from '../../lib/mime/compose.ts'
import { Line } from '../../lib/shapes.ts'
import { oneLine } from './channel.ts'
import type { EmailContent } from './email.ts'
import { asciiHeaders } from './header-limits.ts'
import { type Mailbox, readMailbox } from './mailbox.ts'
import type { Outgoing, ProviderResponse, ProviderTools } from './provider.ts'

export { formatMailbox, type Mailbox } from './mailbox.ts'

/** The sender of emails whose template has none. */
export const DefaultFrom = Type.Optional(
  Line(320, {
    title: 'Sender',
    format: 'no-control',
    description: 'The sender of emails whose template has none, such as `Carillon <hello@example.com>`.',
  }),
)

/** A setting that is secret. */
export const Secret = (title: string, options: object = {}) => Line(512, { title, writeOnly: true, format: 'no-control', ...options })

/** An email. Each recipient is in it only once. */
export type Email = {
  from: Mailbox
  to: Mailbox
  cc: Mailbox[]
  bcc: Mailbox[]
  replyTo: Mailbox[]
  subject: string
  html: string
  text: string
  /** Further headers, each on one line. */
  headers: [name: string, value: string][]
  attachments: readonly Attachment[]
}

/** The content of an attachment, as the APIs of providers take it. */
export const base64Of = ({ content }: Attachment): string => Buffer.from(content).toString('base64')

/** Checks the sender in the settings. */
export function checkSender({ default_from }: { default_from?: string }): { param: string; message: string }[] {
  if (default_from === undefined || mailboxesIn(default_from).length === 1) return []
  return [{ param: 'default_from', message: 'Write `default_from` like `hello@example.com` or `Carillon <hello@example.com>`.' }]
}

/** Turns a message into an email, or rejects it because it has no valid sender. */
export function emailOf(
  { content, headers, fromDomain, attachments = [] }: Pick<Outgoing, 'content' | 'headers' | 'attachments' | 'fromDomain'>,
  { default_from = '' }: { default_from?: string },
): Email | ProviderResponse {
  const { to, cc = '', bcc = '', reply_to = '', subject, html, text, ...rest } = content as EmailContent
  const sender = rest.from ?? default_from
  const from = senderOf(content, default_from, fromDomain)
  if (!from) return { is: 'rejected', reason: senderProblem(sender), code: 'no_sender' }
  const seen = new Set([to.toLowerCase()])
  const others = (list: string) =>
    mailboxesIn(list).filter(({ address }) => !seen.has(address.toLowerCase()) && seen.add(address.toLowerCase()))
  return {
    from,
    to: { name: '', address: to },
    cc: others(cc),
    bcc: others(bcc),
    replyTo: mailboxesIn(reply_to),
    subject,
    html,
    text,
    headers: Object.entries(headers).map(([name, value]) => [name, oneLine(value)]),
    attachments,
  }
}

/** The addresses that get a copy of a message. */
export function copiesOf({ channel, content }: Pick<Outgoing, 'channel' | 'content'>): string[] {
  if (channel !== 'email') return []
  const { to, cc = '', bcc = '' } = content as EmailContent
  return [cc, bcc].flatMap(mailboxesIn).flatMap(({ address }) => (address.toLowerCase() === to.toLowerCase() ? [] : [address]))
}

type SendEmail<S> = (settings: S, email: Email, message: Outgoing, outside: ProviderTools) => Promise<ProviderResponse>

/** The `send` of a provider of email: \`send\` gets the message as an email, unless it has no valid sender. */
export const sendEmail =
  <S extends { default_from?: string }>(send: SendEmail<S>) =>
  async (settings: S, message: Outgoing, outside: ProviderTools): Promise<ProviderResponse> => {
    const email = emailOf(message, settings)
    return 'is' in email ? email : send(settings, email, message, outside)
  }

/** The same for a provider with an API, which takes headers as text: they are ASCII. */
export const sendOverApi = <S extends { default_from?: string }>(send: SendEmail<S>) =>
  sendEmail<S>((settings, email, message, outside) => send(settings, { ...email, headers: asciiHeaders(email.headers) }, message, outside))

/** The sender of an email: that of its template, or else the default one, at `fromDomain` if that is set. Undefined if it is invalid. */
export function senderOf(
  { from }: Pick<EmailContent, 'from'> | Record<string, unknown>,
  defaultFrom: string,
  fromDomain?: string,
): Mailbox | undefined {
  if (typeof from === 'string') return mailboxesIn(from)[0]
  const [sender] = mailboxesIn(defaultFrom)
  return sender && fromDomain !== undefined ? { ...sender, address: `${sender.address.split('@')[0]}@${fromDomain}` } : sender
}

/** The domain of an address, in lower case. */
export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1).toLowerCase()

const senderProblem = (sender: string) =>
  sender === ''
    ? 'The email has no sender. Set `from` in its template, or `default_from` of the provider.'
    : 'The sender of the email is not an email address. Correct `from` in its template, or `default_from` of the provider.'

/** The valid addresses of a list, or of one mailbox. */
export const mailboxesIn = (list: string): Mailbox[] =>
  list === ''
    ? []
    : (alone(list) ?? addressparser(list, { flatten: true })).flatMap(({ name, address }) =>
        isEmail(address) ? [{ name: oneLine(name), address }] : [],
      )

function alone(text: string): Mailbox[] | null {
  const mailbox = readMailbox(text)
  return mailbox && [mailbox]
}

const ENCODED_WORD_LENGTH_MAX = 75

/** Formats a mailbox for a header, encoded (RFC 5322, RFC 2047). */
export function encodeMailbox({ name, address }: Mailbox): string {
  if (name === '') return address
  const isAscii = /^[\x20-\x7E]*$/.test(name)
  return `${isAscii ? `"${name.replace(/["\\]/g, '\\$&')}"` : encodeWord(name, 'Q', ENCODED_WORD_LENGTH_MAX)} <${address}>`
}

const SECONDS_MAX = 8.64e12

/** Parses Unix seconds. Returns the current time if they are invalid. */
export const instantOfSeconds = (seconds: unknown, now: Date): Date =>
  typeof seconds === 'number' && seconds > 0 && seconds < SECONDS_MAX ? new Date(seconds * 1000) : now
