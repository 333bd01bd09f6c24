import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { Exact, Line, OneOf } from '../../../lib/shapes.ts'
import { DAY_MS } from '../../../lib/times.ts'
import { filledOnly } from '../channel.ts'
import * as mail from '../mail.ts'
import { type Callback, type ProviderResponse, provider, type Report } from '../provider.ts'
import * as providerHttp from '../provider-http.ts'

const Settings = Exact({
  api_key: mail.Secret('API key', { description: 'The key needs the scope `mail.send`.' }),
  region: Type.Optional(OneOf(['global', 'eu'], { title: 'Region', description: 'Default: `global`.' })),
  verification_key: Type.Optional(
    Line(512, {
      title: 'Verification key',
      description: 'The key of the signed event webhook. Without it, reports from the provider are refused.',
    }),
  ),
  default_from: mail.DefaultFrom,
})
type Settings = Static<typeof Settings>

/** SendGrid retries for a day. */
const CALLBACK_AGE_MS_MAX = DAY_MS
const MESSAGE_ID = 'carillon_message_id'

/** The Mail Send API of SendGrid, third version. */
export const sendgrid = provider({
  label: 'SendGrid',
  channels: ['email'],
  settings: Settings,
  check: (settings) => [
    ...(settings.verification_key === undefined || keyOf(settings.verification_key)
      ? []
      : [{ param: 'verification_key', message: 'Copy `verification_key` from the signed event webhook settings of SendGrid.' }]),
    ...mail.checkSender(settings),
  ],
  repeatable: false,
  idempotent: false,
  atOnce: 20,
  mailBytesMax: 30_000_000,
  send: mail.sendOverApi<Settings>(async (settings, email, message, outside) => {
    return providerHttp.postMessage({
      outside,
      request: {
        method: 'POST',
        url: `${apiOf(settings)}/mail/send`,
        headers: { ...authorised(settings), 'content-type': 'application/json' },
        body: JSON.stringify(bodyOf(email, message.id)),
      },
      read: ({ status, headers, json }) =>
        status < 300 ? providerHttp.accepted(headers['x-message-id']) : refusalOf(status, headers, json),
    })
  }),
  async test(settings, outside) {
    const response = await providerHttp.callProvider(outside, {
      method: 'GET',
      url: `${apiOf(settings)}/scopes`,
      headers: authorised(settings),
    })
    if (response.is === 'failed') return { works: false, message: response.message }
    if (response.status !== 200) return { works: false, message: `SendGrid responded with status ${response.status}. Check \`api_key\`.` }
    const { scopes } = providerHttp.jsonOf(response.body)
    if (Array.isArray(scopes) && scopes.includes('mail.send')) return { works: true }
    return { works: false, message: 'The API key is not allowed to send email. Add the scope `mail.send` to it.' }
  },
  async read({ verification_key = '' }, callback, { clock }) {
    const now = clock.now()
    const key = keyOf(verification_key)
    if (!key || !isGenuine(key, callback, now)) return providerHttp.UNVERIFIED
    const events = Object.values(providerHttp.jsonOf(callback.body.toString('utf8')))
    return { is: 'read', reports: events.flatMap((event) => reportOf(providerHttp.asJson(event), now)) }
  },
})

const apiOf = ({ region }: Settings) => `https://api${region === 'eu' ? '.eu' : ''}.sendgrid.com/v3`
const authorised = ({ api_key }: Settings) => ({ authorization: `Bearer ${api_key}` })

const mailbox = ({ name, address }: mail.Mailbox) => ({ email: address, ...(name !== '' && { name }) })

/** Carillon counts opens and clicks itself. Links wrapped twice would break when the outer link expires. */
const UNTRACKED = { click_tracking: { enable: false, enable_text: false }, open_tracking: { enable: false } }

