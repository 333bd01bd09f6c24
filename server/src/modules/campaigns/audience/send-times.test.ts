import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HOUR_MS, MINUTE_MS } from '../../../lib/times.ts'
import { earliestAnywhere, sendTimes } from './send-times.ts'

const timeIn = (wallClock: string, zone: string | null, fallback = 'Australia/Sydney') =>
  sendTimes(
    wallClock,
    fallback,
  )(zone)
    .toISOString()
    .replace(/:00\.000Z$/, 'Z')

describe('a local time in a time zone', () => {
  test.each([
    // Ordinary days, north and south of the equator.
    ['2026-12-01T09:00', 'Australia/Sydney', '2026-11-30T22:00Z'],
    ['2026-07-01T09:00', 'Australia/Sydney', '2026-06-30T23:00Z'],
    ['2026-12-01T09:00', 'America/New_York', '2026-12-01T14:00Z'],
    ['2026-07-01T09:00', 'America/New_York', '2026-07-01T13:00Z'],
    // A time that is skipped by daylight saving is moved forward by the length of the gap.
    ['2026-10-04T02:30', 'Australia/Sydney', '2026-10-03T16:30Z'],
    ['2026-10-04T03:30', 'Australia/Sydney', '2026-10-03T16:30Z'],
    ['2026-03-08T02:30', 'America/New_York', '2026-03-08T07:30Z'],
    ['2026-10-04T02:15', 'Australia/Lord_Howe', '2026-10-03T15:45Z'],
    // Of a repeated time the first occurrence counts.
    ['2026-04-05T02:30', 'Australia/Sydney', '2026-04-04T15:30Z'],
    ['2026-11-01T01:30', 'America/New_York', '2026-11-01T05:30Z'],
    ['2026-04-05T01:45', 'Australia/Lord_Howe', '2026-04-04T14:45Z'],
    // The date line, and the day that Samoa skipped when it crossed it.
    ['2026-12-01T09:00', 'Pacific/Kiritimati', '2026-11-30T19:00Z'],
    ['2026-12-01T09:00', 'Pacific/Apia', '2026-11-30T20:00Z'],
    ['2026-12-01T09:00', 'Pacific/Pago_Pago', '2026-12-01T20:00Z'],
    ['2011-12-30T09:00', 'Pacific/Apia', '2011-12-30T19:00Z'],
    // Offsets with quarters of an hour.
    ['2026-12-01T09:00', 'Asia/Kathmandu', '2026-12-01T03:15Z'],
    ['2026-12-01T09:00', 'Pacific/Chatham', '2026-11-30T19:15Z'],
    // Rules that differ by year: Moscow had summer time all year in 2013; Egypt abolished summer time and restored it.
    ['2013-01-15T09:00', 'Europe/Moscow', '2013-01-15T05:00Z'],
    ['2016-01-15T09:00', 'Europe/Moscow', '2016-01-15T06:00Z'],
    ['2020-07-15T09:00', 'Africa/Cairo', '2020-07-15T07:00Z'],
    ['2024-07-15T09:00', 'Africa/Cairo', '2024-07-15T06:00Z'],
    // A skipped midnight.
    ['2018-11-04T00:00', 'America/Sao_Paulo', '2018-11-04T03:00Z'],
    ['2026-12-01T09:00', 'US/Pacific', '2026-12-01T17:00Z'],
    ['2026-12-01T09:00', 'UTC', '2026-12-01T09:00Z'],
  ])('%s in %s is %s', (wallClock, zone, expected) => expect(timeIn(wallClock, zone)).toBe(expected))

  test.each([null, 'Mars/Olympus_Mons', '', '+10:00'])('the time zone %j is unknown, so the project’s applies', (zone) =>
    expect(timeIn('2026-12-01T09:00', zone, 'Asia/Kathmandu')).toBe('2026-12-01T03:15Z'),
  )

  test('is exact to the millisecond', () =>
    expect(sendTimes('2026-12-01T09:00:01.234', 'UTC')('Asia/Tokyo').toISOString()).toBe('2026-12-01T00:00:01.234Z'))
})

test('no time zone has a local time before earliestAnywhere', () => {
  const earliest = earliestAnywhere('2026-12-01T09:00:00.000').getTime()
  const times = sendTimes('2026-12-01T09:00:00.000', 'UTC')
  const all = Intl.supportedValuesOf('timeZone').map((zone) => times(zone).getTime())
  expect(Math.min(...all)).toBe(earliest)
})

const clocks = new Map<string, Intl.DateTimeFormat>()

/** The local time at an instant, by a different implementation than the tested one. */
function localTimeIn(zone: string, instant: number): string {
  const options = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const
  const clock = clocks.get(zone) ?? new Intl.DateTimeFormat('en-CA', { ...options, timeZone: zone, hourCycle: 'h23' })
  clocks.set(zone, clock)
  const part = Object.fromEntries(clock.formatToParts(instant).map(({ type, value }) => [type, value]))
  return `${part.year}-${part.month}-${part.day}T${part.hour}:${part.minute}`
}

test('the result is the first instant with the local time; a skipped time comes after the gap', () => {
  const zones = fc.constantFrom(...Intl.supportedValuesOf('timeZone'))
  const minutes = fc.integer({ min: Date.UTC(2022, 0, 1) / MINUTE_MS, max: Date.UTC(2030, 0, 1) / MINUTE_MS })
  fc.assert(
    fc.property(zones, minutes, (zone, minute) => {
      const wallClock = new Date(minute * MINUTE_MS).toISOString().slice(0, 16)
      const at = sendTimes(wallClock, 'UTC')(zone).getTime()
      const local = localTimeIn(zone, at)
      if (local === wallClock) {
        for (let back = 15 * MINUTE_MS; back <= 3 * HOUR_MS; back += 15 * MINUTE_MS)
          expect(localTimeIn(zone, at - back)).not.toBe(wallClock)
      } else {
        const skipped = Date.parse(`${local}Z`) - Date.parse(`${wallClock}Z`)
        expect(skipped).toBeGreaterThan(0)
        expect(localTimeIn(zone, at - skipped) < wallClock).toBe(true)
      }
    }),
    { numRuns: 3000 },
  )
})
