/** Signatures of webhook requests. */
import type { webhooks } from './api.ts'

/** An event as webhook endpoints get it. Its `type` tells which `data` it has. */
export type WebhookEvent = webhooks[keyof webhooks]['post']['requestBody']['content']['application/json']

export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>

export type VerifyOptions = {
  /** How far the time of the request may be from that of this machine. Default: 300 seconds. */
  toleranceS?: number
  /** For tests: milliseconds since 1970. */
  now?: () => number
  /** Web Crypto, where the platform has it elsewhere: `webcrypto` of `node:crypto` in Node 18. */
  crypto?: Pick<typeof globalThis.crypto, 'subtle'>
}

/** A webhook request that must be refused. */
export class WebhookError extends Error {
  /** `missing`: there is no signature. `expired`: the time is too far from that of this machine. `invalid`: no signature is valid. */
  readonly reason: 'missing' | 'expired' | 'invalid'

  constructor(reason: WebhookError['reason'], message: string) {
    super(message)
    this.name = 'WebhookError'
    this.reason = reason
  }
}

const HEADER = 'service-signature'
const TOLERANCE_S = 300

/**
 * Verifies the header `Service-Signature` of a request over its body as it was sent, before any parser, and returns the event. A request is
 * accepted with the signature of any of the secrets. Rejects with a `WebhookError`, and with another error if there is no secret or one is empty.
 */
export async function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { toleranceS = TOLERANCE_S, now = Date.now, crypto = globalThis.crypto }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const keys = [secrets].flat()
  // A variable that is not set must not become a key that everyone knows.
  if (keys.length === 0 || keys.some((secret) => !secret)) throw new Error('A secret of the webhook endpoint is missing or empty.')
  const header = headerOf(headers)
  if (header === undefined) throw new WebhookError('missing', 'The request has no header `Service-Signature`.')
  const { time, signatures } = partsOf(header)
  if (time === undefined) throw new WebhookError('invalid', 'The header `Service-Signature` has no time.')
  if (!(Math.abs(Math.floor(now() / 1000) - Number(time)) <= toleranceS)) {
    throw new WebhookError('expired', 'The time of the request is too far from the time of this machine.')
  }
  const body = typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : rawBody
  const signed = concatenated(new TextEncoder().encode(`${time}.`), body)
  const expected = await Promise.all(keys.map((secret) => hmacOf(crypto.subtle, secret, signed)))
  const isValid = expected.some((one) => signatures.some((signature) => isSame(signature, one)))
  if (!isValid) throw new WebhookError('invalid', 'The signature is not valid for this body and these secrets.')
  return JSON.parse(new TextDecoder().decode(body)) as WebhookEvent
}

function headerOf(headers: WebhookHeaders): string | undefined {
  if (typeof headers.get === 'function') return (headers as Headers).get(HEADER) ?? undefined
  const [, value] = Object.entries(headers as Exclude<WebhookHeaders, Headers>).find(([name]) => name.toLowerCase() === HEADER) ?? []
  return Array.isArray(value) ? value.join(',') : value
}

/** The time, undefined if it is not digits, and the signatures in hex. */
function partsOf(header: string): { time: string | undefined; signatures: string[] } {
  const parts = header.split(',').map((part) => part.trim())
  const [time] = parts.flatMap((part) => /^t=(\d{1,12})$/.exec(part)?.[1] ?? [])
  return { time, signatures: parts.flatMap((part) => /^v1=([0-9a-f]{64})$/.exec(part)?.[1] ?? []) }
}

function concatenated(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(first.length + second.length)
  whole.set(first)
  whole.set(second, first.length)
  return whole
}

/** The HMAC-SHA256 in hex, with the whole secret as key. */
async function hmacOf(subtle: typeof globalThis.crypto.subtle, secret: string, signed: Uint8Array<ArrayBuffer>): Promise<string> {
  const key = await subtle.importKey('raw', new TextEncoder().encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return Array.from(new Uint8Array(await subtle.sign('HMAC', key, signed)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Compares all characters, so that the time tells nothing about where two texts differ. */
function isSame(one: string, other: string): boolean {
  let difference = one.length ^ other.length
  for (let at = 0; at < one.length; at++) difference |= one.charCodeAt(at) ^ other.charCodeAt(at)
  return difference === 0
}
