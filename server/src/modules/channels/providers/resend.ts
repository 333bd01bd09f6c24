import { createHmac } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { Exact } from '../../../lib/shapes.ts'
import { filledOnly } from '../channel.ts'
import * as mail from '../mail.ts'
import { type Callback, type ProviderResponse, provider, type Report } from '../provider.ts'
import * as providerHttp from '../provider-http.ts'

const Settings = Exact({
  api_key: mail.Secret('API key'),
  webhook_secret: Type.Optional(
    mail.Secret('Webhook secret', {
      pattern: '^whsec_[A-Za-z0-9+/]+={0,2}$',
      problem: 'must be the signing secret of the webhook, which starts with `whsec_`',
      description: 'Without it, reports from the provider are refused.',
    }),
  ),
  default_from: mail.DefaultFrom,
})
type Settings = Static<typeof Settings>

const API = 'https://api.resend.com'
const TAG = 'message_id'

/** The Emails API of Resend. */
export const resend = provider({
  label: 'Resend',
  channels: ['email'],
  settings: Settings,
  check: mail.checkSender,
  repeatable: false,
  // For a day with the same key.
  idempotent: true,
  atOnce: 10,
  mailBytesMax: 40_000_000,
  send: mail.sendOverApi<Settings>(async (settings, email, message, outside) => {
    return providerHttp.postMessage({
      outside,
      isIdempotent: true,
      request: {
        method: 'POST',
        url: `${API}/emails`,
        headers: { ...authorised(settings), 'content-type': 'application/json', 'idempotency-key': message.key },
        body: JSON.stringify(bodyOf(email, message.id)),
      },
      read: ({ status, headers, json }) =>
        status < 300 ? providerHttp.accepted(json.id) : refusalOf(status, json, providerHttp.retryAt(headers, outside.clock.now())),
    })
  }),
  async test(settings, outside) {
    const response = await providerHttp.callProvider(outside, { method: 'GET', url: `${API}/domains`, headers: authorised(settings) })
    if (response.is === 'failed') return { works: false, message: response.message }
    // A key that may only send gets this error when it reads domains.
    if (response.status === 200 || providerHttp.jsonOf(response.body).name === 'restricted_api_key') return { works: true }
    return { works: false, message: `Resend responded with status ${response.status}. Check \`api_key\`.` }
  },
  async read({ webhook_secret }, callback, { clock }) {
    const now = clock.now()
    if (webhook_secret === undefined || !isGenuine(webhook_secret, callback, now)) return providerHttp.UNVERIFIED
    return { is: 'read', reports: reportOf(providerHttp.jsonOf(callback.body.toString('utf8')), now) }
  },
})

const authorised = ({ api_key }: Settings) => ({ authorization: `Bearer ${api_key}` })

function bodyOf({ from, to, cc, bcc, replyTo, subject, html, text, headers, attachments }: mail.Email, id: number) {
  const lists = Object.entries({ cc, bcc, reply_to: replyTo }).filter(([, mailboxes]) => mailboxes.length > 0)
  return {
    from: mail.formatMailbox(from),
    to: [to.address],
    ...Object.fromEntries(lists.map(([name, mailboxes]) => [name, mailboxes.map(mail.formatMailbox)])),
    subject,
    html,
    text,
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
    ...(attachments.length > 0 && {
      attachments: attachments.map((file) => ({
        content: mail.base64Of(file),
        filename: file.name,
        content_type: file.contentType,
        ...(file.contentId !== undefined && { content_id: file.contentId }),
      })),
    }),
    tags: [{ name: TAG, value: String(id) }],
  }
}

/** Problems of the account’s key, or of a parallel request. */
const LATER = ['invalid_api_key', 'missing_api_key', 'restricted_api_key', 'concurrent_idempotent_requests']

/** Resend has more than one error for a key that was deleted; with `validation_error`, only the status or the message tells. */
const isKeyInvalid = (status: number, reason: string) => status === 401 || /^API key is invalid/i.test(reason)

function refusalOf(status: number, { name, message }: providerHttp.Json, later: { retryAt?: Date }): ProviderResponse | null {
  const code = providerHttp.textOf(name)
  const reason = providerHttp.textOf(message)
  if (code === undefined || reason === undefined || status === 429 || status >= 500) return null
  // The key exists with other content, so an earlier attempt was accepted.
  if (code === 'invalid_idempotent_request') return { is: 'accepted', delivered: false }
  if (LATER.includes(code) || isKeyInvalid(status, reason)) return { is: 'deferred', reason, code, ...later }
  // With `validation_error`, the domain is not verified.
  if (status === 403 && code !== 'validation_error') return null
  return { is: 'rejected', reason, code, ...(status === 422 && /`to`/.test(reason) && { bounced: true }) }
}

/** A signature of Standard Webhooks. The header contains several while a secret is being replaced. */
function isGenuine(secret: string, callback: Callback, now: Date): boolean {
  const id = providerHttp.headerOf(callback, 'svix-id') ?? ''
  const time = providerHttp.headerOf(callback, 'svix-timestamp') ?? ''
  if (id === '' || !providerHttp.isRecent(time, now)) return false
  const expected = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
    .update(Buffer.concat([Buffer.from(`${id}.${time}.`), callback.body]))
    .digest('base64')
  const given = (providerHttp.headerOf(callback, 'svix-signature') ?? '').split(' ')
  return given.some((one) => providerHttp.isSame(one, `v1,${expected}`))
}

function reportOf({ type, created_at, data }: providerHttp.Json, now: Date): Report[] {
  const { email_id, to, tags, bounce, failed } = providerHttp.asJson(data)
  const { type: kind, subType, message } = providerHttp.asJson(bounce)
  const what = whatOf(type, kind)
  if (what === null) return []
  const details = {
    address: providerHttp.textOf(Array.isArray(to) ? to[0] : to),
    reference: providerHttp.textOf(email_id),
    code: providerHttp.textOf(subType),
    diagnostic: providerHttp.textOf(message) ?? providerHttp.textOf(providerHttp.asJson(failed).reason),
  }
  const at = providerHttp.instantOf(providerHttp.textOf(created_at), now)
  return [{ what, at, ...providerHttp.messageIdOf(providerHttp.textOf(providerHttp.asJson(tags)[TAG])), ...filledOnly(details) }]
}

const WHAT: Record<string, Report['what']> = {
  'email.delivered': 'delivered',
  'email.delivery_delayed': 'delayed',
  'email.complained': 'complained',
  'email.failed': 'failed',
  'email.suppressed': 'failed',
}

const whatOf = (type: unknown, bounce: unknown): Report['what'] | null =>
  type === 'email.bounced' ? (bounce === 'Permanent' ? 'bounced' : 'failed') : (WHAT[String(type)] ?? null)
