import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dateOfTimestamp, isTime, isWallClock, parseDate, parseTime } from './times.ts'

describe('a time', () => {
  test.each([
    ['2026-11-20', '2026-11-20T00:00:00.000Z'],
    ['2026-11-20T09:30', '2026-11-20T09:30:00.000Z'],
    ['2026-11-20T09:30:15', '2026-11-20T09:30:15.000Z'],
    ['2026-11-20T09:30Z', '2026-11-20T09:30:00.000Z'],
    ['2026-11-20T09:30:15.5Z', '2026-11-20T09:30:15.500Z'],
    ['2026-11-20T09:30:15.999999999Z', '2026-11-20T09:30:15.999Z'],
    ['2026-11-20T09:30:15+10:30', '2026-11-19T23:00:15.000Z'],
    ['2026-11-20T23:30:15-03:00', '2026-11-21T02:30:15.000Z'],
    ['2026-11-20T09:30-00:00', '2026-11-20T09:30:00.000Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
    ['2000-02-29', '2000-02-29T00:00:00.000Z'],
    ['1970-01-01', '1970-01-01T00:00:00.000Z'],
    ['2100-12-31T23:59:59.999Z', '2100-12-31T23:59:59.999Z'],
  ])('%s is %s', (text, instant) => expect(parseTime(text)?.toISOString()).toBe(instant))

  test.each([
    '2026-02-30',
    '2026-02-29',
    '2100-02-29',
    '2026-04-31T00:00Z',
    '2026-13-01',
    '2026-00-10',
    '2026-01-00',
    '2026-11-20T24:00',
    '2026-11-20T09:60',
    '2026-11-20T09:30:60Z',
    '2026-11-20T09:30+24:00',
    '2026-11-20T09:30+10:60',
    '2026-11-20T09:30+1000',
    '2026-11-20T09:30:15.Z',
    '2026-11-20T09:30:15.1234567890Z',
    '2026-11-20T09',
    '2026-11-20 09:30',
    '2026-11-20t09:30z',
    '2026-11-20Z',
    '20261120',
    '2026-W01',
    'Jan 1 2026',
    '1795229781',
    '0070-01-01',
    '1969-12-31T23:59:59.999Z',
    '1970-01-01T00:00+00:01',
    '2101-01-01',
    '2100-12-31T23:59-00:01',
    '+002026-11-20',
    ' 2026-11-20',
    '2026-11-20\n',
    '',
  ])('is not valid: %j', (text) => {
    expect(parseTime(text)).toBeNull()
    expect(isTime(text)).toBe(false)
  })
})

describe('a date in data', () => {
  test.each([
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
    ['0099-12-31T23:59', '0099-12-31T23:59:00.000Z'],
    ['0004-02-29', '0004-02-29T00:00:00.000Z'],
    ['1850-07-01T12:00+10:00', '1850-07-01T02:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s is %s', (text, instant) => {
    expect(parseDate(text)?.toISOString()).toBe(instant)
    expect(parseTime(text)).toBeNull()
  })

  test.each(['0000-12-31', '0001-01-01T00:00+00:01', '9999-12-31T23:59-00:01', '0100-02-29', '10000-01-01', '-0001-01-01'])(
    'is not valid: %j',
    (text) => expect(parseDate(text)).toBeNull(),
  )

  test.each([
    [0, '1970-01-01T00:00:00.000Z'],
    [1795229781.664, '2026-11-21T02:56:21.664Z'],
    [1795229781664, '2026-11-21T02:56:21.664Z'],
    [-1.5, '1969-12-31T23:59:58.500Z'],
    [1e300, undefined],
  ])('is the timestamp %d at %s', (timestamp, instant) => expect(dateOfTimestamp(timestamp)?.toISOString()).toBe(instant))
})

test('a formatted time is parsed to the same instant', () => {
  const instants = fc.date({
    min: new Date('1970-01-01T00:00:00Z'),
    max: new Date('2100-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  })
  fc.assert(
    fc.property(instants, (instant) => {
      expect(parseTime(instant.toISOString())).toEqual(instant)
    }),
  )
})

test.each([
  ['2026-11-20', true],
  ['2026-11-20T09:30', true],
  ['2026-11-20T09:30:15.5', true],
  ['2026-11-20T09:30Z', false],
  ['2026-11-20T09:30+10:00', false],
  ['2026-11-20T09:30-10:00', false],
  ['2026-02-30T09:30', false],
  ['tomorrow', false],
])('%s is a local time: %s', (text, expected) => expect(isWallClock(text)).toBe(expected))
