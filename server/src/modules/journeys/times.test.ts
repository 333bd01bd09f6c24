import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { atDate, atTimeOfDay, clamped, durationOf, instantOfLocal, localOf, WEEKDAYS, type Weekday } from './times.ts'

const at = (text: string) => new Date(text)
const HALF_DAY_MS = 12 * 3_600_000

/** Local times that daylight saving skips or repeats, with the instant that counts. */
const TRANSITIONS: [zone: string, what: string, local: string, instant: string][] = [
  ['Australia/Sydney', 'a gap', '2026-10-04T02:30', '2026-10-03T16:30:00.000Z'],
  ['Australia/Sydney', 'an overlap', '2026-04-05T02:30', '2026-04-04T15:30:00.000Z'],
  ['Australia/Lord_Howe', 'a gap of half an hour', '2026-10-04T02:15', '2026-10-03T15:45:00.000Z'],
  ['Australia/Lord_Howe', 'an overlap of half an hour', '2026-04-05T01:45', '2026-04-04T14:45:00.000Z'],
  ['America/Santiago', 'a gap at midnight', '2026-09-06T00:00', '2026-09-06T04:00:00.000Z'],
  ['America/Santiago', 'an overlap before midnight', '2026-04-04T23:30', '2026-04-05T02:30:00.000Z'],
  ['Africa/Casablanca', 'an overlap at the start of Ramadan', '2026-02-15T02:30', '2026-02-15T01:30:00.000Z'],
  ['Africa/Casablanca', 'a gap at its end', '2026-03-22T02:30', '2026-03-22T02:30:00.000Z'],
  ['UTC', 'nothing', '2026-10-04T02:30', '2026-10-04T02:30:00.000Z'],
]

describe.each(TRANSITIONS)('in %s, %s at %s', (zone, _, local, instant) => {
  const [date = '', time = ''] = local.split('T')

  test('as a time of day', () => {
    const before = new Date(Date.parse(instant) - HALF_DAY_MS)
    expect(atTimeOfDay(before, { time }, zone).toISOString()).toBe(instant)
  })

  test('as a date', () => {
    expect(atDate(local, {}, zone)?.toISOString()).toBe(instant)
    expect(atDate(date, { time }, zone)?.toISOString()).toBe(instant)
    expect(atDate(date, { time, days: 0, hours: 1 }, zone)?.toISOString()).toBe(new Date(Date.parse(instant) + 3_600_000).toISOString())
  })

  test('as a local time', () => expect(instantOfLocal(local, zone).toISOString()).toBe(instant))
})

describe('a time of day', () => {
  test.each<[from: string, settings: Parameters<typeof atTimeOfDay>[1], zone: string, expected: string]>([
    ['2026-11-23T09:00:00.000Z', { time: '09:00' }, 'UTC', '2026-11-23T09:00:00.000Z'],
    ['2026-11-23T09:00:00.001Z', { time: '09:00' }, 'UTC', '2026-11-24T09:00:00.000Z'],
    ['2026-11-23T08:00:00Z', { time: '09:00', days: 1 }, 'UTC', '2026-11-24T09:00:00.000Z'],
    ['2026-11-23T10:00:00Z', { time: '09:00', days: 1 }, 'UTC', '2026-11-24T09:00:00.000Z'],
    ['2026-11-23T23:30:00Z', { time: '09:00', days: 1 }, 'Australia/Sydney', '2026-11-24T22:00:00.000Z'],
    ['2026-11-23T09:00:00Z', { time: '09:00', after: at('2026-11-23T09:00:00Z') }, 'UTC', '2026-11-24T09:00:00.000Z'],
    ['2026-11-23T10:00:00Z', { time: '09:00', weekdays: ['mo'] }, 'UTC', '2026-11-30T09:00:00.000Z'],
    ['2026-11-21T10:00:00Z', { time: '09:00', weekdays: ['sa', 'su'] }, 'UTC', '2026-11-22T09:00:00.000Z'],
    // Friday 30 December 2011 did not exist in Samoa.
    ['2011-12-29T20:00:00Z', { time: '09:00', weekdays: ['sa'] }, 'Pacific/Apia', '2011-12-30T19:00:00.000Z'],
  ])('after %s, %j in %s is at %s', (from, settings, zone, expected) => {
    expect(atTimeOfDay(at(from), settings, zone).toISOString()).toBe(expected)
  })

  test('is the earliest instant with that local time that is allowed', () => {
    const zones = fc.constantFrom('UTC', 'Australia/Sydney', 'Australia/Lord_Howe', 'America/Santiago', 'Africa/Casablanca')
    const instants = fc.integer({ min: Date.parse('2026-01-01'), max: Date.parse('2027-01-01') }).map((ms) => new Date(ms))
    const minutes = fc.integer({ min: 0, max: 1439 })
    const days = fc.subarray([...WEEKDAYS], { minLength: 1 })
    fc.assert(
      fc.property(zones, instants, minutes, days, (zone, from, minute, weekdays: Weekday[]) => {
        const time = `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`
        const found = atTimeOfDay(from, { time, weekdays }, zone)
        expect(found.getTime()).toBeGreaterThanOrEqual(from.getTime())
        expect(found.getTime()).toBeLessThan(from.getTime() + 9 * 86_400_000)
        // Nor does it depend on what was asked before.
        const between = new Date((from.getTime() + found.getTime()) / 2)
        expect(atTimeOfDay(between, { time, weekdays }, zone)).toEqual(found)
        expect(atTimeOfDay(found, { time, weekdays, after: found }, zone).getTime()).toBeGreaterThan(found.getTime())
        expect(atTimeOfDay(from, { time, weekdays }, zone)).toEqual(found)
        const local = localOf(found, zone)
        const isMoved = local.slice(11) !== time
        if (isMoved) expect(instantOfLocal(`${local.slice(0, 10)}T${time}`, zone)).toEqual(found)
        const weekday = WEEKDAYS[(new Date(`${local.slice(0, 10)}T00:00:00Z`).getUTCDay() + 6) % 7] as Weekday
        expect(weekdays).toContain(weekday)
      }),
    )
  })
})

