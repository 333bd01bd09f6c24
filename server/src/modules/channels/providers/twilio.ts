import { createHmac } from 'node:crypto'
import { type Static, Type } from 'typebox'
import type { PublicReply } from '../../../infra/http/public-page.ts'
import { Exact, Line } from '../../../lib/shapes.ts'
import { type Callback, type Outgoing, type ProviderResponse, provider, type Report } from '../provider.ts'
import * as providerHttp from '../provider-http.ts'
import type { TextContent } from '../text.ts'

const Settings = Exact({
  account_sid: Line(34, { title: 'Account SID', pattern: '^AC[0-9a-fA-F]{32}$' }),
  auth_token: Line(64, {
    title: 'Auth token',
    writeOnly: true,
    description: 'Reports are signed with this token, even if messages are sent with an API key.',
  }),
  api_key_sid: Type.Optional(Line(34, { title: 'API key SID', pattern: '^SK[0-9a-fA-F]{32}$' })),
  api_key_secret: Type.Optional(Line(64, { title: 'API key secret', writeOnly: true })),
  from: Type.Optional(Line(16, { title: 'Sender', description: 'A number in E.164, a short code or an alphanumeric sender id.' })),
  messaging_service_sid: Type.Optional(Line(34, { title: 'Messaging service SID', pattern: '^MG[0-9a-fA-F]{32}$' })),
})
type Settings = Static<typeof Settings>

/** Invalid numbers: malformed, not a mobile number, a landline. */
const BAD_RECIPIENT = ['21211', '21614', '21635']
/** The queue of the sending number is full. */
const QUEUE_FULL = '21611'
/** Error codes of reports about unknown numbers and landlines. 30003, an unreachable handset, is only temporary. */
const GONE = ['30005', '30006', '21211', '21614', '21635']

/** The Messages API of Twilio. */
export const twilio = provider({
  label: 'Twilio',
  channels: ['text'],
  settings: Settings,
  check: ({ api_key_sid, api_key_secret, from, messaging_service_sid }) => [
    ...((from === undefined) === (messaging_service_sid === undefined)
      ? [{ param: 'from', message: 'Set either `from` or `messaging_service_sid`.' }]
      : []),
    ...((api_key_sid === undefined) !== (api_key_secret === undefined)
      ? [{ param: 'api_key_secret', message: 'Set `api_key_sid` and `api_key_secret` together, or neither.' }]
      : []),
  ],
  repeatable: false,
  idempotent: false,
  atOnce: 20,
  send: (settings, message, outside) =>
    providerHttp.postMessage({
      outside,
      request: {
        method: 'POST',
        url: `${accountUrl(settings)}/Messages.json`,
        headers: { ...authorised(settings), 'content-type': 'application/x-www-form-urlencoded' },
        body: String(new URLSearchParams(formOf(settings, message, outside.callbackUrl))),
      },
      read: ({ status, headers, json }): ProviderResponse | null => {
        const code = providerHttp.textOf(json.code) ?? ''
        const reason = providerHttp.textOf(json.message) ?? ''
        if (status < 300) return providerHttp.accepted(json.sid)
        if (code === QUEUE_FULL) return { is: 'deferred', reason, code, ...providerHttp.retryAt(headers, outside.clock.now()) }
        const isOfMessage = status === 400 || (status === 403 && code.startsWith('21'))
        if (!isOfMessage || reason === '') return null
        return { is: 'rejected', reason, code, ...(BAD_RECIPIENT.includes(code) && { bounced: true }) }
      },
    }),
  test: (settings, outside) =>
    providerHttp.checkCredentials(outside, {
      method: 'GET',
      url: `${accountUrl(settings)}/Messages.json?PageSize=1`,
      headers: authorised(settings),
    }),
  async read({ auth_token }, callback, { clock }) {
    const form = new URLSearchParams(callback.body.toString('utf8'))
    if (!providerHttp.isSame(providerHttp.headerOf(callback, 'x-twilio-signature') ?? '', signatureOf(auth_token, callback.url, form))) {
      return providerHttp.UNVERIFIED
    }
    const now = clock.now()
    const values = providerHttp.valuesOf(callback, form)
    const text = values.get('Body')
    if (text === null || isStatus(values)) return { is: 'read', reports: reportsOf(callback, values, now) }
    const fields = { address: values.get('From') ?? '', reference: values.get('MessageSid') }
    // If Twilio recognised STOP, START or HELP itself, it has replied already.
    const isAnswered = values.has('OptOutType')
    return {
      is: 'read',
      reports: [providerHttp.received(now, text, fields)],
      reply: twiml(''),
      answer: (text) => twiml(isAnswered ? '' : text),
    }
  },
})

const accountUrl = ({ account_sid }: Settings) => `https://api.twilio.com/2010-04-01/Accounts/${account_sid}`

const authorised = ({ account_sid, auth_token, api_key_sid = account_sid, api_key_secret = auth_token }: Settings) => ({
  authorization: providerHttp.basic(api_key_sid, api_key_secret),
})

function formOf({ from, messaging_service_sid }: Settings, { id, content }: Outgoing, callbackUrl: string): Record<string, string> {
  const { to, body } = content as TextContent
  const sender = from === undefined ? { MessagingServiceSid: messaging_service_sid as string } : { From: from }
  return { To: to, Body: body, ...sender, StatusCallback: `${callbackUrl}?message=${id}` }
}

/** Is it a report of an outgoing message? Only those have a status other than `received`; either may come to any URL. */
const isStatus = (form: URLSearchParams): boolean => form.has('MessageStatus') && form.get('MessageStatus') !== 'received'

/** Signs the URL, followed by the names and values of the form, sorted by name. */
function signatureOf(token: string, url: string, form: URLSearchParams): string {
  const signed = providerHttp.valuesByName(form).map(([name, values]) => [...new Set(values)].sort().map((value) => name + value))
  return createHmac('sha1', token)
    .update(url + signed.flat().join(''))
    .digest('base64')
}

function reportsOf({ query }: Callback, form: URLSearchParams, at: Date): Report[] {
  const code = form.get('ErrorCode') ?? ''
  const what = whatOf(form.get('MessageStatus') ?? '', code)
  if (what === null) return []
  const fields = { address: form.get('To'), reference: form.get('MessageSid'), code, diagnostic: form.get('ErrorMessage') }
  return [{ what, at, ...providerHttp.messageIdOf(query.get('message')), ...providerHttp.details(fields) }]
}

function whatOf(status: string, code: string): Report['what'] | null {
  if (status === 'delivered' || status === 'read') return 'delivered'
  if (status !== 'failed' && status !== 'undelivered') return null
  return GONE.includes(code) ? 'bounced' : 'failed'
}

const twiml = (text: string): PublicReply => ({
  status: 200,
  type: 'text/xml; charset=utf-8',
  body: `<?xml version="1.0" encoding="UTF-8"?><Response>${text === '' ? '' : `<Message>${providerHttp.xmlOf(text)}</Message>`}</Response>`,
})
