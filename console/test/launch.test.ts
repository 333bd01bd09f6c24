import { expect, test } from 'vitest'
import { atTime, launchOf, passedIn, startsAtLaunch } from '../src/screens/campaigns/steps/launch.ts'

const NOW = Date.parse('2026-11-27T09:00:00.000Z')
const IN_30_S = '2026-11-27T09:00:30.000Z'
const atOnce = { state: 'scheduled', send_at: IN_30_S, send_in_user_timezone: false }

test.each([
  ['without a time', { send_at: null }, atOnce],
  ['without a time, copied from one in each user’s time zone', { send_at: null, send_in_user_timezone: true }, atOnce],
  ['whose time has passed', { send_at: '2026-11-27T08:58:00.000Z' }, atOnce],
  ['whose launch was undone ten seconds ago', { send_at: '2026-11-27T09:00:20.000Z' }, atOnce],
  ['whose time has passed in every time zone', { send_at: '2026-11-26T21:00:00.000', send_in_user_timezone: true }, atOnce],
  ['with a time', { send_at: IN_30_S }, { state: 'scheduled', send_at: IN_30_S }],
  [
    'in each user’s time zone',
    { send_at: '2026-11-27T08:00:00', send_in_user_timezone: true },
    { state: 'scheduled', send_at: '2026-11-27T08:00:00' },
  ],
])('the launch of a blast %s can be undone for 30 seconds or starts at its time', (_, time, expected) => {
  expect(launchOf('blast', time, NOW)).toEqual(expected)
  expect(startsAtLaunch(time, NOW)).toBe(expected === atOnce)
})

test.each([
  ['2026-11-27T23:00:00', 'none'],
  ['2026-11-27T22:59:00', 'some'],
  ['2026-11-27T08:00:00.000', 'some'],
  ['2026-11-26T21:00:00.000', 'some'],
  ['2026-11-26T20:59:00', 'all'],
])('%s in each user’s time zone has passed in %s of them', (send_at, expected) =>
  expect(passedIn({ send_at, send_in_user_timezone: true }, NOW)).toBe(expected),
)

test.each([
  [null, 'none'],
  [IN_30_S, 'none'],
  ['2026-11-27T08:58:00.000Z', 'all'],
] as const)('the instant %s has passed in %s', (send_at, expected) => expect(passedIn({ send_at }, NOW)).toBe(expected))

test('a trigger runs when it is launched', () => expect(launchOf('trigger', {}, NOW)).toEqual({ state: 'running' }))

test('a blast in each user’s time zone has no winner, which the server refuses', () => {
  const winner = { metric: 'clicks' as const, test_percent: 20, after_minutes: 120 }
  const draft = { send_at: null, send_in_user_timezone: false, winner }
  const local = { send_at: '2026-11-27T08:00:00', send_in_user_timezone: true }
  expect(atTime(draft, local)).toEqual({ ...local, winner: null })
  expect(atTime(draft, { send_at: IN_30_S, send_in_user_timezone: false })).toMatchObject({ winner })
})
