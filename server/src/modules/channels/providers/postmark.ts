import { type Static, Type } from 'typebox'
import { Exact, Line } from '../../../lib/shapes.ts'
import { filledOnly } from '../channel.ts'
import * as mail from '../mail.ts'
import { type ProviderResponse, provider, type Report } from '../provider.ts'
import * as providerHttp from '../provider-http.ts'

const Settings = Exact({
  server_token: mail.Secret('Server API token'),
  message_stream: Type.Optional(
    Line(100, { title: 'Message stream', description: 'Use a broadcast stream for marketing. Default: `outbound`.' }),
  ),
  webhook_username: Type.Optional(
    Line(255, {
      title: 'Webhook user name',
      format: 'no-control',
      description: 'User name in the webhook’s URL. Without it and the password, reports from the provider are refused.',
    }),
  ),
  webhook_password: Type.Optional(mail.Secret('Webhook password')),
  default_from: mail.DefaultFrom,
})
type Settings = Static<typeof Settings>

/** Postmark’s error codes: the recipient is inactive; the request is malformed. */
const INACTIVE = '406'
const INVALID = '300'
/** Problems of the account: maintenance, an invalid token, no credit, not approved yet. */
const LATER = ['10', '100', '405', '412', '413']
const API = 'https://api.postmarkapp.com'

/** The Email API of Postmark. */
export const postmark = provider({
  label: 'Postmark',
  channels: ['email'],
  settings: Settings,
  check: (settings) => [
    ...((settings.webhook_username === undefined) === (settings.webhook_password === undefined)
      ? []
      : [{ param: 'webhook_password', message: 'Set `webhook_username` and `webhook_password` together, or neither.' }]),
    ...mail.checkSender(settings),
  ],
  repeatable: false,
  idempotent: false,
  atOnce: 20,
  mailBytesMax: 10_000_000,
  send: mail.sendOverApi<Settings>(async (settings, email, message, outside) => {
    return providerHttp.postMessage({
      outside,
      request: {
        method: 'POST',
        url: `${API}/email`,
        headers: { ...authorised(settings), 'content-type': 'application/json' },
        body: JSON.stringify(bodyOf(email, message.id, settings)),
      },
      read: ({ status, json }) => (status < 300 ? providerHttp.accepted(json.MessageID) : refusalOf(status, json)),
    })
  }),
  test: (settings, outside) =>
    providerHttp.checkCredentials(outside, { method: 'GET', url: `${API}/server`, headers: authorised(settings) }),
  // Postmark does not sign. The credentials are in the URL of the webhook.
  async read({ webhook_username, webhook_password }, callback, { clock }) {
    if (webhook_username === undefined || webhook_password === undefined) return providerHttp.UNVERIFIED
    const expected = providerHttp.basic(webhook_username, webhook_password)
    if (!providerHttp.isSame(providerHttp.headerOf(callback, 'authorization') ?? '', expected)) return providerHttp.UNVERIFIED
    return { is: 'read', reports: reportOf(providerHttp.jsonOf(callback.body.toString('utf8')), clock.now()) }
  },
})

const authorised = ({ server_token }: Settings) => ({ accept: 'application/json', 'x-postmark-server-token': server_token })

function bodyOf({ from, to, cc, bcc, replyTo, subject, html, text, headers, attachments }: mail.Email, id: number, settings: Settings) {
  const list = (mailboxes: mail.Mailbox[]) => mailboxes.map(mail.formatMailbox).join(', ')
  return {
    From: mail.formatMailbox(from),
    To: mail.formatMailbox(to),
    ...filledOnly({ Cc: list(cc), Bcc: list(bcc), ReplyTo: list(replyTo), MessageStream: settings.message_stream }),
    Subject: subject,
    HtmlBody: html,
    TextBody: text,
    Headers: headers.map(([Name, Value]) => ({ Name, Value })),
    ...(attachments.length > 0 && {
      Attachments: attachments.map((file) => ({
        Name: file.name,
        ContentType: file.contentType,
        Content: mail.base64Of(file),
        ...(file.contentId !== undefined && { ContentID: `cid:${file.contentId}` }),
      })),
    }),
    Metadata: { message_id: String(id) },
    // Carillon counts opens and clicks itself.
    TrackOpens: false,
    TrackLinks: 'None',
  }
}

function refusalOf(status: number, { ErrorCode, Message }: providerHttp.Json): ProviderResponse | null {
  const code = providerHttp.textOf(ErrorCode) ?? ''
  const reason = providerHttp.textOf(Message)
  if (reason === undefined || status === 429 || status >= 500) return null
  if (LATER.includes(code)) return { is: 'deferred', reason, code }
  if (status !== 422) return null
  const isBad = code === INACTIVE || (code === INVALID && /'To'/.test(reason))
  return { is: 'rejected', reason, code, ...(isBad && { bounced: true }) }
}

function reportOf(json: providerHttp.Json, now: Date): Report[] {
  const what = whatOf(json)
  if (what === null) return []
  const { MessageID, Metadata, Email, Recipient, Type, Description, Details, DeliveredAt, BouncedAt, ChangedAt } = json
  const details = {
    address: providerHttp.textOf(Email) ?? providerHttp.textOf(Recipient),
    reference: providerHttp.textOf(MessageID),
    code: providerHttp.textOf(Type),
    diagnostic: providerHttp.textOf(Details) || providerHttp.textOf(Description),
  }
  const at = providerHttp.instantOf(providerHttp.textOf(DeliveredAt ?? BouncedAt ?? ChangedAt), now)
  return [{ what, at, ...providerHttp.messageIdOf(providerHttp.textOf(providerHttp.asJson(Metadata).message_id)), ...filledOnly(details) }]
}

/** Types that are not bounces, such as automatic replies. */
const NO_BOUNCE = ['AutoResponder', 'AddressChange', 'ChallengeVerification', 'OpenRelayTest', 'Subscribe', 'Unconfirmed']

function whatOf({ RecordType, Type, SuppressSending, SuppressionReason }: providerHttp.Json): Report['what'] | null {
  if (RecordType === 'Delivery') return 'delivered'
  if (RecordType === 'SpamComplaint') return 'complained'
  // Suppressions after a bounce or complaint have their own report.
  if (RecordType === 'SubscriptionChange')
    return SuppressSending === true && SuppressionReason === 'ManualSuppression' ? 'unsubscribed' : null
  if (RecordType !== 'Bounce' || NO_BOUNCE.includes(String(Type))) return null
  if (Type === 'HardBounce' || Type === 'BadEmailAddress') return 'bounced'
  if (Type === 'Unsubscribe') return 'unsubscribed'
  return Type === 'Transient' ? 'delayed' : 'failed'
}
