import { createHash } from 'node:crypto'
import { jwtVerify } from 'jose'
import type { Static } from 'typebox'
import { Exact, Line } from '../../../lib/shapes.ts'
import { type Callback, type ProviderResponse, provider, type Report } from '../provider.ts'
import * as providerHttp from '../provider-http.ts'
import type { TextContent } from '../text.ts'

const Settings = Exact({
  api_key: Line(64, { title: 'API key' }),
  api_secret: Line(64, { title: 'API secret', writeOnly: true }),
  signature_secret: Line(128, {
    title: 'Signature secret',
    writeOnly: true,
    description: 'The signature secret of the account, with which reports are signed.',
  }),
  from: Line(16, { title: 'Sender', description: 'A number or an alphanumeric sender id.' }),
})
type Settings = Static<typeof Settings>

/** `1170` unknown number, `1190` no longer active, `1300` unknown to the network. */
const GONE = ['1170', '1190', '1300']

/** The Messages API of Vonage. */
export const vonage = provider({
  label: 'Vonage',
  channels: ['text'],
  settings: Settings,
  repeatable: false,
  idempotent: false,
  atOnce: 20,
  send(settings, { id, content }, outside) {
    const { to, body } = content as TextContent
    const text = { message_type: 'text', channel: 'sms', to: digitsOf(to), from: digitsOf(settings.from), text: body }
    return providerHttp.postMessage({
      outside,
      request: {
        method: 'POST',
        url: 'https://api.nexmo.com/v1/messages',
        headers: { authorization: providerHttp.basic(settings.api_key, settings.api_secret), 'content-type': 'application/json' },
        body: JSON.stringify({ ...text, client_ref: String(id), webhook_url: outside.callbackUrl, webhook_version: 'v1' }),
      },
      read: ({ status, json }): ProviderResponse | null => {
        if (status < 300) return providerHttp.accepted(json.message_uuid)
        const reason = [json.title, json.detail].map(providerHttp.textOf).filter(Boolean).join(': ')
        const code = codeOf(json) ?? String(status)
        const isBad = GONE.includes(code) || isAboutRecipient(json)
        // 403 without such a code is about the account: it has no credit, or is barred.
        if (reason === '' || (status !== 422 && !(status === 403 && isBad))) return null
        return { is: 'rejected', reason, code, ...(isBad && { bounced: true }) }
      },
    })
  },
  test: ({ api_key, api_secret }, outside) =>
    providerHttp.checkCredentials(outside, {
      method: 'GET',
      url: 'https://rest.nexmo.com/account/get-balance',
      headers: { authorization: providerHttp.basic(api_key, api_secret) },
    }),
  async read(settings, callback, { clock }) {
    const now = clock.now()
    if (!(await isGenuine(settings, callback, now))) return providerHttp.UNVERIFIED
    const json = providerHttp.jsonOf(callback.body.toString('utf8'))
    return { is: 'read', reports: reportsOf(json, providerHttp.instantOf(providerHttp.textOf(json.timestamp), now)) }
  },
})

/** Vonage writes numbers without `+`. */
const digitsOf = (number: string) => number.replace(/^\+/, '')

/** The number of an error, at the end of its type. */
const codeOf = ({ type, title }: providerHttp.Json): string | undefined =>
  /#(\d+)$/.exec(providerHttp.textOf(type) ?? '')?.[1] ?? /^\d{4}$/.exec(providerHttp.textOf(title) ?? '')?.[0]

const isAboutRecipient = ({ invalid_parameters }: providerHttp.Json): boolean =>
  Array.isArray(invalid_parameters) && invalid_parameters.some((parameter) => providerHttp.asJson(parameter).name === 'to')

/** Verifies the token in the header, which is signed with the account’s secret and contains a hash of the body. */
async function isGenuine({ api_key, signature_secret }: Settings, callback: Callback, now: Date): Promise<boolean> {
  const token = /^Bearer (\S+)$/i.exec(providerHttp.headerOf(callback, 'authorization') ?? '')?.[1] ?? ''
  try {
    const { payload } = await jwtVerify(token, Buffer.from(signature_secret), { algorithms: ['HS256'], currentDate: now })
    const hash = createHash('sha256').update(callback.body).digest('hex')
    const isOfBody = providerHttp.isSame(providerHttp.textOf(payload.payload_hash) ?? '', hash)
    return isOfBody && payload.api_key === api_key && providerHttp.isRecent(String(payload.iat), now)
  } catch {
    return false
  }
}

function reportsOf(json: providerHttp.Json, at: Date): Report[] {
  const reference = json.message_uuid
  if (json.status === undefined && typeof json.text === 'string') {
    const address = providerHttp.withPlus(providerHttp.textOf(json.from) ?? '')
    return [providerHttp.received(at, json.text, { address, reference })]
  }
  const error = providerHttp.asJson(json.error)
  const code = codeOf(error)
  const what = whatOf(providerHttp.textOf(json.status) ?? '', code)
  if (what === null) return []
  const diagnostic = providerHttp.textOf(error.detail) ?? providerHttp.textOf(error.title)
  const fields = { address: providerHttp.withPlus(providerHttp.textOf(json.to) ?? ''), reference, code, diagnostic }
  return [{ what, at, ...providerHttp.messageIdOf(providerHttp.textOf(json.client_ref)), ...providerHttp.details(fields) }]
}

function whatOf(status: string, code: string | undefined): Report['what'] | null {
  if (status === 'delivered' || status === 'read') return 'delivered'
  if (status !== 'rejected' && status !== 'undeliverable') return null
  return code !== undefined && GONE.includes(code) ? 'bounced' : 'failed'
}
