/** When a request is sent again. Only what cannot take effect twice is. */
import type { CarillonError } from './error.ts'

const BACKOFF_MS = 500
const BACKOFF_MS_MAX = 8_000
/** A call that would have to wait longer rejects, so that its caller can decide. */
const RETRY_AFTER_MS_MAX = 60_000

/** They wait for other servers meanwhile, so the server cannot undo them if it fails: another request might act once more. */
const CALL_OTHERS = [
  '/api/client/campaigns/{campaignId}/test',
  '/api/client/domains/{domainId}/verify',
  '/api/client/providers/{providerId}/test',
  '/api/client/sandbox/messages/{messageId}/release',
]

/** They have a body, and save nothing: with a key, the server would store their replies for a day. */
const READS = [
  '/api/client/campaigns/{campaignId}/preview',
  '/api/client/campaigns/{campaignId}/text-sizes',
  '/api/client/journeys/{journeyId}/publish/preview',
  '/api/client/journeys/{journeyId}/simulate',
  '/api/client/lists/preview',
  '/api/client/page-theme/preview',
  '/api/client/users/search',
]

const isRead = (method: string, path: string): boolean => method === 'get' || READS.includes(path)

/** Whether the requests of an operation need an `Idempotency-Key`, and it accepts one. */
export const needsKey = (method: string, path: string): boolean => !isRead(method, path) && path.startsWith('/api/client/')

export type Failed = {
  method: string
  path: string
  /** Whether it was sent with an `Idempotency-Key`. */
  hasKey: boolean
  /** How often it was sent again before. */
  retries: number
}

/** The time before a failed request is sent again; null if it is not. `random` is at least 0 and below 1. */
export function waitMsOf(failed: Failed, error: CarillonError, now: number, random: number): number | null {
  const askedMs = retryAfterMs(error.headers?.get('retry-after') ?? null, now)
  if (!mayRepeat(failed, error, askedMs !== null)) return null
  const backoffMs = Math.min(BACKOFF_MS * 2 ** failed.retries, BACKOFF_MS_MAX)
  if (askedMs === null) return backoffMs * (1 - random / 2)
  // The jitter spreads the clients that got the same header.
  return askedMs > RETRY_AFTER_MS_MAX ? null : askedMs + backoffMs * random
}

function mayRepeat({ method, path, hasKey }: Failed, { status, code, reason }: CarillonError, hasRetryAfter: boolean): boolean {
  // Both were refused before they ran. A quota that is not renewed stays used up.
  if (status === 429) return code !== 'quota_exceeded' || hasRetryAfter
  if (status === 409) return code === 'idempotency_key_mismatch' && reason === 'in_progress'
  const isSafe = isRead(method, path) || (hasKey && needsKey(method, path) && !CALL_OTHERS.includes(path))
  // A redirect that a browser hides will not pass.
  const isAway = status === 0 ? code !== 'unexpected' : [502, 503, 504].includes(status)
  return isSafe && (isAway || (status === 500 && hasKey))
}

/** The header is a number of seconds or a date (RFC 9110, 10.2.3). */
function retryAfterMs(header: string | null, now: number): number | null {
  if (header === null) return null
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return Number.isNaN(ms) ? null : Math.max(0, ms)
}
