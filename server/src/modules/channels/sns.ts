/** Verifies and reads requests of Amazon SNS, which delivers the reports of SES. */
import { createVerify, X509Certificate } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { HOUR_MS } from '../../lib/times.ts'
import type { Callback, ProviderTools } from './provider.ts'
import * as providerHttp from './provider-http.ts'

/** SNS repeats a request for an hour at most, as long as it is answered with 429 or 5xx, or not at all. The rest is for clocks that differ. */
const AGE_MS_MAX = 12 * HOUR_MS
const CERTIFICATES_MAX = 50
const CERTIFICATE_BYTES_MAX = 16_384

/** The signed members, in order; those that are missing are left out. */
const SIGNED: Record<string, string[]> = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
}
const DIGESTS: Record<string, string> = { '1': 'RSA-SHA1', '2': 'RSA-SHA256' }

/** A request that cannot be verified at the moment. If it is answered with 503, SNS repeats it. */
export const UNAVAILABLE = 'unavailable'

/** A verified request. */
export type Notice = { type: string; message: string; subscribeUrl: string }

/**
 * Returns the request if it is about the topic and SNS signed it recently, null if not, and `UNAVAILABLE` if its certificate cannot be fetched at
 * the moment. The certificate is fetched from SNS over TLS, and cached by its URL, which identifies its content.
 */
export async function readNotice(
  topic: string,
  callback: Callback,
  outside: Pick<ProviderTools, 'fetch' | 'clock'>,
): Promise<Notice | null | typeof UNAVAILABLE> {
  const json = providerHttp.jsonOf(callback.body.toString('utf8'))
  const {
    Type = '',
    TopicArn,
    Timestamp = '',
    SignatureVersion = '',
    Signature = '',
    SigningCertURL = '',
    Message = '',
    SubscribeURL = '',
  } = texts(json)
  const signed = Object.hasOwn(SIGNED, Type) ? SIGNED[Type] : undefined
  const digest = Object.hasOwn(DIGESTS, SignatureVersion) ? DIGESTS[SignatureVersion] : undefined
  const now = outside.clock.now()
  const isRecent = Math.abs(now.getTime() - Date.parse(Timestamp)) <= AGE_MS_MAX
  if (!signed || !digest || TopicArn !== topic || !isRecent || !isOfSns(SigningCertURL)) return null
  const certificate = await certificateAt(SigningCertURL, outside)
  if (certificate === UNAVAILABLE) return UNAVAILABLE
  if (!certificate || certificate.validToDate < now || certificate.validFromDate > now) return null
  const members = signed.filter((name) => typeof json[name] === 'string')
  const verifier = createVerify(digest).update(members.map((name) => `${name}\n${json[name]}\n`).join(''))
  return verifier.verify(certificate.publicKey, Signature, 'base64') ? { type: Type, message: Message, subscribeUrl: SubscribeURL } : null
}

/** Confirms the subscription to the topic. Returns whether it succeeded. */
export async function confirm({ subscribeUrl }: Notice, { fetch }: Pick<ProviderTools, 'fetch'>): Promise<boolean> {
  if (!isOfSns(subscribeUrl)) return false
  const response = await providerHttp.callProvider({ fetch }, { method: 'GET', url: subscribeUrl })
  return response.is === 'answered' && response.status === 200
}

const texts = (json: providerHttp.Json): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(json).filter(([, value]) => typeof value === 'string')) as Record<string, string>

/** Is this a URL of SNS? Without this check, a request could be signed with any certificate. */
function isOfSns(address: string): boolean {
  if (!URL.canParse(address)) return false
  const { protocol, host, username, password } = new URL(address)
  return protocol === 'https:' && username === '' && password === '' && /^sns\.[a-z0-9-]+\.amazonaws\.com(\.cn)?$/.test(host)
}

const certificates = new LRUCache<string, X509Certificate>({ max: CERTIFICATES_MAX })

async function certificateAt(url: string, outside: Pick<ProviderTools, 'fetch'>): Promise<X509Certificate | null | typeof UNAVAILABLE> {
  const known = certificates.get(url)
  if (known) return known
  const response = await providerHttp.callProvider(outside, { method: 'GET', url })
  if (response.is === 'failed' || response.status === 429 || response.status >= 500) return UNAVAILABLE
  if (response.status !== 200 || response.body.length > CERTIFICATE_BYTES_MAX) return null
  try {
    const certificate = new X509Certificate(response.body)
    certificates.set(url, certificate)
    return certificate
  } catch {
    return null
  }
}
