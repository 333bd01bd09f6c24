/** When a failed delivery is tried again (D-WH-4). */
import type { SafeResponse } from '../../infra/outgoing/safe-fetch.ts'
import { MINUTE_MS } from '../../lib/times.ts'

export const isSuccess = (response: SafeResponse) => response.is === 'answered' && response.status >= 200 && response.status < 300

/** Did the endpoint respond that it is permanently gone? */
export const isGone = (response: SafeResponse) => response.is === 'answered' && response.status === 410

const OVERLOADED = [429, 502, 503, 504]
const OVERLOADED_WAIT_MS_MIN = MINUTE_MS
const JITTER = 0.2

type RetryOptions = {
  /** Seconds between attempts. */
  schedule: readonly number[]
  /** The number of earlier attempts in this schedule. */
  step: number
  /** From 0 to 1, for jitter. */
  random: number
  now: Date
}

/** How many milliseconds to wait after this failure, or null if it was the last attempt. */
export function retryDelayMs(response: SafeResponse, { schedule, step, random, now }: RetryOptions): number | null {
  const seconds = schedule[step]
  if (seconds === undefined || isGone(response)) return null
  const stepMs = seconds * 1000
  const jittered = stepMs * (1 - JITTER + 2 * JITTER * random)
  const requested = Math.min(retryAfterMs(response, now), 2 * stepMs)
  return Math.round(Math.max(jittered, requested, isOverloaded(response) ? OVERLOADED_WAIT_MS_MIN : 0))
}

const isOverloaded = (response: SafeResponse) =>
  response.is === 'answered' ? OVERLOADED.includes(response.status) : response.reason === 'timeout'

/** The delay of the Retry-After header, which is in seconds or a date (RFC 9110, 10.2.3); 0 without one. */
function retryAfterMs(response: SafeResponse, now: Date): number {
  const header = response.is === 'answered' ? response.headers['retry-after'] : undefined
  if (typeof header !== 'string') return 0
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? 0 : Math.max(0, date - now.getTime())
}
