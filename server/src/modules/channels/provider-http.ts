/** What the HTTP interfaces of vendors have in common: limits, trouble of the line, and what a status means by itself. */
import { timingSafeEqual } from 'node:crypto'
import type { Answered, FailureReason, SafeRequest, SafeResponse } from '../../infra/outgoing/safe-fetch.ts'
import type { MessageId } from '../../lib/ids.ts'
import { filledOnly } from './channel.ts'
import type { Callback, CallbackReading, Provider, ProviderResponse, ProviderTools, Report } from './provider.ts'

const TIMEOUT_MS = 15_000
const CONNECT_TIMEOUT_MS = 5000
const RESPONSE_BYTES_MAX = 65_536
const RETRY_AFTER_MS_MAX = 86_400_000
const TOLERANCE_S = 300

export type ProviderHttpRequest = Pick<SafeRequest, 'method' | 'url' | 'headers' | 'body' | 'http2'>

/** One request to a vendor, within the limits that all of them have. */
export const callProvider = (outside: Pick<ProviderTools, 'fetch'>, request: ProviderHttpRequest): Promise<SafeResponse> =>
  outside.fetch.request({
    ...request,
    timeoutMs: TIMEOUT_MS,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    responseBytesMax: RESPONSE_BYTES_MAX,
  })

/** An answer of a vendor with its JSON, which is empty when there is none that can be read. */
export type ProviderHttpResponse = Answered & { json: Json }

export type Json = Record<string, unknown>

type Handover = {
  outside: ProviderTools
  request: ProviderHttpRequest
  /** Does the vendor know the key of the message? Then one in doubt may be repeated. */
  isIdempotent?: boolean
  /** What the vendor's own words mean; null when its status says it all. */
  read(answer: ProviderHttpResponse): ProviderResponse | null
}

/** Hands a message over with one request. Whatever happens is an outcome. */
export async function postMessage({ outside, request, isIdempotent = false, read }: Handover): Promise<ProviderResponse> {
  const response = await callProvider(outside, request)
  if (response.is === 'failed') return failureOf(response, isIdempotent)
  const answer = { ...response, json: jsonOf(response.body) }
  const outcome = read(answer) ?? byStatus(answer, outside.clock.now(), isIdempotent)
  return 'reason' in outcome ? { ...outcome, reason: excerptOf(outcome.reason) } : outcome
}

/** Trouble in which nothing can have arrived. */
const NOTHING_SENT: readonly FailureReason[] = ['refused', 'dns', 'tls', 'blocked']

/** What trouble of the line means for a message. */
export function failureOf({ reason, message }: Extract<SafeResponse, { is: 'failed' }>, isIdempotent: boolean): ProviderResponse {
  return isIdempotent || NOTHING_SENT.includes(reason)
    ? { is: 'deferred', reason: message, code: reason }
    : { is: 'uncertain', reason: message }
}

/**
 * What a status means when nothing else is known. Credentials and money are the account's trouble and no message's: whoever
 * mends them wants what has waited to go out. A gateway that gave up waiting (504) may have handed the request on.
 */
export function byStatus({ status, headers, body }: Answered, now: Date, isIdempotent: boolean): ProviderResponse {
  const reason = wordsOf(jsonOf(body)) ?? (excerptOf(body) || `The provider answered with status ${status}.`)
  const code = String(status)
  if (status >= 200 && status < 300) return { is: 'accepted', delivered: false }
  if (status === 504 && !isIdempotent) return { is: 'uncertain', reason }
  if (status >= 500 || [401, 402, 408, 425, 429].includes(status)) return { is: 'deferred', reason, code, ...retryAt(headers, now) }
  return { is: 'rejected', reason, code }
}

/** The vendor has it, under a reference of its own if it gave one. */
export const accepted = (reference: unknown): ProviderResponse => ({
  is: 'accepted',
  delivered: false,
  ...details({ reference }),
})

