import { describe, expect, test } from 'vitest'
import { canonicalTimeZone, isTimeZone } from './time-zones.ts'

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
