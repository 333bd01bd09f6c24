/** When a failed delivery is tried again (D-WH-4). */
import type { SafeResponse } from '../../infra/outgoing/safe-fetch.ts'

export const isSuccess = (response: SafeResponse) => response.is === 'answered' && response.status >= 200 && response.status < 300

/** The endpoint says that it is gone for good. */
export const isGone = (response: SafeResponse) => response.is === 'answered' && response.status === 410

const OVERLOADED = [429, 502, 503, 504]
const OVERLOADED_WAIT_MS_MIN = 60_000
const JITTER = 0.2

type Circumstances = {
  /** Seconds between attempts. */
  schedule: readonly number[]
  /** Attempts of the schedule that were made before this one. */
  step: number
  /** From 0 up to 1. */
  random: number
  now: Date
}

/** How many milliseconds to wait after this failure, or null when it was the last attempt. */
export function retryDelayMs(response: SafeResponse, { schedule, step, random, now }: Circumstances): number | null {
  const seconds = schedule[step]
  if (seconds === undefined || isGone(response)) return null
  const stepMs = seconds * 1000
  const jittered = stepMs * (1 - JITTER + 2 * JITTER * random)
  const asked = Math.min(retryAfterMs(response, now), 2 * stepMs)
  return Math.round(Math.max(jittered, asked, isOverloaded(response) ? OVERLOADED_WAIT_MS_MIN : 0))
}

const isOverloaded = (response: SafeResponse) =>
  response.is === 'answered' ? OVERLOADED.includes(response.status) : response.reason === 'timeout'

/** What the header Retry-After asks for, in seconds or as a date (RFC 9110, 10.2.3); 0 when it asks for nothing. */
function retryAfterMs(response: SafeResponse, now: Date): number {
  const header = response.is === 'answered' ? response.headers['retry-after'] : undefined
  if (typeof header !== 'string') return 0
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? 0 : Math.max(0, date - now.getTime())
}
