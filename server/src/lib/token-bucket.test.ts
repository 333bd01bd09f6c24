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
