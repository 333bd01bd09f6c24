import { createPrivateKey, type KeyObject } from 'node:crypto'
import { SignJWT } from 'jose'
import type { Static } from 'typebox'
import { Exact, Line } from '../../../lib/shapes.ts'
import { cacheAccessTokens, type Issued } from '../access-tokens.ts'
import { filledOnly } from '../channel.ts'
import { type Outgoing, type ProviderResponse, type ProviderTools, type PushTarget, provider } from '../provider.ts'
import * as providerHttp from '../provider-http.ts'
import type { PushContent } from '../push.ts'
import { deadToken, sendToDevices } from '../send-to-devices.ts'

const Settings = Exact({
  service_account: Line(8192, {
    title: 'Service account',
    writeOnly: true,
    description: 'The content of the service account’s key file, as JSON.',
  }),
})
type Settings = Static<typeof Settings>

type Account = { projectId: string; email: string; tokenUrl: string; key: KeyObject }

const SCOPE = 'https://www.googleapis.com/auth/firebase.messaging'
const ASSERTION_S = 3600
/** Tokens are replaced before they expire, so that none expires during a request. */
const SPARE_S = 300

const tokens = cacheAccessTokens<Extract<ProviderResponse, { is: 'deferred' }>>()

/** Firebase Cloud Messaging (HTTP v1), with a service account. */
export const fcm = provider({
  label: 'Firebase Cloud Messaging',
  channels: ['push'],
  devices: { tokens: /^[\w-]+:[\w-]{40,}$/, systems: /^android/i },
  settings: Settings,
  check: ({ service_account }) =>
    accountOf(service_account)
      ? []
      : [{ param: 'service_account', message: 'Paste the whole JSON key file of a service account into `service_account`.' }],
  repeatable: false,
  idempotent: false,
  atOnce: 50,
  send: (settings, message, outside) => sendToDevices(message, (device) => sendTo(settings, device, message, outside)),
  async test(settings, outside) {
    const request = await requestWith(settings, { validate_only: true, message: { topic: 'connection-test' } }, outside)
    return 'is' in request ? { works: false, message: request.reason } : providerHttp.checkCredentials(outside, request)
  },
})

async function sendTo(settings: Settings, device: PushTarget, message: Outgoing, outside: ProviderTools): Promise<ProviderResponse> {
  const request = await requestWith(settings, { message: { token: device.token, ...messageOf(message) } }, outside)
  if ('is' in request) return request
  return providerHttp.postMessage({
    outside,
    request,
    read: ({ status, headers, json }): ProviderResponse | null => {
      if (status === 200) return providerHttp.accepted(json.name)
      const { code, reason } = errorOf(json)
      if (status === 401) tokens.forget([settings.service_account])
      if (code === undefined) return null
      if (code === 'UNREGISTERED' || (code === 'INVALID_ARGUMENT' && /registration token/i.test(reason))) {
        return deadToken(device.token, reason)
      }
      // Without the code of FCM, it is the project that is not found.
      const isLater = status === 429 || status === 401 || code === 'NOT_FOUND' || (status === 403 && code !== 'SENDER_ID_MISMATCH')
      if (isLater) return { is: 'deferred', reason, code, ...providerHttp.retryAt(headers, outside.clock.now()) }
      return status < 500 ? { is: 'rejected', reason, code } : null
    },
  })
}

/** With `tag`, a repeated message replaces the first. `collapse_key` is not used, because only four can be pending per device. */
function messageOf({ key, content }: Outgoing) {
  const { title, body, url, topic, custom } = content as PushContent
  const data = Object.entries({ ...custom, ...filledOnly({ url, topic }) })
  return {
    notification: { title, body },
    data: Object.fromEntries(data.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)])),
    android: { priority: 'HIGH', notification: { tag: key } },
    apns: { headers: { 'apns-collapse-id': key }, payload: { aps: { sound: 'default' } } },
  }
}

/** The error code of FCM, or else the canonical one, and the message. Without a code, the response is not from FCM. */
function errorOf(json: providerHttp.Json): { code: string | undefined; reason: string } {
  const { status, message, details } = providerHttp.asJson(json.error)
  const codes = (Array.isArray(details) ? details : []).map((detail) => providerHttp.textOf(providerHttp.asJson(detail).errorCode))
  return { code: codes.find((code) => code !== undefined) ?? providerHttp.textOf(status), reason: providerHttp.textOf(message) ?? '' }
}

type Request = providerHttp.ProviderHttpRequest

async function requestWith(
  { service_account }: Settings,
  body: object,
  outside: ProviderTools,
): Promise<Request | Extract<ProviderResponse, { is: 'deferred' }>> {
  const account = accountOf(service_account)
  if (!account) throw new Error('The service account is invalid, although it was checked when it was saved.')
  const now = outside.clock.now()
  const issued = await tokens.get([service_account], now, () => fetchToken(account, now, outside))
  if ('is' in issued) return issued
  return {
    method: 'POST',
    url: `https://fcm.googleapis.com/v1/projects/${encodeURIComponent(account.projectId)}/messages:send`,
    headers: { authorization: `Bearer ${issued.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    http2: true,
  }
}

/** Fetches an access token for a signed assertion (RFC 7523). Failures are deferred, because the message was not sent yet. */
async function fetchToken(
  { email, tokenUrl, key }: Account,
  now: Date,
  outside: ProviderTools,
): Promise<Issued | Extract<ProviderResponse, { is: 'deferred' }>> {
  const seconds = Math.floor(now.getTime() / 1000)
  const assertion = await new SignJWT({ scope: SCOPE })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
    .setIssuer(email)
    .setAudience(tokenUrl)
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + ASSERTION_S)
    .sign(key)
  const response = await providerHttp.callProvider(outside, {
    method: 'POST',
    url: tokenUrl,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: String(new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion })),
  })
  if (response.is === 'failed') return { is: 'deferred', reason: response.message, code: response.reason }
  const { access_token, expires_in, error_description, error } = providerHttp.jsonOf(response.body)
  if (response.status === 200 && typeof access_token === 'string') {
    const seconds = typeof expires_in === 'number' ? expires_in : ASSERTION_S
    return { token: access_token, forMs: Math.max(0, seconds - SPARE_S) * 1000 }
  }
  const detail = providerHttp.textOf(error_description) ?? providerHttp.textOf(error) ?? `status ${response.status}`
  return {
    is: 'deferred',
    reason: `Google issued no access token: ${providerHttp.excerptOf(detail).replace(/\.$/, '')}.`,
    code: String(response.status),
    ...providerHttp.retryAt(response.headers, now),
  }
}

/** The needed members of a key file; null if one is missing. */
function accountOf(json: string): Account | null {
  const { project_id, client_email, private_key, token_uri } = providerHttp.jsonOf(json)
  if (typeof project_id !== 'string' || typeof client_email !== 'string' || typeof private_key !== 'string') return null
  const tokenUrl = typeof token_uri === 'string' ? token_uri : 'https://oauth2.googleapis.com/token'
  if (!URL.canParse(tokenUrl) || !tokenUrl.startsWith('https://')) return null
  try {
    const key = createPrivateKey(private_key)
    return key.asymmetricKeyType === 'rsa' ? { projectId: project_id, email: client_email, tokenUrl, key } : null
  } catch {
    return null
  }
}
