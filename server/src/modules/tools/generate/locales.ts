/** The locales of the generators, and the generators themselves, which are loaded at their first use. */
import type { Faker } from '@faker-js/faker'

/** Every locale of the pinned faker except `base` (D-GEN-3). */
// biome-ignore format: a table of codes reads better in columns
export const LOCALES = [
  'af_ZA', 'ar', 'az', 'bn_BD', 'cs_CZ', 'cy', 'da', 'de', 'de_AT', 'de_CH', 'dv', 'el', 'en', 'en_AU', 'en_AU_ocker',
  'en_BORK', 'en_CA', 'en_GB', 'en_GH', 'en_HK', 'en_IE', 'en_IN', 'en_NG', 'en_NP', 'en_US', 'en_ZA', 'eo', 'es',
  'es_MX', 'fa', 'fi', 'fr', 'fr_BE', 'fr_CA', 'fr_CH', 'fr_LU', 'fr_SN', 'he', 'hr', 'hu', 'hy', 'id_ID', 'it', 'ja',
  'ka_GE', 'ko', 'ku_ckb', 'ku_kmr_latin', 'lv', 'mk', 'mn_MN_cyrl', 'nb_NO', 'ne', 'nl', 'nl_BE', 'pl', 'pt_BR',
  'pt_PT', 'ro', 'ro_MD', 'ru', 'sk', 'sl_SI', 'sr_RS_latin', 'sv', 'ta_IN', 'th', 'tr', 'uk', 'ur', 'uz_UZ_latin',
  'vi', 'yo_NG', 'zh_CN', 'zh_TW', 'zu_ZA',
] as const

export type LocaleCode = (typeof LOCALES)[number]

/** Each letter in both cases, because clients that validate by the schema may not know the modifier `(?i:)`. */
const spellings = (code: string) =>
  Array.from(code, (letter) => (letter === '_' ? '[_-]' : `[${letter.toUpperCase()}${letter.toLowerCase()}]`)).join('')

/** Matches every accepted spelling of every code: any case, and `-` or `_`. */
export const LOCALE_PATTERN = `^(${LOCALES.map(spellings).join('|')})$`

/** The canonical code of a locale. `asked` must match `LOCALE_PATTERN`. */
export function canonicalLocale(asked: string): LocaleCode {
  const code = LOCALES.find((code) => new RegExp(`^${spellings(code)}$`, 'u').test(asked))
  if (!code) throw new Error('The locale does not match LOCALE_PATTERN.')
  return code
}

/** Two generators that share one seeded source of randomness. `english` is for data that the locale does not have. */
export type Fakers = { faker: Faker; english: Faker }

/**
 * The generators of one request (D-GEN-4). The package is imported at its first use, because that takes up to 200 ms and 40 MB, and
 * most servers never need it.
 */
export async function openFakers(locale: LocaleCode, seed: number): Promise<Fakers> {
  const { allLocales, Faker, generateMersenne53Randomizer } = await import('@faker-js/faker')
  const { en, base } = allLocales
  const randomizer = generateMersenne53Randomizer(seed)
  return {
    faker: new Faker({ locale: [allLocales[locale], en, base], randomizer }),
    english: new Faker({ locale: [en, base], randomizer }),
  }
}