/** The member `retryAt` of a deferral, when the header Retry-After asks for it (RFC 9110, 10.2.3). */
export function retryAt(headers: Answered['headers'], now: Date): { retryAt?: Date } {
  const header = headers['retry-after']
  if (typeof header !== 'string') return {}
  const waitMs = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now.getTime()
  return waitMs > 0 ? { retryAt: new Date(now.getTime() + Math.min(waitMs, RETRY_AFTER_MS_MAX)) } : {}
}

const EXCERPT_LENGTH = 300

/** The beginning of what a vendor wrote, as one line that can be stored. */
export const excerptOf = (text: string): string =>
  text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, EXCERPT_LENGTH)

/** An object out of JSON; empty when the text is none. */
export function jsonOf(text: string): Json {
  try {
    return asJson(JSON.parse(text))
  } catch {
    return {}
  }
}

/** What went wrong, wherever vendors are used to say it; undefined when none of these places holds words. */
function wordsOf(json: Json): string | undefined {
  const [error, first] = [asJson(json.error), asJson(Array.isArray(json.errors) ? json.errors[0] : undefined)]
  const places = [json.message, json.detail, json.title, json.error, error.message, first.detail, first.description, first.message]
  return places.map(textOf).find((words) => words !== undefined && words.trim() !== '')
}

/** What may be looked into without asking first. */
export const asJson = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})

/** A member as text; undefined when it is neither text nor a number. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined

/** The header `Authorization` of HTTP basic authentication. */
export const basic = (name: string, password: string): string => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`

/** Are the credentials good? By a request that costs nothing and sends nothing. */
export async function checkCredentials(outside: ProviderTools, request: ProviderHttpRequest): ReturnType<Provider['test']> {
  const response = await callProvider(outside, request)
  if (response.is === 'failed') return { works: false, message: response.message }
  if (response.status >= 200 && response.status < 300) return { works: true }
  const said = excerptOf(response.body)
  return { works: false, message: `The provider answered with status ${response.status}${said === '' ? '.' : `: ${said}`}` }
}

export const UNVERIFIED: CallbackReading = { is: 'unverified' }

/** A header that came once. */
export const headerOf = ({ headers }: Callback, name: string): string | undefined => textOf(headers[name])

/** Are they the same, without telling by the time it takes where they differ? */
export function isSame(given: string | Buffer, expected: string | Buffer): boolean {
  const [one, other] = [Buffer.from(given as string), Buffer.from(expected as string)]
  return one.length === other.length && timingSafeEqual(one, other)
}

/** Is a time in Unix seconds, as text, at most five minutes away? */
export const isRecent = (seconds: string, now: Date): boolean =>
  /^\d{1,12}$/.test(seconds) && Math.abs(now.getTime() / 1000 - Number(seconds)) <= TOLERANCE_S

/** What a vendor tells of a message beside what became of it, without what it left empty. */
export const details = (said: { [K in 'address' | 'reference' | 'code' | 'diagnostic']?: unknown }) =>
  filledOnly({
    address: excerptOf(textOf(said.address) ?? ''),
    reference: excerptOf(textOf(said.reference) ?? ''),
    code: excerptOf(textOf(said.code) ?? ''),
    diagnostic: excerptOf(textOf(said.diagnostic) ?? ''),
  })

/** A message from a person. */
export const received = (at: Date, text: string, said: { address: string | undefined; reference: unknown }): Report => ({
  what: 'received',
  at,
  text: text.replaceAll('\0', ''),
  ...details(said),
})

/** Our id out of what a vendor gives back. */
export function messageIdOf(text: string | null | undefined): { messageId?: MessageId } {
  return text && /^[1-9]\d{0,15}$/.test(text) ? { messageId: Number(text) as MessageId } : {}
}

/** When something happened, as a vendor writes it; now when that cannot be read. */
export function instantOf(text: string | undefined, now: Date): Date {
  const time = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(time) ? now : new Date(time)
}

/** Text inside of XML. What XML cannot hold is left out. */
export const xmlOf = (text: string): string =>
  text
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')

/** A number with its `+`, as vendors leave it away. */
export const withPlus = (number: string): string => (/^[1-9]\d{6,14}$/.test(number) ? `+${number}` : number)
