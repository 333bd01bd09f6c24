import { createHmac } from 'node:crypto'
import { type Static, Type } from 'typebox'
import type { PublicReply } from '../../../infra/http/public-page.ts'
import { Exact, Line } from '../../../lib/shapes.ts'
import { type Callback, type Outgoing, type ProviderResponse, provider, type Report } from '../provider.ts'
import * as providerHttp from '../provider-http.ts'
import type { TextContent } from '../text.ts'

const Settings = Exact({
  auth_id: Line(32, { title: 'Auth ID', pattern: '^[A-Z0-9]{20}$' }),
  auth_token: Line(64, { title: 'Auth token', writeOnly: true }),
  from: Type.Optional(Line(16, { title: 'Sender', description: 'A number in E.164, a short code or an alphanumeric sender id.' })),
  powerpack_uuid: Type.Optional(Line(64, { title: 'Powerpack UUID' })),
})
type Settings = Static<typeof Settings>

/** `50` no valid destination, `70` permanently unavailable. `80` is only temporary. */
const GONE = ['50', '70']

/** The Message API of Plivo. */
export const plivo = provider({
  label: 'Plivo',
  channels: ['text'],
  settings: Settings,
  check: ({ from, powerpack_uuid }) =>
    (from === undefined) === (powerpack_uuid === undefined) ? [{ param: 'from', message: 'Set either `from` or `powerpack_uuid`.' }] : [],
  repeatable: false,
  idempotent: false,
  atOnce: 20,
  send: (settings, message, outside) =>
    providerHttp.postMessage({
      outside,
      request: {
        method: 'POST',
        url: `${accountUrl(settings)}/Message/`,
        headers: { ...authorised(settings), 'content-type': 'application/json' },
        body: JSON.stringify(bodyOf(settings, message, outside.callbackUrl)),
      },
      read: ({ status, json }): ProviderResponse | null => {
        const reason = providerHttp.textOf(json.error) ?? ''
        // A successful response can list invalid numbers. This request has only one number.
        if (Array.isArray(json.invalid_number) && json.invalid_number.length > 0) {
          return { is: 'rejected', reason: reason || 'The destination number is not valid.', bounced: true }
        }
        if (status < 300) return providerHttp.accepted(Array.isArray(json.message_uuid) ? json.message_uuid[0] : json.message_uuid)
        if (status !== 400 || reason === '') return null
        if (/insufficient credit/i.test(reason)) return { is: 'deferred', reason, code: '400' }
        return { is: 'rejected', reason, code: '400', ...(isAboutRecipient(reason) && { bounced: true }) }
      },
    }),
  test: (settings, outside) =>
    providerHttp.checkCredentials(outside, { method: 'GET', url: `${accountUrl(settings)}/`, headers: authorised(settings) }),
  async read({ auth_token }, callback, { clock }) {
    const form = new URLSearchParams(callback.body.toString('utf8'))
    if (!isGenuine(auth_token, callback, form)) return providerHttp.UNVERIFIED
    const now = clock.now()
    const values = providerHttp.valuesOf(callback, form)
    const text = values.get('Text')
    if (text === null || values.has('Status')) return { is: 'read', reports: reportsOf(callback, values, now) }
    const [from, to] = [values.get('From') ?? '', values.get('To') ?? '']
    const fields = { address: providerHttp.withPlus(from), reference: values.get('MessageUUID') }
    return {
      is: 'read',
      reports: [providerHttp.received(now, text, fields)],
      reply: xml(''),
      answer: (text) => xml(text, { src: to, dst: from }),
    }
  },
})

const accountUrl = ({ auth_id }: Settings) => `https://api.plivo.com/v1/Account/${auth_id}`

const authorised = ({ auth_id, auth_token }: Settings) => ({ authorization: providerHttp.basic(auth_id, auth_token) })

function bodyOf({ from, powerpack_uuid }: Settings, { id, content }: Outgoing, callbackUrl: string) {
  const { to, body } = content as TextContent
  const sender = from === undefined ? { powerpack_uuid } : { src: from }
  return { ...sender, dst: to, text: body, url: `${callbackUrl}?message=${id}`, method: 'POST' }
}

/** Plivo has no error codes for refused requests, only messages. */
const isAboutRecipient = (error: string) =>
  /\b(dst|destination|recipient)\b/i.test(error) && /invalid|not (a )?valid|incorrect/i.test(error)

/**
 * HMAC over the URL with its sorted query, the sorted form, and a nonce. The account and, for messages, its main account sign with
 * each of their valid tokens.
 */
function isGenuine(token: string, callback: Callback, form: URLSearchParams): boolean {
  const nonce = providerHttp.headerOf(callback, 'x-plivo-signature-v3-nonce') ?? ''
  const given = ['x-plivo-signature-v3', 'x-plivo-signature-ma-v3'].flatMap(
    (name) => providerHttp.headerOf(callback, name)?.split(',') ?? [],
  )
  const expected = createHmac('sha256', token)
    .update(`${signedText(callback.url, form)}.${nonce}`)
    .digest('base64')
  return nonce !== '' && given.some((signature) => providerHttp.isSame(signature.trim(), expected))
}

function signedText(url: string, form: URLSearchParams): string {
  const [address = '', search = ''] = url.split(/\?(.*)/s)
  const query = inOrder(new URLSearchParams(search), '=').join('&')
  const body = inOrder(form, '').join('')
  if (body === '') return query === '' ? address : `${address}?${query}`
  return `${address}?${query}${query === '' ? '' : '.'}${body}`
}

const inOrder = (values: URLSearchParams, between: string): string[] =>
  providerHttp.valuesByName(values).flatMap(([name, own]) => own.sort().map((value) => name + between + value))

function reportsOf({ query }: Callback, form: URLSearchParams, at: Date): Report[] {
  const code = form.get('ErrorCode') ?? ''
  const what = whatOf(form.get('Status') ?? '', code)
  if (what === null) return []
  // Each part of a long message has an id of its own. That of the first is the one that the request got.
  const reference = form.get('ParentMessageUUID') || form.get('MessageUUID')
  const fields = { address: providerHttp.withPlus(form.get('To') ?? ''), reference, code }
  return [{ what, at, ...providerHttp.messageIdOf(query.get('message')), ...providerHttp.details(fields) }]
}

function whatOf(status: string, code: string): Report['what'] | null {
  if (status === 'delivered') return 'delivered'
  if (status !== 'failed' && status !== 'undelivered' && status !== 'rejected') return null
  return GONE.includes(code) ? 'bounced' : 'failed'
}

function xml(text: string, { src, dst } = { src: '', dst: '' }): PublicReply {
  const message = `<Message src="${providerHttp.xmlOf(src)}" dst="${providerHttp.xmlOf(dst)}" type="sms">${providerHttp.xmlOf(text)}</Message>`
  return { status: 200, type: 'text/xml; charset=utf-8', body: `<Response>${text === '' ? '' : message}</Response>` }
}
