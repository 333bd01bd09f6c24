/** The locale with `-` between its parts, otherwise as supplied: canonical form would turn `iw` into `he` (D-F-4). */
export const normaliseLocale = (text: string) => text.replaceAll('_', '-')

/** Is this a language tag of BCP 47, with `-` or `_` between its parts (D-F-4)? */
export const isLocale = (text: string) => parse(text) !== null

/** The region a locale names, such as `AU` or `419`. A language alone names none: `en` is not the United States. */
export const regionOf = (locale: string): string | undefined => parse(locale)?.region

function parse(text: string): Intl.Locale | null {
  try {
    return new Intl.Locale(normaliseLocale(text))
  } catch {
    return null
  }
}
