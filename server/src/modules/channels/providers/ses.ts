import { AwsV4Signer } from 'aws4fetch'
import { type Static, Type } from 'typebox'
import { Exact, Line } from '../../../lib/shapes.ts'
import { filledOnly } from '../channel.ts'
import { fittingValue } from '../header-limits.ts'
import * as mail from '../mail.ts'
import { type CallbackReading, type ProviderResponse, type ProviderTools, provider, type Report } from '../provider.ts'
import * as providerHttp from '../provider-http.ts'
import { confirm, readNotice, UNAVAILABLE } from '../sns.ts'

const Settings = Exact({
  region: Line(32, { title: 'Region', pattern: '^[a-z]{2}(-[a-z]+)+-\\d{1,2}$', problem: 'is not a region; write it like `eu-central-1`' }),
  access_key_id: Line(128, { title: 'Access key id', pattern: '^[A-Z0-9]{16,128}$' }),
  secret_access_key: mail.Secret('Secret access key', {
    description: 'The key of a user with the permissions `ses:SendEmail` and `ses:GetAccount`.',
  }),
  configuration_set: Type.Optional(Line(64, { title: 'Configuration set', pattern: '^[A-Za-z0-9_-]+$' })),
  topic_arn: Type.Optional(
    Line(256, {
      title: 'SNS topic',
      pattern: '^arn:aws(-[a-z]+)*:sns:[a-z0-9-]+:\\d{12}:[A-Za-z0-9_-]+(\\.fifo)?$',
      problem: 'is not the ARN of an SNS topic',
      description: 'The topic to which the configuration set publishes events. Without it, reports from the provider are refused.',
    }),
  ),
  default_from: mail.DefaultFrom,
})
type Settings = Static<typeof Settings>

const TAG = 'message_id'
const API = '/v2/email'

/** The limits of `Message.Headers` and `MessageHeader.Value`. */
const HEADERS_MAX = 15
const HEADER_CHARACTERS_MAX = 870
/** `List-Unsubscribe`, `List-Unsubscribe-Post`, `List-Id` and `Feedback-ID`. */
const OWN_HEADERS = 4

/** The API of Amazon SES, second version. */
export const ses = provider({
  label: 'Amazon SES',
  channels: ['email'],
  settings: Settings,
  check: mail.checkSender,
  repeatable: false,
  idempotent: false,
  atOnce: 20,
  mailBytesMax: 40_000_000,
  headersMax: { count: HEADERS_MAX - OWN_HEADERS, characters: HEADER_CHARACTERS_MAX },
  send: mail.sendOverApi<Settings>(async (settings, email, message, outside) => {
    return providerHttp.postMessage({
      outside,
      request: await signed(settings, outside, `${API}/outbound-emails`, JSON.stringify(bodyOf(email, message.id, settings))),
      read: ({ status, headers, json }): ProviderResponse | null =>
        status < 300 ? providerHttp.accepted(json.MessageId) : refusalOf({ status, headers, json }, outside.clock.now()),
    })
  }),
  async test(settings, outside) {
    const response = await providerHttp.callProvider(outside, await signed(settings, outside, `${API}/account`))
    if (response.is === 'failed') return { works: false, message: response.message }
    const json = providerHttp.jsonOf(response.body)
    if (response.status !== 200) return { works: false, message: `Amazon SES responded: ${reasonOf(json) ?? `status ${response.status}.`}` }
    return json.SendingEnabled === false ? { works: false, message: 'Sending is paused for this account in this region.' } : { works: true }
  },
  async read({ topic_arn }, callback, outside): Promise<CallbackReading> {
    const notice = topic_arn === undefined ? null : await readNotice(topic_arn, callback, outside)
    if (!notice) return providerHttp.UNVERIFIED
    // SNS repeats it.
    const later: CallbackReading = { is: 'read', reports: [], reply: { status: 503 } }
    if (notice === UNAVAILABLE) return later
    if (notice.type === 'SubscriptionConfirmation' && !(await confirm(notice, outside))) return later
    return {
      is: 'read',
      reports: notice.type === 'Notification' ? reportsOf(providerHttp.jsonOf(notice.message), outside.clock.now()) : [],
    }
  },
})

/** A request with Signature Version 4. */
async function signed(
  settings: Settings,
  { clock }: Pick<ProviderTools, 'clock'>,
  path: string,
  body?: string,
): Promise<providerHttp.ProviderHttpRequest> {
  const { region, access_key_id, secret_access_key } = settings
  const method = body === undefined ? 'GET' : 'POST'
  const { url, headers } = await new AwsV4Signer({
    method,
    url: `https://email.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}${path}`,
    ...(body !== undefined && { body, headers: { 'content-type': 'application/json' } }),
    service: 'ses',
    region,
    accessKeyId: access_key_id,
    secretAccessKey: secret_access_key,
    datetime: clock
      .now()
      .toISOString()
      .replace(/[:-]|\.\d{3}/g, ''),
  }).sign()
  return { method, url: String(url), headers: Object.fromEntries(headers), ...(body !== undefined && { body }) }
}

