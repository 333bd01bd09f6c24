/** The languages of texts for people, and how one is chosen. Pure. */
import { partsOf } from './locales.ts'

/** The languages in which the API describes what it offers: kinds of step, condition and provider, and rules in words. The first is the default. */
export const LANGUAGES = ['en', 'de'] as const
export type Language = (typeof LANGUAGES)[number]

const AVAILABLE = { en: null, de: null } satisfies Record<Language, null>

/** The language for an Accept-Language header. */
export const acceptedLanguage = (header: string | undefined): Language => languageFor(acceptedLocales(header), AVAILABLE)

/** The language of the first of these locales that is available, in the same script if there is one; else English. */
export function languageFor<L extends Record<string, unknown> & { en: unknown }>(
  locales: readonly (string | null | undefined)[],
  languages: L,
): keyof L & string {
  const available = Object.keys(languages).map((name) => ({ name, ...partsOf(name) }))
  for (const locale of locales) {
    const { language, script } = partsOf(locale ?? '')
    const known = available.filter((one) => one.language === language)
    const chosen = known.find((one) => one.script === script) ?? known[0]
    if (chosen) return chosen.name
  }
  return 'en'
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
