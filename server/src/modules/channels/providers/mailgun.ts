import { createHmac } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { Exact, Line, OneOf } from '../../../lib/shapes.ts'
import { HOUR_MS } from '../../../lib/times.ts'
import { filledOnly } from '../channel.ts'
import * as mail from '../mail.ts'
import { type ProviderResponse, provider, type Report } from '../provider.ts'
import * as providerHttp from '../provider-http.ts'

const Settings = Exact({
  api_key: mail.Secret('API key', { description: 'A sending key for the domain is sufficient.' }),
  domain: Line(253, { title: 'Domain', format: 'spf-domain' }),
  region: OneOf(['us', 'eu'], { title: 'Region' }),
  signing_key: Type.Optional(mail.Secret('Webhook signing key', { description: 'Without it, reports from the provider are refused.' })),
  default_from: mail.DefaultFrom,
})
type Settings = Static<typeof Settings>

/** Mailgun retries for eight hours, with the signature of the first attempt. */
const CALLBACK_AGE_MS_MAX = 9 * HOUR_MS
const MESSAGE_ID = 'carillon_message_id'

/** The Messages API of Mailgun. */
export const mailgun = provider({
  label: 'Mailgun',
  channels: ['email'],
  settings: Settings,
  check: mail.checkSender,
  repeatable: false,
  idempotent: false,
  atOnce: 20,
  mailBytesMax: 25_000_000,
  send: mail.sendOverApi<Settings>(async (settings, email, message, outside) => {
    return providerHttp.postMessage({
      outside,
      request: requestFor(settings, email, message),
      read: ({ status, json }): ProviderResponse | null => {
        if (status < 300) return providerHttp.accepted(bare(json.id))
        const reason = providerHttp.textOf(json.message)
        // The domain is not, or no longer, in this account and region.
        if (status === 404) return { is: 'deferred', reason: reason ?? 'Mailgun does not know the domain.', code: '404' }
        if (status !== 400 || reason === undefined) return null
        return { is: 'rejected', reason, code: '400', ...(/^'?to'? parameter/.test(reason) && { bounced: true }) }
      },
    })
  }),
  // Mailgun checks the key and the domain before the parameters, so an empty message is refused with 400.
  async test(settings, outside) {
    const response = await providerHttp.callProvider(outside, { ...request(settings), body: '' })
    if (response.is === 'failed') return { works: false, message: response.message }
    if (response.status === 400) return { works: true }
    if (response.status === 404) return { works: false, message: 'The domain does not exist in this region. Check `domain` and `region`.' }
    return { works: false, message: `Mailgun responded with status ${response.status}. Check \`api_key\`.` }
  },
  async read({ signing_key }, callback, { clock }) {
    const now = clock.now()
    const json = providerHttp.jsonOf(callback.body.toString('utf8'))
    const signature = providerHttp.asJson(json.signature)
    if (signing_key === undefined || !isGenuine(signing_key, signature, now)) return providerHttp.UNVERIFIED
    return { is: 'read', reports: reportOf(providerHttp.asJson(json['event-data']), now), once: providerHttp.textOf(signature.token) ?? '' }
  },
})

/** Files take a form in parts (RFC 7578). Mailgun names an inline image by its file name. */
function requestFor(settings: Settings, email: mail.Email, { id, key }: { id: number; key: string }) {
  const members = formOf(email, id)
  const { headers, ...rest } = request(settings)
  if (email.attachments.length === 0) return { ...rest, headers, body: String(new URLSearchParams(members)) }
  const boundary = `carillon-${key}`
  const part = (disposition: string, type: string, content: Uint8Array): Uint8Array[] => [
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n${type}\r\n`),
    content,
    Buffer.from('\r\n'),
  ]
  const body = Buffer.concat([
    ...members.flatMap(([name, value]) => part(`name="${name}"`, '', Buffer.from(value))),
    ...email.attachments.flatMap((file) => {
      const [name, filename] = file.contentId === undefined ? ['attachment', file.name] : ['inline', file.contentId]
      return part(
        `name="${name}"; filename="${filename.replace(/["\\\r\n]/g, '_')}"`,
        `Content-Type: ${file.contentType}\r\n`,
        file.content,
      )
    }),
    Buffer.from(`--${boundary}--\r\n`),
  ])
  return { ...rest, headers: { ...headers, 'content-type': `multipart/form-data; boundary=${boundary}` }, body }
}