function bodyOf({ from, to, cc, bcc, replyTo, subject, html, text, headers, attachments }: mail.Email, id: number, settings: Settings) {
  const utf8 = (Data: string) => ({ Data, Charset: 'UTF-8' })
  return {
    FromEmailAddress: mail.encodeMailbox(from),
    Destination: {
      ToAddresses: [to.address],
      CcAddresses: cc.map(mail.encodeMailbox),
      BccAddresses: bcc.map(mail.encodeMailbox),
    },
    ReplyToAddresses: replyTo.map(mail.encodeMailbox),
    Content: {
      Simple: {
        Subject: utf8(subject),
        Body: { Html: utf8(html), Text: utf8(text) },
        Headers: headers.map((header) => ({ Name: header[0], Value: fittingValue(header, HEADER_CHARACTERS_MAX) })),
        ...(attachments.length > 0 && {
          Attachments: attachments.map((file) => ({
            FileName: file.name,
            ContentType: file.contentType,
            ContentDisposition: file.contentId === undefined ? 'ATTACHMENT' : 'INLINE',
            ContentTransferEncoding: 'BASE64',
            RawContent: mail.base64Of(file),
            ...(file.contentId !== undefined && { ContentId: file.contentId }),
          })),
        }),
      },
    },
    EmailTags: [{ Name: TAG, Value: String(id) }],
    ...filledOnly({ ConfigurationSetName: settings.configuration_set }),
  }
}

/** Problems of the account, or exceeded limits. */
const LATER = [
  'AccountSuspendedException',
  'SendingPausedException',
  'LimitExceededException',
  'TooManyRequestsException',
  'AccessDeniedException',
  'UnrecognizedClientException',
  'InvalidSignatureException',
  'InvalidClientTokenId',
  'ExpiredTokenException',
  'IncompleteSignature',
  'NotAuthorized',
  // Of the configuration set.
  'NotFoundException',
  'RequestExpired',
  'Throttling',
  'ThrottlingException',
]

const reasonOf = (json: providerHttp.Json) => providerHttp.textOf(json.message) ?? providerHttp.textOf(json.Message)

function refusalOf(
  { status, headers, json }: Pick<providerHttp.ProviderHttpResponse, 'status' | 'headers' | 'json'>,
  now: Date,
): ProviderResponse | null {
  // Such as `BadRequestException:http://…`.
  const code = providerHttp.textOf(headers['x-amzn-errortype'])?.split(':')[0]
  const reason = reasonOf(json)
  if (code === undefined || reason === undefined || status >= 500) return null
  if (status === 403 || LATER.includes(code)) return { is: 'deferred', reason, code, ...providerHttp.retryAt(headers, now) }
  const isBad =
    code === 'BadRequestException' &&
    /^(missing final '@domain'|(local address|domain|user name) (contains|is missing)|illegal address)/i.test(reason)
  return { is: 'rejected', reason, code, ...(isBad && { bounced: true }) }
}

/** Events of configuration sets (`eventType`) and of identities (`notificationType`) have the same members. */
function reportsOf(event: providerHttp.Json, now: Date): Report[] {
  const { messageId, tags, destination } = providerHttp.asJson(event.mail)
  const found = FOUND[providerHttp.textOf(event.eventType) ?? providerHttp.textOf(event.notificationType) ?? '']
  if (!found) return []
  const about = providerHttp.asJson(event[found.member])
  const [id] = listOf(providerHttp.asJson(tags)[TAG])
  const ids = { ...providerHttp.messageIdOf(providerHttp.textOf(id)), ...filledOnly({ reference: providerHttp.textOf(messageId) }) }
  const at = providerHttp.instantOf(providerHttp.textOf(about.timestamp), now)
  const users = found.recipients === undefined ? listOf(destination).slice(0, 1) : listOf(about[found.recipients])
  const what = found.what(about)
  if (what === null) return []
  return users.map((user) => {
    const { emailAddress, status, diagnosticCode } = providerHttp.asJson(user)
    const details = {
      address: providerHttp.textOf(user) ?? providerHttp.textOf(emailAddress),
      code: providerHttp.textOf(status) ?? providerHttp.textOf(about.bounceSubType ?? about.complaintFeedbackType),
      diagnostic: providerHttp.textOf(diagnosticCode) ?? providerHttp.textOf(about.smtpResponse ?? about.reason),
    }
    return { what, at, ...ids, ...filledOnly(details) }
  })
}

type Found = { member: string; recipients?: string; what(about: providerHttp.Json): Report['what'] | null }

/** Feedback that is no complaint about spam, as of email that this server delivers: a user who took it out of the spam folder wants it. */
const FEEDBACK: Record<string, Report['what'] | null> = { fraud: 'fraud', virus: 'virus', 'not-spam': null, 'auth-failure': null }

/** By type of event: the member with its details, the member with the recipients, and the report, if it is one. */
const FOUND: Record<string, Found> = {
  Delivery: { member: 'delivery', recipients: 'recipients', what: () => 'delivered' },
  Bounce: {
    member: 'bounce',
    recipients: 'bouncedRecipients',
    what: ({ bounceType }) => (bounceType === 'Permanent' ? 'bounced' : 'failed'),
  },
  Complaint: {
    member: 'complaint',
    recipients: 'complainedRecipients',
    what: ({ complaintFeedbackType: type }) =>
      typeof type === 'string' && Object.hasOwn(FEEDBACK, type) ? (FEEDBACK[type] ?? null) : 'complained',
  },
  DeliveryDelay: { member: 'deliveryDelay', recipients: 'delayedRecipients', what: () => 'delayed' },
  Reject: { member: 'reject', what: () => 'failed' },
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
