import { describe, expect, test } from 'vitest'
import { attemptsIn, MAIL_ATTEMPTS_MAX, retryDelayMs } from './mail-retries.ts'
import { MINUTE_MS } from './times.ts'

const retries = { after_minutes: [5, 15, 60], for_hours: 3 }

describe('the retries of a campaign', () => {
  test('repeat their last interval', () => {
    expect([1, 2, 3, 4, 9].map((attempts) => retryDelayMs(retries, attempts) / MINUTE_MS)).toEqual([5, 15, 60, 60, 60])
  })

  test.each([
    ['as many as fit into the lifetime', retries, 5],
    ['one that is due when the lifetime ends', { after_minutes: [60], for_hours: 1 }, 2],
    ['only the first if the interval is longer', { after_minutes: [90], for_hours: 1 }, 1],
    ['counted no further than one over the limit', { after_minutes: [1], for_hours: 120 }, MAIL_ATTEMPTS_MAX + 1],
  ])('are %s', (_, of, expected) => expect(attemptsIn(of)).toBe(expected))
})
