import { expect, test } from 'vitest'
import { launchOf, startsAtLaunch } from '../src/screens/campaigns/steps/launch.ts'

const NOW = Date.parse('2026-11-27T09:00:00.000Z')
const IN_30_S = '2026-11-27T09:00:30.000Z'
const atOnce = { state: 'scheduled', send_at: IN_30_S, send_in_user_timezone: false }

test.each([
  ['without a time', { send_at: null }, atOnce],
  ['without a time, copied from one in each user’s time zone', { send_at: null, send_in_user_timezone: true }, atOnce],
  ['whose time has passed', { send_at: '2026-11-27T08:58:00.000Z' }, atOnce],
  ['whose launch was undone ten seconds ago', { send_at: '2026-11-27T09:00:20.000Z' }, atOnce],
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

test('a trigger runs when it is launched', () => expect(launchOf('trigger', {}, NOW)).toEqual({ state: 'running' }))
