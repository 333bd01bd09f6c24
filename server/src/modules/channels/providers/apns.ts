import { createHash, createPrivateKey } from 'node:crypto'
import { SignJWT } from 'jose'
import { type Static, Type } from 'typebox'
import { Exact, Line, OneOf } from '../../../lib/shapes.ts'
import { MINUTE_MS } from '../../../lib/times.ts'
import { cacheAccessTokens } from '../access-tokens.ts'
import { type Outgoing, type ProviderResponse, type ProviderTools, type PushTarget, provider } from '../provider.ts'
import * as providerHttp from '../provider-http.ts'
import type { PushContent } from '../push.ts'
import { deadToken, sendToDevices } from '../send-to-devices.ts'

const Settings = Exact({
  team_id: Line(10, { title: 'Team ID', pattern: '^[A-Z0-9]{10}$' }),
  key_id: Line(10, { title: 'Key ID', pattern: '^[A-Z0-9]{10}$' }),
  private_key: Line(4096, { title: 'Private key', writeOnly: true, description: 'The content of the .p8 file.' }),
  bundle_id: Line(155, { title: 'Bundle ID', description: 'The bundle ID of the app, which is the topic of its push messages.' }),
  environment: Type.Optional(OneOf(['production', 'sandbox'], { title: 'Environment', default: 'production' })),
  host: Type.Optional(
    Line(260, { title: 'Host', format: 'no-control', description: 'A host to use instead of Apple’s, with a port if needed.' }),
  ),
})
type Settings = Static<typeof Settings>

const HOSTS = { production: 'api.push.apple.com', sandbox: 'api.sandbox.push.apple.com' }

/** Apple accepts tokens for an hour, and requires at least twenty minutes between new ones. */
const TOKEN_MS = 50 * MINUTE_MS
const tokens = cacheAccessTokens()

/** A valid device token that does not exist. */
const UNKNOWN_TOKEN = '0'.repeat(64)

/** The Apple Push Notification service, with tokens that are signed with a key of the team. */
export const apns = provider({
  label: 'Apple push (APNs)',
  channels: ['push'],
  devices: { tokens: /^(?:[0-9a-f]{2}){32,100}$/i, systems: /^(?:ios|ipados|macos|mac os|os x|tvos|watchos|visionos)/i },
  settings: Settings,
  check: ({ private_key, host }) => [
    ...(keyOf(private_key)
      ? []
      : [{ param: 'private_key', message: 'Paste the whole .p8 file into `private_key`, with its first and last line.' }]),
    ...(host === undefined || isHost(host)
      ? []
      : [{ param: 'host', message: 'Write `host` as a host name or IP address, with `:port` if needed.' }]),
  ],
  repeatable: false,
  idempotent: false,
  atOnce: 50,
  send: (settings, message, outside) => sendToDevices(message, (device) => sendTo(settings, device, message, outside)),
  async test(settings, outside) {
    const request = { ...(await requestTo(settings, UNKNOWN_TOKEN, outside)), body: JSON.stringify({ aps: {} }) }
    const response = await providerHttp.callProvider(outside, request)
    if (response.is === 'failed') return { works: false, message: response.message }
    // Apple checks the credentials before the device token.
    const reason = reasonOf(response.body) ?? `status ${response.status}`
    return reason === 'BadDeviceToken' ? { works: true } : { works: false, message: `Apple refused the credentials: ${reason}.` }
  },
})

async function sendTo(settings: Settings, device: PushTarget, message: Outgoing, outside: ProviderTools): Promise<ProviderResponse> {
  const request = await requestTo(settings, device.token, outside)
  return providerHttp.postMessage({
    outside,
    request: {
      ...request,
      headers: { ...request.headers, 'apns-id': idOf(message.key, device), 'apns-collapse-id': message.key },
      body: JSON.stringify(payloadOf(message.content as PushContent)),
    },
    read: (answer): ProviderResponse | null => {
      const { status, headers, body } = answer
      if (status === 200) return providerHttp.accepted(headers['apns-id'])
      const reason = reasonOf(body)
      // `BadDeviceToken` is also said of each token of the other environment, so a wrong setting would remove them all.
      if (status === 410) return deadToken(device.token, reason ?? 'Unregistered')
      if (reason === undefined) return null
      if (reason === 'IdleTimeout') return { is: 'deferred', reason, code: String(status) }
      if (reason === 'ExpiredProviderToken') tokens.forget(credentialsOf(settings))
      // A revoked key is a problem of the account, not of the message.
      if (reason.endsWith('ProviderToken')) return { is: 'deferred', reason, code: String(status) }
      return { ...providerHttp.byStatus(answer, outside.clock.now(), false), reason } as ProviderResponse
    },
  })
}

async function requestTo(
  settings: Settings,
  token: string,
  { clock }: ProviderTools,
): Promise<providerHttp.ProviderHttpRequest & { headers: Record<string, string> }> {
  const { environment = 'production', host = HOSTS[environment], bundle_id } = settings
  const now = clock.now()
  const { token: bearer } = await tokens.get(credentialsOf(settings), now, async () => ({
    token: await signed(settings, now),
    forMs: TOKEN_MS,
  }))
  const headers = { authorization: `bearer ${bearer}`, 'apns-topic': bundle_id, 'apns-push-type': 'alert', 'apns-priority': '10' }
  return { method: 'POST', url: `https://${host}/3/device/${encodeURIComponent(token)}`, headers, http2: true }
}

const credentialsOf = ({ team_id, key_id, private_key }: Settings) => [team_id, key_id, private_key]

function signed({ team_id, key_id, private_key }: Settings, now: Date): Promise<string> {
  const key = keyOf(private_key)
  if (!key) throw new Error('The private key is invalid, although it was checked when it was saved.')
  return new SignJWT().setProtectedHeader({ alg: 'ES256', kid: key_id }).setIssuer(team_id).setIssuedAt(now).sign(key)
}

const isHost = (host: string) => URL.canParse(`https://${host}`) && new URL(`https://${host}`).host === host

/** Null if it is not a key on the curve P-256. */
function keyOf(pem: string) {
  try {
    const key = createPrivateKey(pem)
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : null
  } catch {
    return null
  }
}

const reasonOf = (body: string) => providerHttp.textOf(providerHttp.jsonOf(body).reason)

/** A UUID that is the same for every attempt to send a message to a device. */
function idOf(key: string, { device_id }: PushTarget): string {
  const hex = createHash('sha256').update(`${key} ${device_id}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

function payloadOf({ title, body, url, topic, custom }: PushContent) {
  const aps = { alert: { title, body }, sound: 'default', ...(topic !== undefined && { 'thread-id': topic }) }
  return { ...custom, ...(url !== undefined && { url }), aps }
}
