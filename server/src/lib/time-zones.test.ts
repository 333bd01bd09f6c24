import { Temporal } from 'temporal-polyfill'
import { describe, expect, test } from 'vitest'
import { canonicalTimeZone, isTimeZone, usableTimeZone } from './time-zones.ts'

describe('a time zone', () => {
  test.each(['Australia/Sydney', 'UTC', 'GMT', 'US/Pacific', 'Etc/GMT+5', 'america/argentina/buenos_aires', 'EST5EDT'])(
    'is valid: %s',
    (text) => expect(isTimeZone(text)).toBe(true),
  )

  test.each([
    '',
    '+10:00',
    '-03',
    'Sydney',
    'Australia/Atlantis',
    'Australia/Sydney ',
    '../etc/passwd',
    'A'.repeat(51),
    'A'.repeat(100_000),
  ])('is not valid: %j', (text) => {
    expect(isTimeZone(text)).toBe(false)
    // The second answer comes from the cache.
    expect(isTimeZone(text)).toBe(false)
  })
})

const ABBREVIATIONS = 'ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST SST VST'.split(' ')

test.each(ABBREVIATIONS)('%s, which means several zones, is not valid, and does not replace the zone of the project', (name) => {
  for (const text of [name, name.toLowerCase()]) {
    expect(isTimeZone(text)).toBe(false)
    expect(usableTimeZone(text, 'Europe/Berlin')).toBe('Europe/Berlin')
  }
})

test('times can be computed in every zone that is valid', () => {
  const names = [
    ...ABBREVIATIONS,
    ...Intl.supportedValuesOf('timeZone'),
    'EST',
    'MST',
    'HST',
    'EST5EDT',
    'CET',
    'GMT0',
    'Zulu',
    'ROK',
    'PRC',
  ]
  const valid = names.filter(isTimeZone)
  expect(valid.length).toBe(names.length - ABBREVIATIONS.length)
  for (const name of valid) expect(() => Temporal.Instant.from('2026-11-28T00:00Z').toZonedDateTimeISO(name), name).not.toThrow()
})

test.each([
  ['Australia/Sydney', 'Australia/Sydney'],
  ['australia/SYDNEY', 'Australia/Sydney'],
  ['utc', 'UTC'],
  ['US/Pacific', 'US/Pacific'],
  ['GMT', 'GMT'],
  ['Asia/Kolkata', 'Asia/Kolkata'],
  ['Asia/Calcutta', 'Asia/Calcutta'],
])('%s is stored as %s', (text, stored) => expect(canonicalTimeZone(text)).toBe(stored))

test('zones are still recognised after more names than the cache holds', () => {
  for (let n = 0; n < 2100; n++) expect(isTimeZone(`Nowhere/N${n}`)).toBe(false)
  expect(canonicalTimeZone('europe/berlin')).toBe('Europe/Berlin')
})
