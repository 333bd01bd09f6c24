import { createECDH, createHash } from 'node:crypto'
import type { Static } from 'typebox'
import library, { type PushSubscription } from 'web-push'
import { Exact, Line } from '../../../lib/shapes.ts'
import { filledOnly } from '../channel.ts'
import { deadToken, pushTo } from '../devices.ts'
import { type Outgoing, type ProviderResponse, type ProviderTools, type PushTarget, provider } from '../provider.ts'
import * as providerHttp from '../provider-http.ts'
import type { PushContent } from '../push.ts'

const Settings = Exact({
  subject: Line(255, {
    title: 'Contact',
    pattern: '^(mailto:|https://)',
    description: 'A `mailto:` or `https://` address for push services.',
  }),
  public_key: Line(128, { title: 'Public VAPID key', description: 'What the web page subscribes with; URL-safe Base64.' }),
  private_key: Line(64, { title: 'Private VAPID key', writeOnly: true }),
})
type Settings = Static<typeof Settings>

/** How long a push service keeps a push for a browser that is closed. */
const TTL_S = 28 * 86_400
/** The longest Topic there may be (RFC 8030, 5.4). */
const TOPIC_LENGTH = 32

/** Web Push (RFC 8030) to browsers, encrypted (RFC 8291), with VAPID (RFC 8292). The token of a device is the JSON of its subscription. */
export const webPush = provider({
  label: 'Web Push',
  channels: ['push'],
  settings: Settings,
  check: faultsOf,
  repeatable: false,
  idempotent: false,
  atOnce: 50,
  send: (settings, message, outside) => pushTo('web_push', message, (device) => sendTo(settings, device, message, outside)),
  async test(settings) {
    const [fault] = faultsOf(settings)
    return fault ? { works: false, message: fault.message } : { works: true }
  },
})

/** There is no vendor to ask: the keys belong together, or they do not. */
function faultsOf({ public_key, private_key }: Settings): { param: string; message: string }[] {
  const pair = createECDH('prime256v1')
  try {
    pair.setPrivateKey(Buffer.from(private_key, 'base64url'))
    if (pair.getPublicKey().equals(Buffer.from(public_key, 'base64url'))) return []
  } catch {
    // No key at all.
  }
  return [{ param: 'private_key', message: 'Give `public_key` and `private_key` of one pair of VAPID keys, in URL-safe Base64.' }]
}

async function sendTo(settings: Settings, device: PushTarget, message: Outgoing, outside: ProviderTools): Promise<ProviderResponse> {
  const request = requestTo(settings, device, message)
  if (!request) return deadToken(device.token, 'The token is no subscription of a browser.')
  const outcome = await providerHttp.postMessage({
    outside,
    request,
    read: ({ status, headers, body }): ProviderResponse | null => {
      if (status === 404 || status === 410) return deadToken(device.token, providerHttp.excerptOf(body) || 'The subscription is gone.')
      return status < 300 ? providerHttp.accepted(headers.location) : null
    },
  })
  // An endpoint within our own network was never that of a push service.
  return outcome.is === 'deferred' && outcome.code === 'blocked' ? deadToken(device.token, outcome.reason) : outcome
}

/** Null when the token is no subscription that can be written to. */
function requestTo(
  { subject, public_key, private_key }: Settings,
  { token }: PushTarget,
  message: Outgoing,
): providerHttp.ProviderHttpRequest | null {
  const subscription = providerHttp.jsonOf(token) as Partial<PushSubscription>
  const { endpoint } = subscription
  if (typeof endpoint !== 'string' || !URL.canParse(endpoint) || !endpoint.startsWith('https://')) return null
  const payload = JSON.stringify(payloadOf(message))
  try {
    const { headers, body } = library.generateRequestDetails(subscription as PushSubscription, payload, {
      vapidDetails: { subject, publicKey: public_key, privateKey: private_key },
      TTL: TTL_S,
      // What is repeated replaces what waits.
      topic: createHash('sha256').update(message.key).digest('base64url').slice(0, TOPIC_LENGTH),
    })
    const { 'Content-Length': _, ...kept } = headers
    return { method: 'POST', url: endpoint, headers: mapValues(kept), body }
  } catch {
    return null
  }
}

const mapValues = (headers: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

/** What the service worker of the page reads. */
function payloadOf({ content }: Outgoing) {
  const { title, body, url, topic, custom } = content as PushContent
  return { title, body, ...filledOnly({ url, topic }), ...(custom && { custom }) }
}
