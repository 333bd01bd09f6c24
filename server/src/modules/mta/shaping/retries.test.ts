import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/times.ts'
import { expiresAt, isDelayNoticeDue, type MailPriority, nextAttempt, RETRY_SCHEDULES } from './retries.ts'

const NOW = new Date('2026-11-20T02:00:00.000Z')
const arbitraryPriority = fc.constantFrom<MailPriority>(0, 1, 2)
const arbitraryRandom = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const minutesAfter = (at: Date) => (at.getTime() - NOW.getTime()) / MINUTE_MS

describe('the next attempt', () => {
  test.each<[MailPriority, number[]]>([
    [0, [1, 5, 15, 30, 60, 120, 240, 480, 480]],
    [1, [5, 15, 45, 120, 240, 480, 480]],
    [2, [1, 5, 15, 30, 60, 120, 240, 480, 480]],
  ])('of priority %i is after %j minutes', (priority, expected) => {
    const found = expected.map((_, at) => minutesAfter(nextAttempt(priority, at + 1, null, NOW, 0.5)))
    expect(found).toEqual(expected)
  })

  test('varies by a fifth, never by more', () => {
    fc.assert(
      fc.property(arbitraryPriority, fc.integer({ min: 1, max: 40 }), arbitraryRandom, (priority, attempts, random) => {
        const middle = minutesAfter(nextAttempt(priority, attempts, null, NOW, 0.5))
        const found = minutesAfter(nextAttempt(priority, attempts, { label: 'throttled' }, NOW, random))
        expect(found).toBeGreaterThanOrEqual(middle * 0.8 - 1e-3)
        expect(found).toBeLessThanOrEqual(middle * 1.2 + 1e-3)
      }),
    )
  })

  test('is never sooner for more attempts', () => {
    fc.assert(
      fc.property(arbitraryPriority, fc.integer({ min: 1, max: 40 }), arbitraryRandom, (priority, attempts, random) => {
        const next = nextAttempt(priority, attempts, null, NOW, random)
        expect(nextAttempt(priority, attempts + 1, null, NOW, random).getTime()).toBeGreaterThanOrEqual(next.getTime())
      }),
    )
  })

  test('comes several times within the lifetime, and after a day or two no more', () => {
    fc.assert(
      fc.property(arbitraryPriority, fc.array(arbitraryRandom, { minLength: 60, maxLength: 60 }), (priority, randoms) => {
        const end = expiresAt(priority, NOW)
        let at = NOW
        let attempts = 1
        for (const random of randoms) {
          at = nextAttempt(priority, attempts, null, at, random)
          if (at > end) break
          attempts += 1
        }
        expect(attempts).toBeGreaterThanOrEqual(7)
        expect(attempts).toBeLessThanOrEqual(20)
      }),
    )
  })

  test.each([0, 0.5, 0.999])('after greylisting is in 5 to 6 minutes (%f)', (random) => {
    for (const attempts of [1, 2]) {
      const found = minutesAfter(nextAttempt(0, attempts, { label: 'greylisted' }, NOW, random))
      expect(found).toBeGreaterThanOrEqual(5)
      expect(found).toBeLessThanOrEqual(6)
    }
    expect(minutesAfter(nextAttempt(0, 6, { label: 'greylisted' }, NOW, random))).toBeGreaterThan(90)
  })

  test.each([0, 0.5, 0.999])('after greylisting is at the time of a campaign, if that is later (%f)', (random) => {
    const schedule = { delaysMs: [7 * MINUTE_MS], lifetimeMs: DAY_MS }
    const found = minutesAfter(nextAttempt(1, 1, { label: 'greylisted' }, NOW, random, schedule))
    expect(found).toBeCloseTo(minutesAfter(nextAttempt(1, 1, null, NOW, random, schedule)), 3)
  })

  test('follows the schedule of a campaign', () => {
    const schedule = { delaysMs: [10, 20], lifetimeMs: 50 }
    const delays = [1, 2, 3].map((attempts) => nextAttempt(1, attempts, null, NOW, 0.5, schedule).getTime() - NOW.getTime())
    expect(delays).toEqual([10, 20, 20])
    expect(expiresAt(1, NOW, schedule).getTime() - NOW.getTime()).toBe(50)
  })

  test('lifetimes are two days, and one day for bulk', () => {
    const lifetimes = ([0, 1, 2] as const).map((priority) => expiresAt(priority, NOW).getTime() - NOW.getTime())
    expect(lifetimes).toEqual([2 * DAY_MS, DAY_MS, 2 * DAY_MS])
    expect(Object.values(RETRY_SCHEDULES).every(({ delaysMs }) => delaysMs.every((ms, at) => ms >= (delaysMs[at - 1] ?? 0)))).toBe(true)
  })
})

describe('a delay is reported', () => {
  const at = (hours: number) => new Date(NOW.getTime() + hours * HOUR_MS)
  test.each<[string, Date | null, Date, boolean]>([
    ['after the first attempt', null, at(0), true],
    ['not after the second', at(0), at(0.1), false],
    ['after four hours', at(2), at(4), true],
    ['once', at(4), at(8), false],
    ['after a day', at(20), at(28), true],
    ['once if both pass in one step', at(1), at(30), true],
  ])('%s', (_, previous, now, expected) => {
    expect(isDelayNoticeDue(NOW, previous, now)).toBe(expected)
  })
})
