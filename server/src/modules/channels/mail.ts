/** What the vendors of mail have in common: who a mail is from and to, and the fields that their settings share. */
import addressparser from 'nodemailer/lib/addressparser'
import { encodeWord } from 'nodemailer/lib/mime-funcs'
import { Type } from 'typebox'
import { isEmail } from '../../lib/email.ts'
import { Line } from '../../lib/shapes.ts'
import { oneLine } from './channel.ts'
import type { EmailContent } from './email.ts'
import type { Outgoing, ProviderResponse } from './provider.ts'

/** The sender of mails whose template names none. */
export const DefaultFrom = Type.Optional(
  Line(320, {
    title: 'Sender',
    format: 'no-control',
    description: 'Who mails are from when their template does not say, such as `Carillon <hello@example.com>`.',
  }),
)

/** A credential. */
export const Secret = (title: string, options: object = {}) => Line(512, { title, writeOnly: true, format: 'no-control', ...options })

/** Somebody who writes or is written to; `name` is empty when there is none. */
export type Mailbox = { name: string; address: string }

/** A mail, with everybody it concerns. Nobody is in it twice. */
export type Letter = {
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
}

/** What is wrong with the sender in the settings. */
export function checkSender({ default_from }: { default_from?: string }): { param: string; message: string }[] {
  if (default_from === undefined || mailboxesIn(default_from).length === 1) return []
  return [{ param: 'default_from', message: 'Write `default_from` like `hello@example.com` or `Carillon <hello@example.com>`.' }]
}

/** The mail that a message is; or why it is none, which no vendor has to be asked about. */
export function letterOf({ content, headers }: Outgoing, { default_from = '' }: { default_from?: string }): Letter | ProviderResponse {
  const { to, cc = '', bcc = '', reply_to = '', subject, html, text, ...rest } = content as EmailContent
  const written = rest.from ?? default_from
  const [from] = mailboxesIn(written)
  if (!from) return { is: 'rejected', reason: senderProblem(written), code: 'no_sender' }
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
  }
}

/** Did it come to nothing? */
export const isOutcome = (letter: Letter | ProviderResponse): letter is ProviderResponse => 'is' in letter

const senderProblem = (written: string) =>
  written === ''
    ? 'The mail is from nobody. Set `from` in its template, or `default_from` of the provider.'
    : 'The sender of the mail is not an email address. Correct `from` in its template, or `default_from` of the provider.'

/** The addresses of a list that mail can be sent to. */
const mailboxesIn = (list: string): Mailbox[] =>
  addressparser(list, { flatten: true }).flatMap(({ name, address }) => (isEmail(address) ? [{ name: oneLine(name), address }] : []))

const ENCODED_WORD_LENGTH_MAX = 75

/** A mailbox as it is written in a header (RFC 5322, RFC 2047). */
export function inHeader({ name, address }: Mailbox): string {
  if (name === '') return address
  const isAscii = /^[\x20-\x7E]*$/.test(name)
  return `${isAscii ? `"${name.replace(/["\\]/g, '\\$&')}"` : encodeWord(name, 'Q', ENCODED_WORD_LENGTH_MAX)} <${address}>`
}

/** A mailbox for vendors who encode by themselves. */
export const inPlain = ({ name, address }: Mailbox): string => (name === '' ? address : `"${name.replace(/["\\]/g, '\\$&')}" <${address}>`)

const SECONDS_MAX = 8.64e12

/** When something happened, in Unix seconds as a vendor writes them; now when that cannot be read. */
export const instantOfSeconds = (seconds: unknown, now: Date): Date =>
  typeof seconds === 'number' && seconds > 0 && seconds < SECONDS_MAX ? new Date(seconds * 1000) : now
