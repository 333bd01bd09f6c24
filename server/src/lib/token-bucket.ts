/** A token bucket: it gains `ratePerSecond` tokens a second and holds at most `burst`. State and time are passed in. */
export type Bucket = { tokens: number; at: number }

export type BucketPolicy = { ratePerSecond: number; burst: number }

export type Taken = { allowed: boolean; remaining: number; resetSeconds: number; retryAfterSeconds: number; bucket: Bucket }

/** Takes one token at `nowMs`, or returns when the next one is available. A clock that moved back adds no tokens. */
export function take({ ratePerSecond, burst }: BucketPolicy, bucket: Bucket | undefined, nowMs: number): Taken {
  const tokens = bucket ? Math.min(burst, bucket.tokens + (Math.max(0, nowMs - bucket.at) / 1000) * ratePerSecond) : burst
  const allowed = tokens >= 1
  const left = allowed ? tokens - 1 : tokens
  return {
    allowed,
    remaining: Math.floor(left),
    resetSeconds: Math.ceil((burst - left) / ratePerSecond),
    retryAfterSeconds: allowed ? 0 : Math.ceil((1 - left) / ratePerSecond),
    bucket: { tokens: left, at: nowMs },
  }
}
