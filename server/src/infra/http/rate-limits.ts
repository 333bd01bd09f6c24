/**
 * Rate limits (D-RATE-1, D-RATE-2): a token bucket per credential, in the memory of this process.
 * Each process has its own buckets; the decisions do not require more.
 */
import { LRUCache } from 'lru-cache'
import { atMost } from '../../lib/cache-limit.ts'
import { ApiError } from '../../lib/errors.ts'
import { networkOf } from '../../lib/networks.ts'
import { type Bucket, type BucketPolicy, type Taken, take } from '../../lib/token-bucket.ts'
import type { Config } from '../runtime/config.ts'

export type BucketName = 'read' | 'write' | 'all' | 'ext' | 'egress' | 'user' | 'auth-fail' | 'page' | 'address' | 'submission' | 'sign-in'

/** A burst may use the tokens of this many seconds. */
const BURST_SECONDS = 10
const BUCKETS_KEPT = 100_000

type Policies = Record<BucketName, BucketPolicy & { windowSeconds: number }>

function policiesOf(config: Config): Policies {
  const perSecond = (rate: number) => ({ ratePerSecond: rate, burst: Math.max(1, rate * BURST_SECONDS), windowSeconds: BURST_SECONDS })
  const perMinute = (count: number) => ({ ratePerSecond: count / 60, burst: Math.max(1, count), windowSeconds: 60 })
  return {
    read: perSecond(config.RATE_READ),
    write: perSecond(config.RATE_WRITE),
    ext: perSecond(config.RATE_EXT),
    user: perSecond(config.RATE_USER),
    page: perSecond(config.RATE_PAGE),
    address: perSecond(config.RATE_PUBLISHABLE),
    submission: perSecond(config.RATE_SUBMISSION),
    all: perMinute(config.RATE_ALL_PER_MIN),
    'sign-in': perMinute(config.RATE_SIGN_IN_PER_MIN),
    egress: perMinute(config.RATE_EGRESS_PER_MIN),
    'auth-fail': perMinute(config.RATE_AUTH_FAIL_PER_MIN),
  }
}

type Limited = Taken & { name: BucketName; policy: BucketPolicy & { windowSeconds: number } }

/** The buckets from which a request has taken a token. */
export type Spent = Map<BucketName, Limited>

export type RateLimits = {
  /**
   * Takes a token from each bucket, and adds the buckets to `spent`. Returns the rate limit headers of all that are in it, or throws 429 with
   * them.
   */
  spend(names: BucketName[], owner: string, nowMs: number, spent?: Spent): Record<string, string>
  /** Counts a failed authentication. Throws 429 if there were too many from the network of this address. */
  failedAuthentication(address: string, nowMs: number): void
}

export function createRateLimits(config: Config): RateLimits {
  const policies = policiesOf(config)
  // Each limit has its own, so that many addresses do not make the others forget.
  const buckets = new Map<BucketName, LRUCache<string, Bucket>>()
  const takeFrom = (name: BucketName, owner: string, nowMs: number): Taken => {
    const ofName = buckets.get(name) ?? new LRUCache<string, Bucket>(atMost(BUCKETS_KEPT))
    buckets.set(name, ofName)
    const taken = take(policies[name], ofName.get(owner), nowMs)
    ofName.set(owner, taken.bucket)
    return taken
  }
  return {
    spend(names, owner, nowMs, spent = new Map()) {
      const limited = names.filter((name) => policies[name].ratePerSecond > 0)
      for (const name of limited) spent.set(name, { name, policy: policies[name], ...takeFrom(name, owner, nowMs) })
      const taken = [...spent.values()]
      taken.sort((a, b) => Number(a.allowed) - Number(b.allowed) || a.remaining / a.policy.burst - b.remaining / b.policy.burst)
      const [tightest] = taken
      if (!tightest) return {}
      const headers = fields(taken)
      if (!tightest.allowed) throw tooMany(tightest.retryAfterSeconds, headers)
      return headers
    },
    failedAuthentication(address, nowMs) {
      if (policies['auth-fail'].ratePerSecond === 0) return
      const taken = takeFrom('auth-fail', networkOf(address), nowMs)
      if (!taken.allowed) throw tooMany(taken.retryAfterSeconds, {})
    },
  }
}

/** The RateLimit headers (IETF draft 10) and the older X-RateLimit ones, with the tightest bucket first. */
function fields(taken: Limited[]): Record<string, string> {
  const [tightest] = taken as [Limited]
  const reset = (limited: Limited) => (limited.allowed ? limited.resetSeconds : limited.retryAfterSeconds)
  return {
    'ratelimit-policy': taken.map(({ name, policy }) => `"${name}";q=${policy.burst};w=${policy.windowSeconds}`).join(', '),
    ratelimit: taken.map((limited) => `"${limited.name}";r=${limited.remaining};t=${reset(limited)}`).join(', '),
    'x-ratelimit-limit': String(tightest.policy.burst),
    'x-ratelimit-remaining': String(tightest.remaining),
    'x-ratelimit-reset': String(reset(tightest)),
  }
}

const tooMany = (seconds: number, headers: Record<string, string>) =>
  new ApiError('rate_limited', `Too many requests. Retry after ${seconds} second${seconds === 1 ? '' : 's'}.`, {
    headers: { ...headers, 'retry-after': String(seconds) },
  })
