import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SafeResponse } from '../../infra/outgoing/safe-fetch.ts'
import { MINUTE_MS } from '../../lib/times.ts'
import { isGone, isSuccess, retryDelayMs } from './retry.ts'

const schedule = [5, 300, 1800, 7200, 18_000, 36_000, 36_000]
const now = new Date('2026-11-23T09:00:00.000Z')
const MIDDLE = 0.5

const answered = (status: number, retryAfter?: string): SafeResponse => ({
  is: 'answered',
  status,
  headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  body: '',
  elapsedMs: 1,
})
const failed = (reason: 'timeout' | 'refused'): SafeResponse => ({ is: 'failed', reason, message: 'No.', elapsedMs: 1 })

const delay = (response: SafeResponse, step: number, random = MIDDLE) => retryDelayMs(response, { schedule, step, random, now })

describe('a response', () => {
  test.each([
    [200, true],
    [204, true],
    [299, true],
    [199, false],
    [301, false],
    [304, false],
    [404, false],
    [500, false],
  ])('with status %i is a success: %s', (status, expected) => expect(isSuccess(answered(status))).toBe(expected))

  test('that is missing is a failure', () => expect(isSuccess(failed('refused'))).toBe(false))
  test('means gone only with status 410', () => {
    expect(isGone(answered(410))).toBe(true)
    expect(isGone(answered(404))).toBe(false)
    expect(isGone(failed('refused'))).toBe(false)
  })
})

describe('the next attempt', () => {
  test.each([
    ['the first step', answered(500), 0, 5000],
    ['a later step', answered(500), 3, 7_200_000],
    ['the last step', answered(404), 6, 36_000_000],
    ['no step is left', answered(500), 7, null],
    ['the endpoint is gone', answered(410), 0, null],
    ['a refused connection', failed('refused'), 0, 5000],
    ['a timeout waits a minute', failed('timeout'), 0, MINUTE_MS],
    ['429 waits a minute', answered(429), 0, MINUTE_MS],
    ['502 waits a minute', answered(502), 0, MINUTE_MS],
    ['503 waits a minute', answered(503), 0, MINUTE_MS],
    ['504 waits a minute', answered(504), 0, MINUTE_MS],
    ['503 later on follows the schedule', answered(503), 1, 300_000],
    ['Retry-After is used', answered(503, '450'), 1, 450_000],
    ['Retry-After is used up to twice the step', answered(503, '86400'), 1, 600_000],
    ['Retry-After does not shorten the step', answered(503, '10'), 1, 300_000],
    ['Retry-After as a date', answered(503, 'Mon, 23 Nov 2026 09:08:00 GMT'), 1, 480_000],
    ['Retry-After in the past', answered(503, 'Mon, 23 Nov 2026 08:00:00 GMT'), 1, 300_000],
    ['Retry-After that is invalid', answered(503, 'soon'), 1, 300_000],
    ['Retry-After with a first 429', answered(429, '8'), 0, MINUTE_MS],
    ['Retry-After with a first 500', answered(500, '8'), 0, 8000],
  ])('%s', (_, response, step, expected) => expect(delay(response, step)).toBe(expected))

  test.each([
    [0, 240_000],
    [0.25, 270_000],
    [1 - Number.EPSILON, 360_000],
  ])('with jitter %f is after %i ms', (random, expected) => expect(delay(answered(500), 1, random)).toBe(expected))

  test('is at most a fifth before its step, and at most twice the step or a minute later', () => {
    const response = fc.oneof(
      fc.integer({ min: 300, max: 599 }).map((status) => answered(status)),
      fc.tuple(fc.integer({ min: 300, max: 599 }), fc.nat(1e9)).map(([status, after]) => answered(status, String(after))),
      fc.constant(failed('timeout')),
    )
    fc.assert(
      fc.property(response, fc.nat(6), fc.double({ min: 0, max: 0.999, noNaN: true }), (response, step, random) => {
        const ms = delay(response, step, random)
        const stepMs = (schedule[step] as number) * 1000
        if (ms === null) return isGone(response)
        return ms >= stepMs * 0.8 - 1 && ms <= Math.max(2 * stepMs, MINUTE_MS)
      }),
    )
  })
})
