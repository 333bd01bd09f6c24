/** The bytes of an email, as an SMTP relay gets them. */
import type { Mail } from '../../infra/outgoing/smtp-relays.ts'
import { composeMail, HeaderError } from '../../lib/mime/compose.ts'
import { type Email, emailOf } from './mail.ts'
import type { Outgoing, ProviderResponse } from './provider.ts'

const BOUNDARY_LENGTH = 40

/** The Message-ID of an email: the same for every attempt, so that duplicates can be recognised. */
export const messageIdOf = ({ from }: Pick<Email, 'from'>, key: string): string =>
  `<${key}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`

/** The email with its headers and parts. Throws `HeaderError`. */
function bytesOf(email: Email, key: string, date: Date): Buffer {
  const boundary = key.replace(/[^A-Za-z0-9]/g, '').slice(0, BOUNDARY_LENGTH)
  return Buffer.concat([...composeMail({ ...email, to: [email.to], messageId: messageIdOf(email, key), date, boundary })])
}

/** The email with its envelope, or why it cannot be sent: the author of the template wrote a header that no email can have. */
export function composedOf(email: Email, key: string, date: Date): Mail | ProviderResponse {
  try {
    const content = bytesOf(email, key, date)
    const copies = [...email.cc, ...email.bcc].map(({ address }) => address)
    return { envelope: { from: email.from.address, to: [email.to.address, ...copies] }, content }
  } catch (error) {
    if (!(error instanceof HeaderError)) throw error
    return { is: 'rejected', reason: error.message }
  }
}

/** The sender of emails in the sandbox whose template has none: a provider would have a default. */
const NO_SENDER = 'Sandbox <sandbox@example.com>'

/** The source of an email; null if it cannot be composed. */
export function sourceOf(message: Pick<Outgoing, 'content' | 'headers' | 'key' | 'attachments'>, date: Date): string | null {
  const email = emailOf(message, { default_from: NO_SENDER })
  if ('is' in email) return null
  try {
    return bytesOf(email, message.key, date).toString('latin1')
  } catch (error) {
    if (error instanceof HeaderError) return null
    throw error
  }
}
