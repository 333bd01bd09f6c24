/** Addresses with display names (RFC 5322). Pure. */
import { isEmail } from '../../lib/email.ts'

/** An address with a display name, which can be empty. */
export type Mailbox = { name: string; address: string }

const QUOTED = /^"((?:[^"\\]|\\.)*)"$/

/**
 * Reads one mailbox with a display name, which templates fill in and authors write without the quotes that RFC 5322 wants around commas
 * and brackets. Null for any other text, such as an address alone or a list.
 */
export function readMailbox(text: string): Mailbox | null {
  const mailbox = text.trim()
  const open = mailbox.endsWith('>') ? mailbox.lastIndexOf('<') : -1
  const address = mailbox.slice(open + 1, -1).trim()
  if (open === -1 || !isEmail(address)) return null
  const words = mailbox.slice(0, open).trim()
  const quoted = QUOTED.exec(words)?.[1]
  if (quoted !== undefined) return { name: quoted.replace(/\\(.)/g, '$1'), address }
  // What has an address or quotes in it may be a list.
  return /["<>@]/.test(words) ? null : { name: words, address }
}

/** Formats a mailbox, with the name in quotes. */
export const formatMailbox = ({ name, address }: Mailbox): string =>
  name === '' ? address : `"${name.replace(/["\\]/g, '\\$&')}" <${address}>`

/** Puts a display name into quotes if it needs them, so that `Bells, Inc <hello@example.com>` is one mailbox to every reader. */
export function withQuotedName(text: string): string {
  const mailbox = readMailbox(text)
  return mailbox && !text.trim().startsWith('"') && /[(),:;[\]\\]/.test(mailbox.name) ? formatMailbox(mailbox) : text
}
