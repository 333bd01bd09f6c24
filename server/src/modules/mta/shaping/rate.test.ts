import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { takeFrom } from './rate.ts'

const arbitraryRate = fc.record({ perSecond: fc.double({ min: 0.01, max: 1000, noNaN: true }), burst: fc.integer({ min: 1, max: 50 }) })
const arbitraryCalls = fc.array(fc.tuple(fc.integer({ min: 0, max: 5000 }), fc.integer({ min: 0, max: 100 })), { maxLength: 60 })

describe('a rate', () => {
  test('is not exceeded in any time, wherever it begins', () => {
    fc.assert(
      fc.property(arbitraryRate, arbitraryCalls, (rate, calls) => {
        const grants: { at: number; granted: number }[] = []
        let filledAt = 0
        let now = 1_000_000
        for (const [later, wanted] of calls) {
          now += later
          const taken = takeFrom(rate, filledAt, wanted, now)
          filledAt = taken.filledAt
          grants.push({ at: now, granted: taken.granted })
        }
        for (const [from, { at }] of grants.entries()) {
          let sum = 0
          for (const grant of grants.slice(from)) {
            sum += grant.granted
            expect(sum).toBeLessThanOrEqual(((grant.at - at) / 1000) * rate.perSecond + rate.burst + 1e-6)
          }
        }
      }),
    )
  })

  test('grants something at the time that it names', () => {
    fc.assert(
      fc.property(arbitraryRate, arbitraryCalls, (rate, calls) => {
        let filledAt = 0
        let now = 1_000_000
        for (const [later, wanted] of calls) {
          now += later
          const taken = takeFrom(rate, filledAt, wanted, now)
          filledAt = taken.filledAt
          if (taken.granted < wanted) expect(takeFrom(rate, filledAt, 1, taken.nextAt).granted).toBe(1)
        }
      }),
    )
  })

  test('is used in full by callers that come when they are told', () => {
    const rate = { perSecond: 7, burst: 1 }
    let filledAt = 0
    let now = 0
    let granted = 0
    while (now <= 60_000) {
      const taken = takeFrom(rate, filledAt, 10, now)
      granted += taken.granted
      filledAt = taken.filledAt
      now = Math.max(now + 1, taken.nextAt)
    }
    expect(granted).toBeGreaterThanOrEqual(415)
    expect(granted).toBeLessThanOrEqual(421)
  })

  test('grants nothing more when the clock moves back', () => {
    const first = takeFrom({ perSecond: 1, burst: 2 }, 0, 2, 100_000)
    expect(first.granted).toBe(2)
    expect(takeFrom({ perSecond: 1, burst: 2 }, first.filledAt, 1, 50_000).granted).toBe(0)
  })
})
