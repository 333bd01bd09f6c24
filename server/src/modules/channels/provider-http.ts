/** Shared by the providers with an HTTP API: limits, network errors, and the meaning of statuses. */
import { timingSafeEqual } from 'node:crypto'
import type { Answered, Failed, SafeRequest, SafeResponse } from '../../infra/outgoing/safe-fetch.ts'
import type { MessageId } from '../../lib/ids.ts'
import { DAY_MS } from '../../lib/times.ts'
import { filledOnly } from './channel.ts'
import type { Callback, CallbackReading, Provider, ProviderResponse, ProviderTools, Report } from './provider.ts'

const TIMEOUT_MS = 15_000
const CONNECT_TIMEOUT_MS = 5000
const RESPONSE_BYTES_MAX = 65_536
const RETRY_AFTER_MS_MAX = DAY_MS
const TOLERANCE_S = 300

export type ProviderHttpRequest = Pick<SafeRequest, 'method' | 'url' | 'headers' | 'body' | 'http2'>

/** Sends a request to a provider, with the common limits. */
export const callProvider = (outside: Pick<ProviderTools, 'fetch'>, request: ProviderHttpRequest): Promise<SafeResponse> =>
  outside.fetch.request({
    ...request,
    timeoutMs: TIMEOUT_MS,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    responseBytesMax: RESPONSE_BYTES_MAX,
  })

/** A response of a provider with its JSON, which is empty if it cannot be parsed. */
export type ProviderHttpResponse = Answered & { json: Json }

export type Json = Record<string, unknown>

type SendRequest = {
  outside: ProviderTools
  request: ProviderHttpRequest
  /** Does the provider accept each key only once? If so, an uncertain attempt can be repeated. */
  isIdempotent?: boolean
  /** Interprets the provider’s own error codes. Null if the status is enough. */
  read(answer: ProviderHttpResponse): ProviderResponse | null
}

/** Sends a message with one request. Failures are returned as responses too. */
export async function postMessage({ outside, request, isIdempotent = false, read }: SendRequest): Promise<ProviderResponse> {
  const response = await callProvider(outside, request)
  if (response.is === 'failed') return failureOf(response, isIdempotent)
  const answer = { ...response, json: jsonOf(response.body) }
  const outcome = read(answer) ?? byStatus(answer, outside.clock.now(), isIdempotent)
  if (!('reason' in outcome)) return outcome
  const reason = excerptOf(outcome.reason)
  return 'code' in outcome && outcome.code !== undefined ? { ...outcome, reason, code: excerptOf(outcome.code) } : { ...outcome, reason }
}

/** The response for a network error. After one on an established connection, the request may have arrived. */
export function failureOf({ reason, message, isUnsent }: Failed, isIdempotent: boolean): ProviderResponse {
  if (isUnsent) return { is: 'deferred', reason: message, code: reason }
  return isIdempotent ? { is: 'deferred', reason: message, code: reason, isUncertain: true } : { is: 'uncertain', reason: message }
}

/**
 * The response for a status without a known error code. Problems with credentials, payment or a suspended account are deferred, so that messages
 * are sent once the account is fixed; a provider that uses 403 for a message or its sender knows the code. What a gateway says of itself leaves open whether the request has arrived (D-MSG-10).
 */
export function byStatus({ status, headers, body }: Answered, now: Date, isIdempotent: boolean): ProviderResponse {
  const reason = messageOf(jsonOf(body)) ?? (excerptOf(body) || `The provider responded with status ${status}.`)
  const code = String(status)
  if (status >= 200 && status < 300) return { is: 'accepted', delivered: false }
  if (OF_GATEWAY.includes(status)) return isIdempotent ? { is: 'deferred', reason, code, isUncertain: true } : { is: 'uncertain', reason }
  if (status >= 500 || isRedirect(status) || [401, 402, 403, 408, 425, 429].includes(status))
    return { is: 'deferred', reason, code, ...retryAt(headers, now) }
  return { is: 'rejected', reason, code }
}

/** No or no valid response, or none in time (RFC 9110); 520 and 524 are those of Cloudflare. */
const OF_GATEWAY = [502, 504, 520, 524]

/** It is not followed, and says nothing about the message: an API that moves or is down redirects all requests. */
const isRedirect = (status: number) => status >= 300 && status < 400

/** The provider has accepted the message, perhaps with its own reference. */
export const accepted = (reference: unknown): ProviderResponse => ({
  is: 'accepted',
  delivered: false,
  ...details({ reference }),
})

