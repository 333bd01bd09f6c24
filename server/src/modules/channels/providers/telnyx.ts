import { createPublicKey, verify } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { Exact, Line } from '../../../lib/shapes.ts'
import { type Callback, type Outgoing, type ProviderResponse, provider, type Report } from '../provider.ts'
import * as providerHttp from '../provider-http.ts'
import type { TextContent } from '../text.ts'

const Settings = Exact({
  api_key: Line(128, { title: 'API key', writeOnly: true }),
  public_key: Line(64, { title: 'Public key', description: 'The public key of the account in Base64, used to verify reports.' }),
  from: Type.Optional(Line(16, { title: 'Sender', description: 'A number in E.164, a short code or an alphanumeric sender id.' })),
  messaging_profile_id: Type.Optional(
    Line(64, { title: 'Messaging profile', description: 'Required for alphanumeric senders and number pools.' }),
  ),
})
type Settings = Static<typeof Settings>

/** `40310`: the number is invalid. */
const BAD_RECIPIENT = '40310'
/** Error codes of reports: `40001` a landline or not routable, `40012` no valid destination. */
const GONE = ['40001', '40012']

/** The bytes before the 32 bytes of an Ed25519 key in DER (RFC 8410). */
const ED25519_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')
const ED25519_BYTES = 32

/** The Messages API of Telnyx, second version. */
export const telnyx = provider({
  label: 'Telnyx',
  channels: ['text'],
  settings: Settings,
  check: ({ public_key, from, messaging_profile_id }) => [
    ...(Buffer.from(public_key, 'base64').length === ED25519_BYTES
      ? []
      : [{ param: 'public_key', message: 'Copy `public_key` from the account settings of Telnyx; it is 44 characters of Base64.' }]),
    ...(from === undefined && messaging_profile_id === undefined
      ? [{ param: 'from', message: 'Set `from`, `messaging_profile_id` or both.' }]
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
        url: 'https://api.telnyx.com/v2/messages',
        headers: { ...authorised(settings), 'content-type': 'application/json' },
        body: JSON.stringify(bodyOf(settings, message, outside.callbackUrl)),
      },
      read: ({ status, json }): ProviderResponse | null => {
        if (status < 300) return providerHttp.accepted(providerHttp.asJson(json.data).id)
        const { code, reason } = errorOf(json)
        // Codes of the account are 10xxx and 20xxx.
        const isOfMessage = status === 400 || status === 422 || (status === 403 && code?.startsWith('40'))
        if (reason === undefined || !isOfMessage) return null
        // A pointer to `/to` alone can also mean that the account may not send there.
        return { is: 'rejected', reason, ...(code !== undefined && { code }), ...(code === BAD_RECIPIENT && { bounced: true }) }
      },
    }),
  test: (settings, outside) =>
    providerHttp.checkCredentials(outside, { method: 'GET', url: 'https://api.telnyx.com/v2/balance', headers: authorised(settings) }),
  async read({ public_key }, callback, { clock }) {
    const now = clock.now()
    if (!isGenuine(public_key, callback, now)) return providerHttp.UNVERIFIED
    const { event_type, occurred_at, payload } = providerHttp.asJson(providerHttp.jsonOf(callback.body.toString('utf8')).data)
    const at = providerHttp.instantOf(providerHttp.textOf(occurred_at), now)
    return { is: 'read', reports: reportsOf(event_type, providerHttp.asJson(payload), at) }
  },
})

const authorised = ({ api_key }: Settings) => ({ authorization: `Bearer ${api_key}` })

const TAG = 'message:'

function bodyOf({ from, messaging_profile_id }: Settings, { id, content }: Outgoing, callbackUrl: string) {
  const { to, body } = content as TextContent
  const addressed = {
    ...(from !== undefined && { from }),
    ...(messaging_profile_id !== undefined && { messaging_profile_id }),
    to,
    text: body,
  }
  return { ...addressed, type: 'SMS', tags: [`${TAG}${id}`], webhook_url: callbackUrl, use_profile_webhooks: false }
}

/** The first error of a response or a report. */
function errorOf({ errors }: providerHttp.Json): { code?: string | undefined; reason?: string | undefined } {
  const { code, title, detail } = providerHttp.asJson(Array.isArray(errors) ? errors[0] : undefined)
  return {
    code: providerHttp.textOf(code),
    reason: providerHttp.textOf(detail) ?? providerHttp.textOf(title),
  }
}

/** Ed25519 over the time and the body. */
function isGenuine(publicKey: string, callback: Callback, now: Date): boolean {
  const time = providerHttp.headerOf(callback, 'telnyx-timestamp') ?? ''
  const signature = Buffer.from(providerHttp.headerOf(callback, 'telnyx-signature-ed25519') ?? '', 'base64')
  if (!providerHttp.isRecent(time, now)) return false
  const der = Buffer.concat([ED25519_PREFIX, Buffer.from(publicKey, 'base64')])
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
  return verify(null, Buffer.concat([Buffer.from(`${time}|`), callback.body]), key, signature)
}

function reportsOf(event: unknown, payload: providerHttp.Json, at: Date): Report[] {
  if (event === 'message.received') {
    const address = providerHttp.textOf(providerHttp.asJson(payload.from).phone_number)
    return [providerHttp.received(at, providerHttp.textOf(payload.text) ?? '', { address, reference: payload.id })]
  }
  const to = providerHttp.asJson(Array.isArray(payload.to) ? payload.to[0] : undefined)
  const { code, reason } = errorOf(payload)
  const what = event === 'message.finalized' ? whatOf(to.status, code) : null
  if (what === null) return []
  const tags = Array.isArray(payload.tags) ? payload.tags : []
  const tag = tags.map(providerHttp.textOf).find((tag) => tag?.startsWith(TAG))
  const fields = { address: to.phone_number, reference: payload.id, code, diagnostic: reason }
  return [{ what, at, ...providerHttp.messageIdOf(tag?.slice(TAG.length)), ...providerHttp.details(fields) }]
}

function whatOf(status: unknown, code: string | undefined): Report['what'] | null {
  if (status === 'delivered') return 'delivered'
  if (status !== 'delivery_failed' && status !== 'sending_failed' && status !== 'expired') return null
  return code !== undefined && GONE.includes(code) ? 'bounced' : 'failed'
}
