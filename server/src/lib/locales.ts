import { knownTexts } from './known-texts.ts'

/** The locale with `-` between its parts, otherwise as supplied: the canonical form would turn `iw` into `he` (D-F-4). */
export const normaliseLocale = (text: string) => text.replaceAll('_', '-')

/** Is this a BCP 47 language tag, with `-` or `_` between its parts (D-F-4)? */
export const isLocale = (text: string) => parse(text) !== null

/** The region of a locale, such as `AU` or `419`. A language alone has none: `en` does not mean the United States. */
export const regionOf = (locale: string): string | undefined => parse(locale)?.region

const LENGTH_MAX = 255

const parse = (text: string): Intl.Locale | null => (text.length > LENGTH_MAX ? null : parseWithIntl(text))

// `Intl` takes about 10 µs.
const parseWithIntl = knownTexts((text): Intl.Locale | null => {
  try {
    return new Intl.Locale(normaliseLocale(text))
  } catch {
    return null
  }
})

/** The language, script and region of a locale, those that it leaves out being the likely ones: `zh-TW` is `zh-Hant-TW`. */
export type LocaleParts = { language: string; script: string; region: string; hasRegion: boolean }

/** The parts of a locale. A text that is no locale is a language of its own. */
export const partsOf = knownTexts((text): LocaleParts => {
  const locale = parse(text)
  const likely = locale?.maximize()
  return {
    language: likely?.language ?? text.toLowerCase(),
    script: likely?.script ?? '',
    region: likely?.region ?? '',
    hasRegion: locale?.region !== undefined,
  }
})

const RIGHT_TO_LEFT = new Set(['Adlm', 'Arab', 'Hebr', 'Mand', 'Nkoo', 'Rohg', 'Samr', 'Syrc', 'Thaa'])

/** The direction of the script of a locale, as in the `dir` of HTML. */
export const directionOf = (locale: string): 'ltr' | 'rtl' => (RIGHT_TO_LEFT.has(partsOf(locale).script) ? 'rtl' : 'ltr')

/** Regions in which people write to companies in several languages. */
const SPOKEN: Record<string, readonly string[]> = {
  AD: ['es', 'fr'],
  BE: ['nl', 'fr', 'de'],
  CA: ['en', 'fr'],
  CH: ['de', 'fr', 'it'],
  DZ: ['ar', 'fr'],
  HK: ['zh', 'en'],
  IL: ['he', 'ar'],
  LB: ['ar', 'fr'],
  LU: ['fr', 'de'],
  MA: ['ar', 'fr'],
  MO: ['zh', 'pt'],
  MY: ['en', 'zh'],
  SG: ['en', 'zh'],
  TN: ['ar', 'fr'],
  US: ['en', 'es'],
}

/** The languages of a region: those of the table, or else the likely one. */
export const languagesOf = (region: string): readonly string[] => SPOKEN[region] ?? [partsOf(`und-${region}`).language]