test.each<[text: string, settings: Parameters<typeof atDate>[1], zone: string, expected: string | null]>([
  ['2026-12-01', {}, 'UTC', '2026-12-01T00:00:00.000Z'],
  [' 2026-12-01 ', {}, 'Australia/Sydney', '2026-11-30T13:00:00.000Z'],
  ['2026-12-01', { time: '09:00' }, 'Australia/Sydney', '2026-11-30T22:00:00.000Z'],
  ['2026-12-01T10:30', {}, 'Australia/Sydney', '2026-11-30T23:30:00.000Z'],
  ['2026-12-01T10:30:00.250Z', {}, 'Australia/Sydney', '2026-12-01T10:30:00.250Z'],
  ['2026-12-01T10:30:00+02:00', {}, 'Australia/Sydney', '2026-12-01T08:30:00.000Z'],
  ['2026-12-01T20:00:00Z', { time: '09:00' }, 'Australia/Sydney', '2026-12-01T22:00:00.000Z'],
  ['1796119200', {}, 'UTC', '2026-12-01T10:00:00.000Z'],
  ['2026-12-10', { days: 7, direction: 'before' }, 'UTC', '2026-12-03T00:00:00.000Z'],
  ['2026-12-10', { days: 7, direction: 'before', time: '09:00' }, 'UTC', '2026-12-03T09:00:00.000Z'],
  ['2026-12-10', { days: 1, hours: 2, minutes: 30 }, 'UTC', '2026-12-11T02:30:00.000Z'],
  ['2026-12-10', { hours: 2, direction: 'before' }, 'UTC', '2026-12-09T22:00:00.000Z'],
  // A day of the calendar, which has 23 hours here.
  ['2026-10-03T12:00', { days: 1 }, 'Australia/Sydney', '2026-10-04T01:00:00.000Z'],
  // The second 02:10 of the night, as an instant.
  ['2026-04-04T16:10:00Z', { hours: 1 }, 'Australia/Sydney', '2026-04-04T17:10:00.000Z'],
  ['2026-02-29', {}, 'UTC', null],
  ['2028-02-29', {}, 'UTC', '2028-02-29T00:00:00.000Z'],
  ['soon', {}, 'UTC', null],
  ['', {}, 'UTC', null],
  ['2026', {}, 'UTC', null],
])('the date %j with %j in %s is at %s', (text, settings, zone, expected) => {
  expect(atDate(text, settings, zone)?.toISOString() ?? null).toBe(expected)
})

test('a duration counts days of 24 hours', () => {
  expect(durationOf({ days: 2, hours: 3, minutes: 4 })).toBe(((2 * 24 + 3) * 60 + 4) * 60_000)
  expect(durationOf({})).toBe(0)
})

test.each([
  ['2036-11-23T09:00:00.000Z', '2036-11-23T09:00:00.000Z', false],
  ['2036-11-23T09:00:00.001Z', '2036-11-23T09:00:00.000Z', true],
])('%s is at most ten years ahead at %s', (due, expected, isClamped) => {
  expect(clamped(at(due), at('2026-11-23T09:00:00Z'))).toEqual({ at: at(expected), isClamped })
})
