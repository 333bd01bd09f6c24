/** The headers of an email that an application submits: what is read of them, and what is changed. Pure. */
import { isAscii } from 'node:buffer'
import addressparser from 'nodemailer/lib/addressparser'
import { withoutFailedChain } from '../../../lib/arc.ts'
import { isEmail } from '../../../lib/email.ts'

/** A header with the lines that continue it, as it came. */
type Header = { name: string; raw: string }

/** The headers and the rest of an email, whose lines end with CR LF. */
export type Head = { headers: Header[]; body: Buffer }

const HEAD_BYTES_MAX = 262_144
const END = '\r\n\r\n'

/** Reads the headers. Null if they do not end, or are not headers. */
export function readHead(content: Buffer): Head | null {
  const starts = content.subarray(0, 2).equals(Buffer.from('\r\n'))
  const end = starts ? 0 : content.indexOf(END)
  if (end < 0 || end > HEAD_BYTES_MAX) return null
  const body = content.subarray(starts ? 2 : end + END.length)
  const headers: Header[] = []
  for (const line of starts ? [] : content.toString('latin1', 0, end).split('\r\n')) {
    const last = headers.at(-1)
    if (/^[ \t]/.test(line) && last) last.raw += `\r\n${line}`
    else {
      const name = /^([!-9;-~]{1,200})[ \t]*:/.exec(line)?.[1]
      if (name === undefined) return null
      headers.push({ name: name.toLowerCase(), raw: line })
    }
  }
  return { headers, body }
}

/** The value of the only header of a name, on one line. Undefined if there is none, null if there are several. */
export function onlyValue({ headers }: Head, name: string): string | null | undefined {
  const [first, ...others] = headers.filter((header) => header.name === name)
  if (others.length > 0) return null
  if (!first) return undefined
  const text = Buffer.from(first.raw.slice(first.raw.indexOf(':') + 1), 'latin1').toString('utf8')
  return text.replace(/\r\n[ \t]/g, ' ').trim()
}

/** The address of the From header. Null unless there is exactly one. */
export function fromAddress(head: Head): string | null {
  const value = onlyValue(head, 'from')
  const [mailbox, ...others] = value ? addressparser(value, { flatten: true }) : []
  return mailbox && others.length === 0 && isEmail(mailbox.address) ? mailbox.address : null
}

/** Recipients that are hidden, and what only the last server may add. */
const REMOVED: readonly string[] = ['bcc', 'resent-bcc', 'return-path']

/**
 * The email without `Bcc`, `Resent-Bcc`, `Return-Path` and a failed ARC chain, in pieces, so that a large body is not copied. `Message-ID` and `Date`
 * are added if they are missing.
 */
export function preparedMail(head: Head, added: { messageId: string; date: Date }): Buffer[] {
  const has = (name: string) => head.headers.some((header) => header.name === name)
  const lines = [
    ...(has('message-id') ? [] : [`Message-ID: ${added.messageId}`]),
    ...(has('date') ? [] : [`Date: ${added.date.toUTCString().replace('GMT', '+0000')}`]),
    ...withoutFailedChain(head.headers)
      .filter(({ name }) => !REMOVED.includes(name))
      .map(({ raw }) => raw),
  ]
  return [Buffer.from(`${lines.join('\r\n')}${END}`, 'latin1'), head.body]
}

/** Whether the headers have bytes outside ASCII, which a mail host must be able to take (SMTPUTF8). */
export const isUtf8Head = ({ headers }: Head): boolean => headers.some(({ raw }) => is8Bit(Buffer.from(raw, 'latin1')))

/** Whether the email has bytes outside ASCII (8BITMIME). */
export const is8Bit = (content: Buffer): boolean => !isAscii(content)
