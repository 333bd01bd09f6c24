/** A token bucket: `rate` tokens a second, at most `burst` of them. State is a value; the time is handed in. */
export type Bucket = { tokens: number; at: number }

export type BucketPolicy = { ratePerSecond: number; burst: number }

export type Taken = { allowed: boolean; remaining: number; resetSeconds: number; retryAfterSeconds: number; bucket: Bucket }

/** Takes one token at `nowMs`, or says when the next one comes. A clock that went back adds nothing. */
export function take({ ratePerSecond, burst }: BucketPolicy, bucket: Bucket | undefined, nowMs: number): Taken {
  const elapsedSeconds = bucket ? Math.max(0, nowMs - bucket.at) / 1000 : 0
  const tokens = bucket ? Math.min(burst, bucket.tokens + elapsedSeconds * ratePerSecond) : burst
  const allowed = tokens >= 1
  const left = allowed ? tokens - 1 : tokens
  return {
    allowed,
    remaining: Math.floor(left),
    resetSeconds: Math.ceil((burst - left) / ratePerSecond),
    retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil((1 - left) / ratePerSecond)),
    bucket: { tokens: left, at: nowMs },
  }
}
