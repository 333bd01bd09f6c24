import { createHash } from 'node:crypto'
import { jwtVerify } from 'jose'
import type { Static } from 'typebox'
import { Exact, Line } from '../../../lib/shapes.ts'
import { type Callback, type ProviderResponse, provider, type Report } from '../provider.ts'
import * as providerHttp from '../provider-http.ts'
import type { TextContent } from '../text.ts'

const Settings = Exact({
  access_key: Line(128, { title: 'Access key', writeOnly: true }),
  signing_key: Line(128, { title: 'Signing key', writeOnly: true, description: 'The key with which reports are signed.' }),
  from: Line(17, { title: 'Originator', description: 'A number or an alphanumeric sender id.' }),
})
type Settings = Static<typeof Settings>

/** Error codes of requests: `9` no correct recipients, `25` not enough balance. */
const BAD_RECIPIENT = '9'
const NO_BALANCE = '25'
/** Error codes of reports: `1` unknown subscriber, `5` unidentified subscriber. */
const GONE = ['1', '5']
const GONE_REASONS = ['unknown subscriber', 'incorrect number']

const CLOCK_TOLERANCE_S = 5

/** The SMS API of MessageBird. */
export const messagebird = provider({
  label: 'MessageBird',
  channels: ['text'],
  settings: Settings,
  repeatable: false,
  idempotent: false,
  atOnce: 20,
  send(settings, { id, content }, outside) {
    const { to, body } = content as TextContent
    const text = { originator: settings.from, recipients: [to.replace(/^\+/, '')], body, datacoding: 'auto' }
    return providerHttp.postMessage({
      outside,
      request: {
        method: 'POST',
        url: 'https://rest.messagebird.com/messages',
        headers: { ...authorised(settings), 'content-type': 'application/json' },
        body: JSON.stringify({ ...text, reference: String(id), reportUrl: outside.callbackUrl }),
      },
      read: ({ status, json }): ProviderResponse | null => {
        if (status < 300) return providerHttp.accepted(json.id)
        const { code: number, description } = providerHttp.asJson(Array.isArray(json.errors) ? json.errors[0] : undefined)
        const [code = '', reason] = [providerHttp.textOf(number), providerHttp.textOf(description)]
        if (reason === undefined || ![400, 422].includes(status)) return null
        if (code === NO_BALANCE) return { is: 'deferred', reason, code }
        return { is: 'rejected', reason, code, ...(code === BAD_RECIPIENT && { bounced: true }) }
      },
    })
  },
  test: (settings, outside) =>
    providerHttp.checkCredentials(outside, { method: 'GET', url: 'https://rest.messagebird.com/balance', headers: authorised(settings) }),
  async read(settings, callback, { clock }) {
    const now = clock.now()
    if (!(await isGenuine(settings, callback, now))) return providerHttp.UNVERIFIED
    return { is: 'read', reports: reportsOf(valuesOf(callback), now) }
  },
})

const authorised = ({ access_key }: Settings) => ({ authorization: `AccessKey ${access_key}` })

/** Verifies the token in the header, which contains hashes of the URL and of the body, if there is one. */
async function isGenuine({ signing_key }: Settings, callback: Callback, now: Date): Promise<boolean> {
  try {
    const { payload } = await jwtVerify(providerHttp.headerOf(callback, 'messagebird-signature-jwt') ?? '', Buffer.from(signing_key), {
      algorithms: ['HS256', 'HS384', 'HS512'],
      issuer: 'MessageBird',
      requiredClaims: ['nbf', 'exp'],
      clockTolerance: CLOCK_TOLERANCE_S,
      currentDate: now,
    })
    const isOfAddress = providerHttp.isSame(providerHttp.textOf(payload.url_hash) ?? '', hashOf(callback.url))
    const isOfBody =
      callback.body.length === 0 && payload.payload_hash === undefined
        ? true
        : providerHttp.isSame(providerHttp.textOf(payload.payload_hash) ?? '', hashOf(callback.body))
    return isOfAddress && isOfBody
  } catch {
    return false
  }
}

const hashOf = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')

/** Reports arrive as a query. Messages from users arrive as a query, a form or JSON, depending on the configuration. */
function valuesOf({ headers, query, body }: Callback): Record<string, string | undefined> {
  const text = body.toString('utf8')
  const isJson = headers['content-type']?.startsWith('application/json') ?? false
  const given = isJson ? Object.entries(providerHttp.jsonOf(text)) : [...new URLSearchParams(text)]
  return Object.fromEntries([...query, ...given].map(([name, value]) => [name, providerHttp.textOf(value)]))
}

function reportsOf(values: Record<string, string | undefined>, now: Date): Report[] {
  const { id: reference, originator, recipient = '', status, statusReason, statusErrorCode: code } = values
  const text = values.body ?? values.payload
  if (originator !== undefined && text !== undefined && status === undefined) {
    const at = providerHttp.instantOf(values.createdDatetime, now)
    return [providerHttp.received(at, text, { address: providerHttp.withPlus(originator), reference })]
  }
  const what = whatOf(status, code, statusReason)
  if (what === null) return []
  const at = providerHttp.instantOf(values.statusDatetime, now)
  const fields = { address: providerHttp.withPlus(recipient), reference, code, diagnostic: statusReason }
  return [{ what, at, ...providerHttp.messageIdOf(values.reference), ...providerHttp.details(fields) }]
}

function whatOf(status: string | undefined, code = '', reason = ''): Report['what'] | null {
  if (status === 'delivered') return 'delivered'
  if (status !== 'delivery_failed' && status !== 'expired') return null
  return status === 'delivery_failed' && (GONE.includes(code) || GONE_REASONS.includes(reason.toLowerCase())) ? 'bounced' : 'failed'
}
