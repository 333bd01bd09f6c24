import fc from 'fast-check'
import { getCountries, getCountryCallingCode, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { describe, expect, test } from 'vitest'
import { isInternationalPhone, normalisePhone, phoneRegions, regionsOfPhone } from './phone.ts'

describe('a phone number becomes E.164', () => {
  test.each([
    ['+61412345678', [], '+61412345678'],
    ['+61(0)412345678', [], '+61412345678'],
    ['+61 (0)412 345-678', [], '+61412345678'],
    ['+44 (0)20 7946 0958', [], '+442079460958'],
    ['+39 06 1234 5678', [], '+390612345678'],
    ['+1 (415) 555-2671', ['AU'], '+14155552671'],
    ['+1234567890', [], '+1234567890'],
    ['+1.234.567.890', [], '+1234567890'],
    ['0400 123 456', ['AU'], '+61400123456'],
    ['0400/123.456', ['AU'], '+61400123456'],
    ['61400123456', ['AU'], '+61400123456'],
    ['61412345678', [], '+61412345678'],
    ['0061 412 345 678', [], '+61412345678'],
    ['0061 412 345 678', ['AU'], '+61412345678'],
    ['0011 61 412 345 678', ['AU'], '+61412345678'],
    ['4155552671', ['US'], '+14155552671'],
    ['4155552671', ['AU', 'US'], '+14155552671'],
    ['0412 345 678', ['US', 'AU'], '+61412345678'],
    ['030 123456', ['DE'], '+4930123456'],
    ['(555) 123-4567', ['US'], '+15551234567'],
    ['001234567890', [], '+1234567890'],
  ])('%s in %j is %s', (text, regions, expected) => expect(normalisePhone(text, regions)).toBe(expected))

  test.each([
    ['4155552671', []],
    ['0412345678', []],
    ['+12', []],
    ['++61412345678', []],
    ['+1234567890123456', []],
    ['1234567890123456', ['AU']],
    ['+4930123456789012', []],
    ['+0412345678', []],
    ['+', []],
    ['()', ['AU']],
    ['', ['AU']],
    ['12', ['AU']],
    ['+61412345678 ext 5', []],
    ['+61412345678x5', []],
    ['+61412345678;ext=5', []],
    ['call 0412345678', ['AU']],
    ['1300 FLOWERS', ['AU']],
    ['٠٤١٢٣٤٥٦٧٨', ['AU']],
  ])('%j in %j is not a number', (text, regions) => expect(normalisePhone(text, regions)).toBeNull())

  test('an international number is what the library reads, with a prefix that is left out and without', () => {
    const codes = [...new Set(getCountries().map((country) => getCountryCallingCode(country) as string)), '800', '999']
    const prefixes = ['', '0', '1', '8', '06', '015', '1832', '1500', '19023', '9343', '180020', '6699']
    const rest = fc.array(fc.constantFrom(...'0123456789'), { minLength: 3, maxLength: 13 }).map((all) => all.join(''))
    fc.assert(
      fc.property(fc.constantFrom(...codes), fc.constantFrom(...prefixes), rest, (code, prefix, rest) => {
        const digits = `+${code}${prefix}${rest}`
        const number = parsePhoneNumberFromString(digits, { extract: false })
        const isRead = number?.isPossible() && number.number.length <= 16
        expect(normalisePhone(digits, [])).toBe(isRead ? number?.number : isInternationalPhone(digits) ? digits : null)
      }),
      { numRuns: 5000 },
    )
  })

  test('every result is E.164', () => {
    const digits = fc.array(fc.constantFrom(...'0123456789'), { maxLength: 18 }).map((all) => all.join(''))
    const regions = fc.subarray(['AU', 'US', 'DE', 'GB', 'IT', 'BR'])
    fc.assert(
      fc.property(digits, regions, fc.constantFrom('', '+', '00'), (text, regions, prefix) => {
        expect(normalisePhone(prefix + text, regions) ?? '+61412345678').toMatch(/^\+[1-9]\d{2,14}$/)
      }),
    )
  })
})

test.each([
  [{ locale: 'en-AU', timezone: 'America/New_York' }, { locale: 'de-DE', timezone: 'Europe/Paris' }, ['AU', 'US', 'DE', 'FR']],
  [{ locale: 'en', timezone: 'Australia/Sydney' }, { locale: 'en-GB', timezone: 'UTC' }, ['AU', 'GB']],
  [{ locale: 'en_AU', timezone: 'australia/sydney' }, { locale: 'en-AU', timezone: 'Australia/Perth' }, ['AU']],
  [{ locale: 'es-419', timezone: null }, { locale: null, timezone: 'US/Pacific' }, ['US']],
  [{}, { locale: 'not a locale', timezone: 'Nowhere/Nothing' }, []],
])('a user with %j in a project with %j: the regions are %j', (user, project, regions) =>
  expect(phoneRegions(user, project)).toEqual(regions),
)

test.each([
  ['+14165550100', ['CA']],
  ['+12125550100', ['US']],
  ['+41446681800', ['CH']],
  ['+61412345678', ['AU']],
  ['12345', []],
  ['Carillon', []],
])('the regions of the number %s are %j', (number, regions) => expect(regionsOfPhone(number)).toEqual(regions))
