/** Signatures of webhook requests (D-WH-SIG-1): our own header, and the three headers of Standard Webhooks 1.0. */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'

const TOLERANCE_S = 300

const STANDARD_SECRET = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/

/** The key of Standard Webhooks: the decoded text after `whsec_`, or else the secret itself. */
function standardKey(secret: string): KeyObject {
  const encoded = STANDARD_SECRET.exec(secret)?.[1]
  return createSecretKey(encoded ? Buffer.from(encoded, 'base64') : Buffer.from(secret))
}

const ourKey = (secret: string) => createSecretKey(Buffer.from(secret))

const hmac = (key: KeyObject, text: string) => createHmac('sha256', key).update(text)

const unixSeconds = (instant: Date) => Math.floor(instant.getTime() / 1000)

/** Creates the headers of one request. */
export type Signer = (eventId: string, body: string, now: Date) => Record<string, string>

/** Signs with every valid secret. `secrets` are in order, newest first. */
export function signer(secrets: readonly string[]): Signer {
  const keys = secrets.map((secret) => ({ ours: ourKey(secret), standard: standardKey(secret) }))
  return (eventId, body, now) => {
    const t = unixSeconds(now)
    const ours = keys.map((key) => `v1=${hmac(key.ours, `${t}.${body}`).digest('hex')}`)
    const standard = keys.map((key) => `v1,${hmac(key.standard, `${eventId}.${t}.${body}`).digest('base64')}`)
    return {
      'service-signature': [`t=${t}`, ...ours].join(','),
      'webhook-id': eventId,
      'webhook-timestamp': String(t),
      'webhook-signature': standard.join(' '),
    }
  }
}

/** Checks a `Service-Signature` header. False if the signature does not match the body, or is more than five minutes old. */
export function verifySignature(header: string, body: string, secret: string, now: Date): boolean {
  const parts = header.split(',')
  const t = parts.find((part) => part.startsWith('t='))?.slice(2) ?? ''
  if (!/^\d{1,12}$/.test(t) || Math.abs(unixSeconds(now) - Number(t)) > TOLERANCE_S) return false
  const expected = hmac(ourKey(secret), `${t}.${body}`).digest()
  const given = parts.filter((part) => /^v1=[0-9a-f]{64}$/.test(part)).map((part) => Buffer.from(part.slice(3), 'hex'))
  return given.some((signature) => timingSafeEqual(signature, expected))
}
