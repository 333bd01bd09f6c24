/** The sizes of emails, as providers count them: with files in base64 (D-MSG-7). */
import type { Outgoing, Provider, ProviderResponse } from './provider.ts'

const ENCODED_LINE_BYTES = 78
const LINE_BYTES = 57

/** The size of a file in an email: lines of 76 characters of base64. */
const encodedBytes = (bytes: number) => Math.ceil(bytes / LINE_BYTES) * ENCODED_LINE_BYTES

const megabytes = (bytes: number) => String(Math.round(bytes / 100_000) / 10)

type Limit = Pick<Provider, 'label' | 'mailBytesMax'>

/** Why the provider would refuse an email with files of this decoded size and this much text; null if it would not. */
export function sizeProblem({ label, mailBytesMax }: Limit, fileBytes: number, textBytes = 0): string | null {
  const bytes = encodedBytes(fileBytes) + textBytes
  if (mailBytesMax === undefined || bytes <= mailBytesMax) return null
  return `With its files in base64, the email is ${megabytes(bytes)} MB, and ${label} accepts at most ${megabytes(mailBytesMax)} MB. Send smaller files or links to them, or use another provider.`
}

/** The response to an email that is larger than the provider accepts; null for others. */
export function tooLarge(limit: Limit, { content, attachments = [] }: Pick<Outgoing, 'content' | 'attachments'>): ProviderResponse | null {
  // The texts of a message are read from what its thread packed only when they are asked for.
  if (limit.mailBytesMax === undefined) return null
  const fileBytes = attachments.reduce((sum, file) => sum + file.content.length, 0)
  const { html = '', text = '' } = content as { html?: string; text?: string }
  const reason = sizeProblem(limit, fileBytes, Buffer.byteLength(html) + Buffer.byteLength(text))
  return reason === null ? null : { is: 'rejected', reason, code: 'too_large' }
}
