/**
 * Composes an email as it is sent: headers (RFC 5322), parts (RFC 2045, 2046) and attachments, in ASCII with CRLF line ends. Pure. Nothing
 * in a value can start another header or another part.
 */
import { type Address, addressHeader, HeaderError, parameters, plainHeader, textHeader } from './headers.ts'
import { base64Lines, type EncodedBody, encodeText } from './transfer-encoding.ts'

export { type Address, HeaderError } from './headers.ts'

/** A file that is sent with an email. With a content id, it is shown in the HTML where `cid:` names it. */
export type Attachment = { name: string; contentType: string; content: Uint8Array; contentId?: string }

/** An email. Recipients of blind copies are not part of it. */
export type MailToCompose = {
  from: Address
  to: readonly Address[]
  cc?: readonly Address[]
  replyTo?: readonly Address[]
  subject: string
  messageId: string
  date: Date
  html: string
  text: string
  /** Further headers, in order. */
  headers: readonly (readonly [name: string, value: string])[]
  attachments?: readonly Attachment[]
  /** Separates the parts. It must be unpredictable for the authors of templates, who could otherwise end a part. */
  boundary: string
}

/** The bytes of an attachment that are encoded at a time: a multiple of 57, which is a line of base64. */
const PIECE_BYTES = 57 * 1024

/** The email in pieces, so that attachments need not be in memory twice. Throws `HeaderError`. */
export function* composeMail(mail: MailToCompose): Generator<Buffer, void> {
  let text = ''
  for (const piece of partsOf(mail)) {
    if (typeof piece === 'string') text += piece
    else {
      yield Buffer.from(text, 'latin1')
      text = ''
      yield piece
    }
  }
  yield Buffer.from(text, 'latin1')
}

/** An email without files, as ASCII. Throws `HeaderError`. */
export const mailText = (mail: Omit<MailToCompose, 'attachments'>): string => [...partsOf(mail)].join('')

function* partsOf(mail: MailToCompose): Generator<string | Buffer, void> {
  const { attachments = [], boundary } = mail
  if (!BOUNDARY.test(boundary)) throw new HeaderError('The boundary must be 1 to 60 letters and digits.')
  yield headersOf(mail)
  const inline = attachments.filter(({ contentId }) => contentId !== undefined)
  const files = attachments.filter(({ contentId }) => contentId === undefined)
  const [outer, related, alternative] = [`=_m${boundary}`, `=_r${boundary}`, `=_a${boundary}`]
  if (files.length > 0) yield `${multipart('mixed', outer)}--${outer}\r\n`
  if (inline.length > 0) yield `${multipart('related', related, 'multipart/alternative')}--${related}\r\n`
  yield multipart('alternative', alternative)
  yield part(alternative, 'text/plain', encodeText(mail.text))
  yield part(alternative, 'text/html', encodeText(mail.html))
  yield `--${alternative}--\r\n`
  yield* attached(inline, related)
  yield* attached(files, outer)
}

const BOUNDARY = /^[A-Za-z0-9]{1,60}$/

function headersOf({ from, to, cc = [], replyTo = [], subject, messageId, date, headers }: MailToCompose): string {
  const lines = [
    plainHeader('Message-ID', messageId),
    plainHeader('Date', date.toUTCString().replace('GMT', '+0000')),
    addressHeader('From', [from]),
    ...(to.length > 0 ? [addressHeader('To', to)] : []),
    ...(cc.length > 0 ? [addressHeader('Cc', cc)] : []),
    ...(replyTo.length > 0 ? [addressHeader('Reply-To', replyTo)] : []),
    textHeader('Subject', subject),
    ...headers.map(([name, value]) => textHeader(name, value)),
    'MIME-Version: 1.0\r\n',
  ]
  return lines.join('')
}

const multipart = (kind: string, boundary: string, type?: string): string =>
  `Content-Type: multipart/${kind};\r\n boundary="${boundary}"${type === undefined ? '' : `;\r\n type="${type}"`}\r\n\r\n`

const part = (boundary: string, type: string, { encoding, body }: EncodedBody): string =>
  `--${boundary}\r\nContent-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}\r\n`

const TYPE = /^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}\/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}$/
const CONTENT_ID = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~@-]{1,255}$/

function* attached(attachments: readonly Attachment[], boundary: string): Generator<string | Buffer, void> {
  for (const { name, contentType, content, contentId } of attachments) {
    if (!TYPE.test(contentType)) throw new HeaderError(`The attachment has the invalid type ${JSON.stringify(contentType.slice(0, 80))}.`)
    if (contentId !== undefined && !CONTENT_ID.test(contentId)) throw new HeaderError('The attachment has an invalid content id.')
    const how = contentId === undefined ? 'attachment' : 'inline'
    const id = contentId === undefined ? '' : `Content-ID: <${contentId}>\r\n`
    yield `--${boundary}\r\nContent-Type: ${contentType}${parameters({ name })}\r\nContent-Transfer-Encoding: base64\r\n${id}`
    yield `Content-Disposition: ${how}${parameters({ filename: name })}\r\n\r\n`
    for (let at = 0; at < content.length; at += PIECE_BYTES) {
      yield Buffer.from(`${base64Lines(content.subarray(at, at + PIECE_BYTES))}\r\n`, 'latin1')
    }
  }
  if (attachments.length > 0) yield `--${boundary}--\r\n`
}
