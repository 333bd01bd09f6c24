import { getTimezone } from 'countries-and-timezones'
import { type CountryCode, isSupportedCountry, Metadata, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { regionOf } from './locales.ts'
import { canonicalTimeZone } from './time-zones.ts'

/** The locale and time zone of a user or of a project. */
export type PhoneDefaults = { locale?: string | null | undefined; timezone?: string | null | undefined }

const SEPARATORS = /[ ().\-/]/g
// Wider than the numbering plans, so that fictional numbers are valid too.
const INTERNATIONAL = /^\+[1-9]\d{6,14}$/

/** A number without what people write between its digits. */
export const withoutSeparators = (text: string): string => text.replace(SEPARATORS, '')

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
  const digits = withoutSeparators(text)
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
  if (isInternationalPhone(digits) && hasNoPrefix(digits)) return digits
  const number = parse(digits)
  if (number?.isPossible()) return number.number
  return isInternationalPhone(digits) ? digits : null
}

/** The members of the library’s numbering plans that its types leave out. */
type Plans = {
  hasCallingCode(code: string): boolean
  selectNumberingPlan(code: string): void
  nationalPrefixForParsing(): string | undefined
}

const CALLING_CODE_LENGTH_MAX = 3
/** What the library leaves out or changes at the start of national numbers, by calling code; null where it keeps them all. */
const prefixes = new Map<string, RegExp | null>()

/**
 * Whether an international number is written without the prefix that is dialled inside its country. The library would return it as it is, but
 * would look for the exact country first, which takes many times as long.
 */
function hasNoPrefix(digits: string): boolean {
  const plans = new Metadata() as unknown as Plans
  for (let end = 2; end <= 1 + CALLING_CODE_LENGTH_MAX; end++) {
    const code = digits.slice(1, end)
    if (plans.hasCallingCode(code)) return prefixOf(plans, code)?.test(digits.slice(end)) !== true
  }
  return true
}

function prefixOf(plans: Plans, code: string): RegExp | null {
  const known = prefixes.get(code)
  if (known !== undefined) return known
  plans.selectNumberingPlan(code)
  const pattern = plans.nationalPrefixForParsing()
  const prefix = pattern ? new RegExp(`^(?:${pattern})`) : null
  prefixes.set(code, prefix)
  return prefix
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
