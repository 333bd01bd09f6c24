/** A captured email as it is released to a member of the team. Pure. */
import { addressHeader } from '../../../lib/mime/headers.ts'

/**
 * What a released copy has of its own, or does not have: it comes from this server and goes to the member only, and the button of a mail program that
 * unsubscribes by one click would unsubscribe the user.
 */
const REPLACED = ['from', 'to', 'cc', 'bcc', 'reply-to', 'sender', 'return-path', 'message-id', 'list-unsubscribe', 'list-unsubscribe-post']

type Envelope = {
  /** The address of this server. */
  from: string
  to: string
  /** Unique, without its brackets. */
  messageId: string
}

/** The source with the headers of the copy. The body and all other headers stay as they were captured. */
export function releasedCopy(source: string, { from, to, messageId }: Envelope): string {
  const end = /\r?\n\r?\n/.exec(source)
  const head = end ? source.slice(0, end.index) : source
  const body = end ? source.slice(end.index + end[0].length) : ''
  const kept = head.split(/\r?\n(?![ \t])/).filter((header) => !REPLACED.includes(nameOf(header)))
  const own = [
    addressHeader('From', [{ name: 'Carillon sandbox', address: from }]),
    addressHeader('To', [{ name: '', address: to }]),
    `Message-ID: <${messageId}>\r\n`,
    'Auto-Submitted: auto-generated\r\n',
  ].join('')
  return `${own}${kept.map((header) => `${header.replace(/\r?\n/g, '\r\n')}\r\n`).join('')}\r\n${body}`
}

const nameOf = (header: string): string => header.slice(0, Math.max(0, header.indexOf(':'))).toLowerCase()
