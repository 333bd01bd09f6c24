import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Bucket, take } from './token-bucket.ts'

const policy = { ratePerSecond: 2, burst: 10 }

test('a burst is allowed, then one call every half second', () => {
  let bucket: Bucket | undefined
  const ask = (nowMs: number) => {
    const taken = take(policy, bucket, nowMs)
    bucket = taken.bucket
    return taken
  }
  for (let at = 0; at < 10; at++) expect(ask(0).allowed).toBe(true)
  expect(ask(0)).toMatchObject({ allowed: false, remaining: 0, retryAfterSeconds: 1 })
  expect(ask(499).allowed).toBe(false)
  expect(ask(500).allowed).toBe(true)
  expect(ask(500).allowed).toBe(false)
})

test.each([
  ['after the first call', { ratePerSecond: 2, burst: 10 }, undefined, { remaining: 9, resetSeconds: 1, retryAfterSeconds: 0 }],
  ['after several calls', { ratePerSecond: 2, burst: 10 }, { tokens: 5, at: 0 }, { remaining: 4, resetSeconds: 3, retryAfterSeconds: 0 }],
  [
    'of a part of a token',
    { ratePerSecond: 2, burst: 10 },
    { tokens: 2.75, at: 0 },
    { remaining: 1, resetSeconds: 5, retryAfterSeconds: 0 },
  ],
  ['of an empty bucket', { ratePerSecond: 0.4, burst: 10 }, { tokens: 0, at: 0 }, { remaining: 0, resetSeconds: 25, retryAfterSeconds: 3 }],
  [
    'of a bucket with less than one',
    { ratePerSecond: 2, burst: 10 },
    { tokens: 0.9, at: 0 },
    { remaining: 0, resetSeconds: 5, retryAfterSeconds: 1 },
  ],
])('whole tokens and whole seconds are reported %s', (_, policy, bucket, expected) => {
  expect(take(policy, bucket, 0)).toMatchObject(expected)
})

test('the reported wait is enough for the next call', () =>
  fc.assert(
    fc.property(fc.double({ min: 0, max: 0.999, noNaN: true }), fc.constantFrom(0.1, 0.4, 1, 2, 50), (tokens, ratePerSecond) => {
      const { allowed, retryAfterSeconds } = take({ ratePerSecond, burst: 10 }, { tokens, at: 0 }, 0)
      expect([allowed, retryAfterSeconds > 0]).toEqual([false, true])
      // A hair more, because the sum of fractions is not exact.
      expect(take({ ratePerSecond, burst: 10 }, { tokens, at: 0 }, retryAfterSeconds * 1000 + 0.001).allowed).toBe(true)
    }),
  ))

test('no sequence of calls gets more tokens than burst and rate allow', () =>
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -2000, max: 2000 }), { maxLength: 200 }), (steps) => {
      let bucket: Bucket | undefined
      let now = 0
      let forward = 0
      let allowed = 0
      for (const step of steps) {
        now += step
        forward += Math.max(0, step)
        const taken = take(policy, bucket, now)
        bucket = taken.bucket
        if (taken.allowed) allowed++
      }
      expect(allowed).toBeLessThanOrEqual(policy.burst + Math.ceil((forward / 1000) * policy.ratePerSecond))
    }),
  ))
