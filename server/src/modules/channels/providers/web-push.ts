import { createECDH, createHash } from 'node:crypto'
import type { Static } from 'typebox'
import library, { type PushSubscription } from 'web-push'
import { isAddress, isAllowedPort } from '../../../lib/egress.ts'
import { Exact, Line } from '../../../lib/shapes.ts'
import { DAY_S } from '../../../lib/times.ts'
import { filledOnly } from '../channel.ts'
import { type Outgoing, type ProviderResponse, type ProviderTools, type PushTarget, provider } from '../provider.ts'
import * as providerHttp from '../provider-http.ts'
import type { PushContent } from '../push.ts'
import { deadToken, sendToDevices } from '../send-to-devices.ts'

const Settings = Exact({
  subject: Line(255, {
    title: 'Contact',
    pattern: '^(mailto:|https://)',
    description: 'A `mailto:` or `https://` address for push services.',
  }),
  public_key: Line(128, { title: 'Public VAPID key', description: 'The key with which the website subscribes, in URL-safe Base64.' }),
  private_key: Line(64, { title: 'Private VAPID key', writeOnly: true }),
})
type Settings = Static<typeof Settings>

/** How long a push service keeps a message while the browser is closed. */
const TTL_S = 28 * DAY_S
/** The maximum length of a Topic (RFC 8030, 5.4). */
const TOPIC_LENGTH = 32
const PUBLIC_KEY_BYTES = 65
const PRIVATE_KEY_BYTES = 32

/** Web Push (RFC 8030) to browsers, encrypted (RFC 8291), with VAPID (RFC 8292). A device token is the JSON of a subscription. */
export const webPush = provider({
  label: 'Web Push',
  channels: ['push'],
  devices: { tokens: /^\{/, systems: /^web/i },
  settings: Settings,
  check: faultsOf,
  repeatable: false,
  idempotent: false,
  atOnce: 50,
  send: (settings, message, outside) => sendToDevices(message, (device) => sendTo(settings, device, message, outside)),
  async test(settings) {
    const [fault] = faultsOf(settings)
    return fault ? { works: false, message: fault.message } : { works: true }
  },
})

/** Checks that the keys are a pair, and the contact a URL. There is no account to test. */
function faultsOf({ subject, public_key, private_key }: Settings): { param: string; message: string }[] {
  return [
    ...(isPair(public_key, private_key)
      ? []
      : [{ param: 'private_key', message: 'Set `public_key` and `private_key` to a pair of VAPID keys, in URL-safe Base64.' }]),
    ...(URL.canParse(subject) ? [] : [{ param: 'subject', message: 'Write `subject` as a valid `mailto:` or `https://` address.' }]),
  ]
}

function isPair(publicKey: string, privateKey: string): boolean {
  const pair = createECDH('prime256v1')
  try {
    pair.setPrivateKey(Buffer.from(privateKey, 'base64url'))
    return pair.getPublicKey().equals(Buffer.from(publicKey, 'base64url'))
  } catch {
    return false
  }
}

async function sendTo(settings: Settings, device: PushTarget, message: Outgoing, outside: ProviderTools): Promise<ProviderResponse> {
  const request = requestTo(settings, device, message)
  if (!request) return withoutRequest(settings, device)
  const outcome = await providerHttp.postMessage({
    outside,
    request,
    read: ({ status, headers, body }): ProviderResponse | null => {
      if (status === 404 || status === 410)
        return deadToken(device.token, providerHttp.excerptOf(body) || 'The subscription no longer exists.')
      // The subscription is of other keys.
      if (status === 403)
        return { is: 'rejected', reason: providerHttp.excerptOf(body) || 'The keys are not those of the subscription.', code: '403' }
      return status < 300 ? providerHttp.accepted(headers.location) : null
    },
  })
  const isBlocked = outcome.is === 'deferred' && outcome.code === 'blocked'
  return isBlocked && !canBePublic(request) ? deadToken(device.token, outcome.reason) : outcome
}

/**
 * Whether a push service to which a connection is not allowed can have a public address: a name may have a private one while a name server gives a
 * false answer. An address, a port and a name of this machine (RFC 6761) stay as they are.
 */
function canBePublic(request: providerHttp.ProviderHttpRequest): boolean {
  const url = new URL(request.url)
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  return isAllowedPort(url) && !isAddress(host) && host !== 'localhost' && !host.endsWith('.localhost')
}

/** A token is only dead if the settings are valid. They may have been saved when less was checked. */
function withoutRequest(settings: Settings, { token }: PushTarget): ProviderResponse {
  const [fault] = faultsOf(settings)
  return fault ? { is: 'deferred', reason: fault.message } : deadToken(token, 'The token is not a browser subscription.')
}

/** Null if the token is not a valid subscription, or the settings are not valid. */
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
      vapidDetails: {
        subject,
        publicKey: inLibraryForm(public_key, PUBLIC_KEY_BYTES),
        privateKey: inLibraryForm(private_key, PRIVATE_KEY_BYTES),
      },
      TTL: TTL_S,
      // A repeated message replaces a pending one.
      topic: createHash('sha256').update(message.key).digest('base64url').slice(0, TOPIC_LENGTH),
    })
    const { 'Content-Length': _, ...kept } = headers
    return { method: 'POST', url: endpoint, headers: mapValues(kept), body }
  } catch {
    return null
  }
}

/** The library accepts only URL-safe Base64 without padding, and keys of full length. Other tools leave out zeros at the start. */
const inLibraryForm = (key: string, bytes: number): string =>
  Buffer.concat([Buffer.alloc(bytes), Buffer.from(key, 'base64url')])
    .subarray(-bytes)
    .toString('base64url')

const mapValues = (headers: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

/** The payload for the website’s service worker. */
function payloadOf({ content }: Outgoing) {
  const { title, body, url, topic, custom } = content as PushContent
  return { title, body, ...filledOnly({ url, topic }), ...(custom && { custom }) }
}
