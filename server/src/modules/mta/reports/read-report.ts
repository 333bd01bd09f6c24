/** Reads a report that came by email: what a mail host reports of a delivery, or a complaint. Pure, and its time depends on the email. */
import PostalMime, { type Attachment, type Email } from 'postal-mime'
import { storableText } from '../../../lib/text.ts'
import { deliveriesIn } from './delivery-status.ts'
import { feedbackIn } from './feedback.ts'
import type { MailReport, References } from './schema.ts'
import { bounceIn } from './text-bounces.ts'

const NESTING_MAX = 10
const HEADERS_BYTES_MAX = 65_536
const PART_BYTES_MAX = 100_000

/** Reads a report. Anything else is `other`, even if it is malformed. */
export async function readReport(content: Uint8Array): Promise<MailReport> {
  let mail: Email
  try {
    mail = await PostalMime.parse(content, {
      rfc822Attachments: true,
      forceRfc822Attachments: true,
      attachmentEncoding: 'arraybuffer',
      maxNestingDepth: NESTING_MAX,
      maxHeadersSize: HEADERS_BYTES_MAX,
    })
  } catch {
    return { is: 'other' }
  }
  const feedback = partOf(mail, ['message/feedback-report'])
  if (feedback !== undefined) {
    const read = feedbackIn(feedback)
    return read ? { is: 'feedback', feedback: read, ...referencesOf(mail, feedback) } : { is: 'other' }
  }
  const status = partOf(mail, ['message/delivery-status', 'message/global-delivery-status'])
  const deliveries = status === undefined ? [] : deliveriesIn(status)
  if (deliveries.length > 0) return { is: 'delivery', deliveries, ...referencesOf(mail, status ?? '') }
  return readText(mail)
}

/** An email without a part for programs: a bounce by its words, an automatic reply, or a challenge. */
function readText(mail: Email): MailReport {
  const headers = new Map(mail.headers.map(({ key, value }) => [key, value]))
  const text = storableText(mail.text ?? mail.html?.replace(/<[^<>]{0,500}>/g, ' ') ?? '')
  const isFailure = headers.has('x-failed-recipients')
  if (!isFailure && isChallenge(mail.subject ?? '', text)) return { is: 'challenge' }
  const isAutomatic = !isFailure && isAutoReply(headers, mail.subject ?? '')
  const bounce = bounceIn(text, !isAutomatic && (isFailure || isFromServer(mail)))
  if (bounce) return { is: 'delivery', deliveries: [bounce], ...referencesOf(mail, text) }
  return { is: isAutomatic ? 'auto-reply' : 'other' }
}

const isFromServer = ({ from }: Email) => /^(mailer-daemon|postmaster|mail-daemon|mailerdaemon)$/i.test(from?.address?.split('@')[0] ?? '')

/** Headers of automatic replies, which people and programs set (RFC 3834, and what was usual before it). */
const AUTOMATIC = ['x-autoreply', 'x-autorespond', 'x-autoresponder', 'x-auto-response-suppress-reply']
const AUTOMATIC_SUBJECT =
  /^(auto(matic)?[ -]?(reply|response)|out of (the )?office|automatische antwort|abwesenheit|réponse automatique|respuesta autom)/i

function isAutoReply(headers: Map<string, string>, subject: string): boolean {
  const submitted = headers.get('auto-submitted')?.toLowerCase() ?? 'no'
  const precedence = headers.get('precedence')?.toLowerCase() ?? ''
  return submitted !== 'no' || precedence === 'auto_reply' || AUTOMATIC.some((name) => headers.has(name)) || AUTOMATIC_SUBJECT.test(subject)
}

const CHALLENGES = [
  'to confirm your message',
  'please confirm your message',
  'verify that you are not a spammer',
  'your message requires verification',
]

const isChallenge = (subject: string, text: string): boolean => {
  const lower = `${subject}\n${text.slice(0, 2000)}`.toLowerCase()
  return CHALLENGES.some((phrase) => lower.includes(phrase))
}

/** The text of the first part of one of these types. */
function partOf({ attachments }: Email, types: string[]): string | undefined {
  const found = attachments.find(({ mimeType }) => types.includes(mimeType.toLowerCase()))
  return found && textOf(found)
}

/** The beginning of a part. What is encoded may have U+0000, which the database does not take. */
const textOf = ({ content }: Attachment): string =>
  storableText(
    typeof content === 'string'
      ? content.slice(0, PART_BYTES_MAX)
      : Buffer.from(content as ArrayBuffer).toString('utf8', 0, PART_BYTES_MAX),
  )

const RETURNED_TYPES = ['message/rfc822', 'message/global', 'text/rfc822-headers', 'message/global-headers', 'text/rfc822']
const PATHS_MAX = 20
const MESSAGE_IDS_MAX = 5

/** Return paths anywhere in a report: in what it says of the envelope, and in the headers of the email that it returns. */
function referencesOf(mail: Email, report: string): References {
  const returned = mail.attachments
    .filter(({ mimeType }) => RETURNED_TYPES.includes(mimeType.toLowerCase()))
    .map(textOf)
    .map(headOf)
  const texts = [...mail.headers.map(({ value }) => value), report, ...returned]
  const paths = texts.flatMap((text) => [...text.matchAll(RETURN_PATH)].map(([path]) => path.toLowerCase()))
  const messageIds = [...returned, report].flatMap((text) => [...text.matchAll(MESSAGE_ID)].map(([, id = '']) => id))
  return { paths: [...new Set(paths)].slice(0, PATHS_MAX), messageIds: [...new Set(messageIds)].slice(0, MESSAGE_IDS_MAX) }
}

const RETURN_PATH = /\bb\.[0-9a-z]{1,11}-[0-9a-z]{1,11}-[0-9a-z]{1,4}\.[a-z2-7]{27}\b/gi
const MESSAGE_ID = /^message-id:[ \t]{0,10}(?:\r?\n[ \t]{1,10})?(<[^<>\s]{1,250}>)/gim

/** The headers of an email. */
function headOf(text: string): string {
  const end = /\r?\n\r?\n/.exec(text)?.index
  return end === undefined ? text : text.slice(0, end)
}
