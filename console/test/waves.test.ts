import { expect, test } from 'vitest'
import { instantOf, offsetOf, wavesOf } from '../src/screens/campaigns/steps/waves.ts'

test.each([
  ['2026-12-01T09:00:00', 'Australia/Sydney', '2026-11-30T22:00:00.000Z'],
  ['2026-12-01T09:00:00', 'Asia/Kolkata', '2026-12-01T03:30:00.000Z'],
  ['2026-12-01T09:00:00', 'UTC', '2026-12-01T09:00:00.000Z'],
  ['2026-12-01T00:30:00', 'Pacific/Pago_Pago', '2026-12-01T11:30:00.000Z'],
  // The clocks go from 2:00 to 3:00: half past two counts as half past three.
  ['2027-03-14T02:30:00', 'America/New_York', '2027-03-14T07:30:00.000Z'],
  ['2026-10-04T02:15:00', 'Australia/Lord_Howe', '2026-10-03T15:45:00.000Z'],
  // The clocks go from 3:00 back to 2:00: the first half past two counts.
  ['2026-10-25T02:30:00', 'Europe/Berlin', '2026-10-25T00:30:00.000Z'],
])('%s in %s is %s', (local, zone, at) => expect(new Date(instantOf(local, zone)).toISOString()).toBe(at))

test('zones with the same time are one wave, and the waves come in order', () => {
  const zones = ['Europe/London', 'Australia/Sydney', 'Africa/Accra', 'Asia/Kolkata', 'America/Los_Angeles']
  expect(wavesOf('2026-12-01T09:00:00', zones).map(({ offsetMin, zones }) => [offsetOf(offsetMin), zones])).toEqual([
    ['UTC+11', ['Australia/Sydney']],
    ['UTC+5:30', ['Asia/Kolkata']],
    ['UTC+0', ['Europe/London', 'Africa/Accra']],
    ['UTC−8', ['America/Los_Angeles']],
  ])
})
