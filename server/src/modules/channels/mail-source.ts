/** The bytes of an email, as an SMTP relay gets them. */
import { composeMail, HeaderError, mailText } from '../../lib/mime/compose.ts'
import { type Email, emailOf } from './mail.ts'
import type { ComposedMail, Outgoing, ProviderResponse } from './provider.ts'

const BOUNDARY_LENGTH = 40

/** The Message-ID of an email: the same for every attempt, so that duplicates can be recognised. */
export const messageIdOf = ({ from }: Pick<Email, 'from'>, key: string): string =>
  `<${key}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`

const composable = (email: Email, key: string, date: Date) => ({
  ...email,
  to: [email.to],
  messageId: messageIdOf(email, key),
  date,
  boundary: key.replace(/[^A-Za-z0-9]/g, '').slice(0, BOUNDARY_LENGTH),
})

/** The email with its headers and parts. Throws `HeaderError`. */
const bytesOf = (email: Email, key: string, date: Date): Buffer => Buffer.concat([...composeMail(composable(email, key, date))])

const envelopeOf = ({ from, to, cc, bcc }: Email) => ({
  from: from.address,
  to: [to.address, ...[...cc, ...bcc].map(({ address }) => address)],
})

/** The email with its envelope, or why it cannot be sent: the author of the template wrote a header that no email can have. */
export function composedOf(email: Email, key: string, date: Date): ComposedMail | ProviderResponse {
  try {
    return { envelope: envelopeOf(email), messageId: messageIdOf(email, key), content: bytesOf(email, key, date) }
  } catch (error) {
    if (!(error instanceof HeaderError)) throw error
    return { is: 'rejected', reason: error.message }
  }
}

/** An email without files as ASCII, with its envelope. Null if it cannot be sent, for the reason that `composedOf` gives. */
export function composedText(
  message: Pick<Outgoing, 'content' | 'headers' | 'key' | 'fromDomain'>,
  defaultFrom: string,
  date: Date,
): (Omit<ComposedMail, 'content'> & { text: string }) | null {
  const email = emailOf(message, { default_from: defaultFrom })
  if ('is' in email) return null
  try {
    return { envelope: envelopeOf(email), messageId: messageIdOf(email, message.key), text: mailText(composable(email, message.key, date)) }
  } catch (error) {
    if (error instanceof HeaderError) return null
    throw error
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
