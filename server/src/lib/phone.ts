import { getTimezone } from 'countries-and-timezones'
import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { regionOf } from './locales.ts'
import { canonicalTimeZone } from './time-zones.ts'

/** The locale and time zone of a user or of a project. */
export type PhoneDefaults = { locale?: string | null | undefined; timezone?: string | null | undefined }

const SEPARATORS = /[ ().\-/]/g
// Wider than the numbering plans, so that fictional numbers are valid too.
const INTERNATIONAL = /^\+[1-9]\d{6,14}$/

/** Whether a text has the form of E.164: `+` and digits. */
export const isInternationalPhone = (text: string): boolean => INTERNATIONAL.test(text)

/** The countries whose number format to try, the likeliest first (D-F-2). */
export function phoneRegions(user: PhoneDefaults, project: PhoneDefaults): string[] {
  const regions = [user, project].flatMap(({ locale, timezone }) => [locale && regionOf(locale), timezone && countryOf(timezone)])
  return [...new Set(regions.filter((region) => typeof region === 'string').filter((region) => isSupportedCountry(region)))]
}

const countryOf = (timezone: string) => getTimezone(canonicalTimeZone(timezone))?.countries[0]

/**
 * The phone number in E.164, or null if it is not a phone number (D-F-2). A number without `+` is read as it would be dialled in
 * the first region in which it is valid. `regions` are ISO 3166-1 codes from `phoneRegions`.
 */
export function normalisePhone(text: string, regions: string[]): string | null {
  if (!/^\+?[0-9 ().\-/]+$/.test(text)) return null
  const digits = text.replace(SEPARATORS, '')
  if (digits.startsWith('+')) return readInternational(digits)
  const local = regions.map((region) => parse(digits, region as CountryCode))
  return (
    local.find((number) => number?.isValid())?.number ??
    (digits.startsWith('00') ? readInternational(`+${digits.slice(2)}`) : null) ??
    validOnly(parse(`+${digits}`))?.number ??
    local.find((number) => number?.isPossible())?.number ??
    null
  )
}

/** The country of an international number; empty without one, as for a short code. */
export function regionsOfPhone(number: string): string[] {
  const country = isInternationalPhone(number) ? parse(number)?.country : undefined
  return country === undefined ? [] : [country]
}

function readInternational(digits: string): string | null {
  const number = parse(digits)
  if (number?.isPossible()) return number.number
  return isInternationalPhone(digits) ? digits : null
}

type PhoneNumber = ReturnType<typeof parsePhoneNumberFromString>

const validOnly = (number: PhoneNumber) => (number?.isValid() ? number : undefined)

const E164_LENGTH_MAX = '+'.length + 15

function parse(digits: string, region?: CountryCode): PhoneNumber {
  // Without `extract: false` the library looks for numbers inside prose.
  const number = parsePhoneNumberFromString(digits, { extract: false, ...(region && { defaultCountry: region }) })
  // A few countries have possible numbers that are longer than the standard allows.
  return number && number.number.length <= E164_LENGTH_MAX ? number : undefined
}