function bodyOf({ from, to, cc, bcc, replyTo, subject, html, text, headers, attachments }: mail.Email, id: number) {
  const copies = { ...(cc.length > 0 && { cc: cc.map(mailbox) }), ...(bcc.length > 0 && { bcc: bcc.map(mailbox) }) }
  return {
    personalizations: [{ to: [mailbox(to)], ...copies }],
    from: mailbox(from),
    ...(replyTo.length > 0 && { reply_to_list: replyTo.map(mailbox) }),
    subject,
    // SendGrid requires the plain text first, and no empty part.
    content: [
      { type: 'text/plain', value: text },
      { type: 'text/html', value: html },
    ].filter(({ value }) => value !== ''),
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
    ...(attachments.length > 0 && {
      attachments: attachments.map((file) => ({
        content: mail.base64Of(file),
        type: file.contentType,
        filename: file.name,
        disposition: file.contentId === undefined ? 'attachment' : 'inline',
        ...(file.contentId !== undefined && { content_id: file.contentId }),
      })),
    }),
    custom_args: { [MESSAGE_ID]: String(id) },
    tracking_settings: UNTRACKED,
  }
}

function refusalOf(
  status: number,
  headers: providerHttp.ProviderHttpResponse['headers'],
  { errors }: providerHttp.Json,
): ProviderResponse | null {
  const { message, field } = providerHttp.asJson(Array.isArray(errors) ? errors[0] : undefined)
  const reason = providerHttp.textOf(message)
  if (status === 429) return { is: 'deferred', reason: reason ?? 'Too many requests.', code: '429', ...resetOf(headers) }
  const isOfSender = status === 403 && (field === 'from' || /sender identity/i.test(reason ?? ''))
  if (reason === undefined || (status !== 400 && !isOfSender)) return null
  const isBad = /^personalizations\.0\.to\b/.test(providerHttp.textOf(field) ?? '')
  return { is: 'rejected', reason, code: String(status), ...(isBad && { bounced: true }) }
}

/** When the rate limit is reset, from a header with Unix seconds. */
function resetOf(headers: providerHttp.ProviderHttpResponse['headers']): { retryAt?: Date } {
  const reset = headers['x-ratelimit-reset']
  return typeof reset === 'string' && /^\d{9,11}$/.test(reset) ? { retryAt: new Date(Number(reset) * 1000) } : {}
}

/** Parses the key as SendGrid shows it: DER in Base64. */
function keyOf(text: string): KeyObject | null {
  try {
    return createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' })
  } catch {
    return null
  }
}

/** ECDSA over the time and the body. */
function isGenuine(key: KeyObject, callback: Callback, now: Date): boolean {
  const time = providerHttp.headerOf(callback, 'x-twilio-email-event-webhook-timestamp') ?? ''
  const signature = providerHttp.headerOf(callback, 'x-twilio-email-event-webhook-signature') ?? ''
  if (!/^\d{1,12}$/.test(time) || Math.abs(now.getTime() - Number(time) * 1000) > CALLBACK_AGE_MS_MAX) return false
  return verify('sha256', Buffer.concat([Buffer.from(time), callback.body]), key, Buffer.from(signature, 'base64'))
}

function reportOf(event: providerHttp.Json, now: Date): Report[] {
  const what = whatOf(event)
  if (what === null) return []
  const { timestamp, email, sg_message_id, status, reason, response } = event
  const details = {
    address: providerHttp.textOf(email),
    // The part after the first dot identifies SendGrid’s server.
    reference: providerHttp.textOf(sg_message_id)?.split('.')[0],
    code: providerHttp.textOf(status),
    diagnostic: providerHttp.textOf(reason) ?? providerHttp.textOf(response),
  }
  const at = mail.instantOfSeconds(timestamp, now)
  return [{ what, at, ...providerHttp.messageIdOf(providerHttp.textOf(event[MESSAGE_ID])), ...filledOnly(details) }]
}

function whatOf({ event, type, reason }: providerHttp.Json): Report['what'] | null {
  switch (event) {
    case 'delivered':
      return 'delivered'
    case 'deferred':
      return 'delayed'
    case 'spamreport':
      return 'complained'
    case 'unsubscribe':
    case 'group_unsubscribe':
      return 'unsubscribed'
    case 'bounce':
      return type === 'blocked' ? 'failed' : 'bounced'
    case 'dropped':
      return /^(bounced address|invalid)$/i.test(providerHttp.textOf(reason) ?? '') ? 'bounced' : 'failed'
    default:
      return null
  }
}
