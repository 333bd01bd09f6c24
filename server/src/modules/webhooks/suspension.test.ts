import { describe, expect, test } from 'vitest'
import type { EndpointId, ProjectId } from '../../lib/ids.ts'
import { HOUR_MS } from '../../lib/times.ts'
import { failureStreaks, suspensionReason } from './suspension.ts'

const now = new Date('2026-11-23T09:00:00.000Z')
const hoursAgo = (hours: number) => new Date(now.getTime() - hours * HOUR_MS)
const projectId = 1 as ProjectId

const results = (text: string, endpointId = 1) =>
  [...text].map((letter, index) => ({
    projectId,
    endpointId: endpointId as EndpointId,
    succeeded: letter === '+',
    gone: letter === 'x',
    at: new Date(now.getTime() + index),
  }))
const at = (index: number) => new Date(now.getTime() + index)

describe('a batch of attempts', () => {
  test.each([
    ['+', { broken: true, failures: 0, firstFailureAt: null, gone: false }],
    ['-', { broken: false, failures: 1, firstFailureAt: at(0), gone: false }],
    ['---', { broken: false, failures: 3, firstFailureAt: at(0), gone: false }],
    ['--+', { broken: true, failures: 0, firstFailureAt: null, gone: false }],
    ['-+--', { broken: true, failures: 2, firstFailureAt: at(2), gone: false }],
    ['-x', { broken: false, failures: 2, firstFailureAt: at(0), gone: true }],
    ['x+', { broken: true, failures: 0, firstFailureAt: null, gone: true }],
  ])('%s', (text, expected) => expect(failureStreaks(results(text))).toEqual([{ projectId, endpointId: 1, ...expected }]))

  test('has a streak for each endpoint, in the order of their ids', () => {
    const found = failureStreaks([...results('-', 9), ...results('+', 2), ...results('-', 9)])
    expect(found.map(({ endpointId, failures }) => [endpointId, failures])).toEqual([
      [2, 0],
      [9, 2],
    ])
  })

  test('may be empty', () => expect(failureStreaks([])).toEqual([]))
})

describe('an endpoint is suspended', () => {
  const usual = { failures: 20, hours: 120 }
  test.each([
    ['not after few failures over a long time', 19, hoursAgo(500), false, usual, false],
    ['not after many failures over a short time', 5000, hoursAgo(119.9), false, usual, false],
    ['after many failures over five days', 20, hoursAgo(120), false, usual, true],
    ['at once if it responds with 410', 1, now, true, usual, true],
    ['not without failures', 0, null, false, { failures: 0, hours: 0 }, false],
    ['as configured', 3, now, false, { failures: 3, hours: 0 }, true],
    ['not below the configured limit', 2, now, false, { failures: 3, hours: 0 }, false],
  ])('%s', (_, consecutive_failures, first_failure_at, gone, limits, expected) =>
    expect(suspensionReason({ consecutive_failures, first_failure_at }, gone, limits, now) !== null).toBe(expected),
  )

  test('with a reason that its owner can read', () => {
    expect(suspensionReason({ consecutive_failures: 25, first_failure_at: hoursAgo(130) }, false, usual, now)).toBe(
      '25 consecutive attempts failed, the first at 2026-11-17T23:00:00.000Z.',
    )
  })
})
