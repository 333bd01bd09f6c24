/** Chooses a language. Pure. */

/** The language of the first of these locales that is available, else English. */
export function languageFor<L extends Record<string, unknown> & { en: unknown }>(
  locales: readonly (string | null | undefined)[],
  languages: L,
): keyof L & string {
  const wanted = locales.map((locale) => locale?.split(/[-_]/)[0]?.toLowerCase() ?? '')
  return wanted.find((language): language is keyof L & string => Object.hasOwn(languages, language)) ?? 'en'
}

const ACCEPTED_MAX = 20

/** The locales of an Accept-Language header (RFC 9110), the preferred one first. */
export function acceptedLocales(header: string | undefined): string[] {
  const ranges = (header ?? '').split(',', ACCEPTED_MAX).map((range) => {
    const [locale = '', ...parameters] = range.split(';').map((part) => part.trim())
    const weight = parameters.find((parameter) => /^q=/i.test(parameter))?.slice(2)
    return { locale, weight: weight === undefined ? 1 : Number(weight) }
  })
  return ranges
    .filter(({ locale, weight }) => /^[a-z]{2,8}(?:-|$)/i.test(locale) && weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ locale }) => locale)
}