/** `retryAt` of a deferral, from the Retry-After header (RFC 9110, 10.2.3). */
export function retryAt(headers: Answered['headers'], now: Date): { retryAt?: Date } {
  const header = headers['retry-after']
  if (typeof header !== 'string') return {}
  const waitMs = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now.getTime()
  return waitMs > 0 ? { retryAt: new Date(now.getTime() + Math.min(waitMs, RETRY_AFTER_MS_MAX)) } : {}
}

const EXCERPT_LENGTH = 300

/** The beginning of a provider’s text, as one line that can be stored. */
export const excerptOf = (text: string): string =>
  text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, EXCERPT_LENGTH)
    .toWellFormed()

/** Parses a JSON object. Returns an empty object if the text is not one. */
export function jsonOf(text: string): Json {
  try {
    return asJson(JSON.parse(text))
  } catch {
    return {}
  }
}

/** The error message, from the members in which providers usually have it. */
function messageOf(json: Json): string | undefined {
  const [error, first] = [asJson(json.error), asJson(Array.isArray(json.errors) ? json.errors[0] : undefined)]
  const candidates = [json.message, json.detail, json.title, json.error, error.message, first.detail, first.description, first.message]
  return candidates.map(textOf).find((text) => text !== undefined && text.trim() !== '')
}

/** The value if it is an object, or else an empty object. */
export const asJson = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})

/** A string or number as text; undefined for other values. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined

/** The `Authorization` header of HTTP basic authentication. */
export const basic = (name: string, password: string): string => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`

/** Tests credentials with a request that sends no message. */
export async function checkCredentials(outside: ProviderTools, request: ProviderHttpRequest): ReturnType<Provider['test']> {
  const response = await callProvider(outside, request)
  if (response.is === 'failed') return { works: false, message: response.message }
  if (response.status >= 200 && response.status < 300) return { works: true }
  const excerpt = excerptOf(response.body)
  return { works: false, message: `The provider responded with status ${response.status}${excerpt === '' ? '.' : `: ${excerpt}`}` }
}

export const UNVERIFIED: CallbackReading = { is: 'unverified' }

/** A header with one value. */
export const headerOf = ({ headers }: Callback, name: string): string | undefined => textOf(headers[name])

/** What a provider says in a form, or in the query if it is configured to call with GET. The signature is over the URL and the form. */
export const valuesOf = ({ body, query }: Callback, form: URLSearchParams): URLSearchParams => (body.length === 0 ? query : form)

/** Compares in constant time. */
export function isSame(given: string | Buffer, expected: string | Buffer): boolean {
  const [one, other] = [Buffer.from(given as string), Buffer.from(expected as string)]
  return one.length === other.length && timingSafeEqual(one, other)
}

/** Is this time, in Unix seconds, at most five minutes from now? */
export const isRecent = (seconds: string, now: Date): boolean =>
  /^\d{1,12}$/.test(seconds) && Math.abs(now.getTime() / 1000 - Number(seconds)) <= TOLERANCE_S

/** The further members of a report, without empty ones. */
export const details = (fields: { [K in 'address' | 'reference' | 'code' | 'diagnostic']?: unknown }) =>
  filledOnly({
    address: excerptOf(textOf(fields.address) ?? ''),
    reference: excerptOf(textOf(fields.reference) ?? ''),
    code: excerptOf(textOf(fields.code) ?? ''),
    diagnostic: excerptOf(textOf(fields.diagnostic) ?? ''),
  })

/** A report about a message from a user. */
export const received = (at: Date, text: string, fields: { address: string | undefined; reference: unknown }): Report => ({
  what: 'received',
  at,
  text: text.replaceAll('\0', ''),
  ...details(fields),
})

/** The values of a form by name, sorted by name. Names are what a stranger sent: `getAll` would search the whole form for each of them. */
export function valuesByName(form: URLSearchParams): [string, string[]][] {
  const byName = Map.groupBy(form, ([name]) => name)
  return [...byName.keys()].sort().map((name) => [name, (byName.get(name) ?? []).map(([, value]) => value)])
}

/** Our message id, from text that the provider returned. */
export function messageIdOf(text: string | null | undefined): { messageId?: MessageId } {
  return text && /^[1-9]\d{0,15}$/.test(text) ? { messageId: Number(text) as MessageId } : {}
}

/** Parses the time of a report. Returns the current time if it is invalid. */
export function instantOf(text: string | undefined, now: Date): Date {
  const time = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(time) ? now : new Date(time)
}

/** Escapes text for XML, without characters that XML does not allow. */
export const xmlOf = (text: string): string =>
  text
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')

/** Adds the `+` that some providers omit from phone numbers. */
export const withPlus = (number: string): string => (/^[1-9]\d{6,14}$/.test(number) ? `+${number}` : number)
