/** The locale with `-` between its parts, otherwise as supplied: canonical form would turn `iw` into `he` (D-F-4). */
export const normaliseLocale = (text: string) => text.replaceAll('_', '-')

/** Is this a language tag of BCP 47, with `-` or `_` between its parts (D-F-4)? */
export const isLocale = (text: string) => parse(text) !== null

/** The region a locale names, such as `AU` or `419`. A language alone names none: `en` is not the United States. */
export const regionOf = (locale: string): string | undefined => parse(locale)?.region

const CACHE_ENTRIES_MAX = 2000

// Asking `Intl` costs some ten microseconds and happens for every contact of an import.
const known = new Map<string, Intl.Locale | null>()

function parse(text: string): Intl.Locale | null {
  const cached = known.get(text)
  if (cached !== undefined) return cached
  if (known.size >= CACHE_ENTRIES_MAX) known.clear()
  const found = ask(text)
  known.set(text, found)
  return found
}

function ask(text: string): Intl.Locale | null {
  try {
    return new Intl.Locale(normaliseLocale(text))
  } catch {
    return null
  }
}