const request = ({ api_key, domain, region }: Settings) => ({
  method: 'POST' as const,
  url: `https://api${region === 'eu' ? '.eu' : ''}.mailgun.net/v3/${encodeURIComponent(domain)}/messages`,
  headers: { authorization: providerHttp.basic('api', api_key), 'content-type': 'application/x-www-form-urlencoded' },
})

function formOf({ from, to, cc, bcc, replyTo, subject, html, text, headers }: mail.Email, id: number): [string, string][] {
  const list = (mailboxes: mail.Mailbox[]) => mailboxes.map(mail.formatMailbox).join(', ')
  const members: [string, string][] = [
    ['from', mail.formatMailbox(from)],
    ['to', mail.formatMailbox(to)],
    ['cc', list(cc)],
    ['bcc', list(bcc)],
    ['subject', subject],
    ['text', text],
    ['html', html],
    ['h:Reply-To', list(replyTo)],
    ...headers.map(([name, value]): [string, string] => [`h:${name}`, value]),
    [`v:${MESSAGE_ID}`, String(id)],
    // Carillon counts opens and clicks itself.
    ['o:tracking', 'no'],
  ]
  return members.filter(([name, value]) => value !== '' || name === 'subject')
}

/** An id without its brackets, as in the reports. */
const bare = (id: unknown) => providerHttp.textOf(id)?.replace(/^<|>$/g, '')

/** HMAC over a time and a random token. */
function isGenuine(key: string, { timestamp, token, signature }: providerHttp.Json, now: Date): boolean {
  const time = providerHttp.textOf(timestamp) ?? ''
  if (!/^\d{1,12}$/.test(time) || Math.abs(now.getTime() - Number(time) * 1000) > CALLBACK_AGE_MS_MAX) return false
  const expected = createHmac('sha256', key)
    .update(time + (providerHttp.textOf(token) ?? ''))
    .digest('hex')
  return providerHttp.isSame(providerHttp.textOf(signature) ?? '', expected)
}

/**
 * Mailgun signs a time and a token, but not the report. With a signature that was not used yet, anyone could report on any message of ours, because
 * our ids count up. So a report must also have the id that Mailgun gave to the message, which cannot be guessed.
 */
function reportOf(event: providerHttp.Json, now: Date): Report[] {
  const what = whatOf(event)
  const headers = providerHttp.asJson(providerHttp.asJson(event.message).headers)
  const reference = bare(headers['message-id'])
  if (what === null || !reference) return []
  const status = providerHttp.asJson(event['delivery-status'])
  const details = {
    address: providerHttp.textOf(event.recipient),
    reference,
    code: providerHttp.textOf(status['enhanced-code']) ?? providerHttp.textOf(status.code),
    diagnostic: providerHttp.textOf(status.message) || providerHttp.textOf(status.description),
  }
  const at = mail.instantOfSeconds(event.timestamp, now)
  const id = providerHttp.textOf(providerHttp.asJson(event['user-variables'])[MESSAGE_ID])
  return [{ what, at, ...providerHttp.messageIdOf(id), ...filledOnly(details) }]
}

function whatOf({ event, severity, reason }: providerHttp.Json): Report['what'] | null {
  switch (event) {
    case 'delivered':
    case 'complained':
    case 'unsubscribed':
      return event
    case 'rejected':
      return 'failed'
    case 'failed':
      if (severity === 'temporary') return 'delayed'
      return reason === 'bounce' || reason === 'suppress-bounce' ? 'bounced' : 'failed'
    default:
      return null
  }
}
