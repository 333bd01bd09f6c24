import { describe, expect, test } from 'vitest'
import { directionOf, isLocale, languagesOf, normaliseLocale, partsOf, regionOf } from './locales.ts'

describe('a locale', () => {
  test.each(['en', 'en-AU', 'en_AU', 'iw', 'zh-Hant-TW', 'zh_Hant_TW', 'es-419', 'de-DE-u-co-phonebk'])('is a language tag: %s', (text) =>
    expect(isLocale(text)).toBe(true),
  )

  test.each(['', 'english language', 'e', 'en-', 'en__AU', '-AU', 'en-AU!', '*', 'en AU'])('is not %j', (text) =>
    expect(isLocale(text)).toBe(false),
  )
})

test.each([
  ['en_AU', 'en-AU'],
  ['zh_Hant_TW', 'zh-Hant-TW'],
  ['iw', 'iw'],
  ['EN-au', 'EN-au'],
])('%s is stored as %s', (text, stored) => expect(normaliseLocale(text)).toBe(stored))

test.each([
  ['en-AU', 'AU'],
  ['en_au', 'AU'],
  ['zh-Hant-TW', 'TW'],
  ['en-UK', 'GB'],
  ['es-419', '419'],
  ['en', undefined],
  ['sr-Latn', undefined],
  ['not a locale', undefined],
])('the region of %s is %s', (locale, region) => expect(regionOf(locale)).toBe(region))

test.each([
  ['zh-TW', 'zh Hant TW', true],
  ['zh_Hant', 'zh Hant TW', false],
  ['zh', 'zh Hans CN', false],
  ['sr-Latn', 'sr Latn RS', false],
  ['iw', 'he Hebr IL', false],
  ['en-UK', 'en Latn GB', true],
  ['es-419', 'es Latn 419', true],
  ['not a locale', 'not a locale  ', false],
])('the parts of %s are %s', (locale, expected, hasRegion) => {
  const { language, script, region, ...rest } = partsOf(locale)
  expect(`${language} ${script} ${region}`).toBe(expected)
  expect(rest).toEqual({ hasRegion })
})

test.each([
  ['ar', 'rtl'],
  ['fa-AF', 'rtl'],
  ['iw', 'rtl'],
  ['pa-Arab', 'rtl'],
  ['pa', 'ltr'],
  ['az', 'ltr'],
  ['zh-Hant', 'ltr'],
  ['not a locale', 'ltr'],
])('the direction of %s is %s', (locale, direction) => expect(directionOf(locale)).toBe(direction))

test.each([
  ['CA', ['en', 'fr']],
  ['PL', ['pl']],
  ['TW', ['zh']],
  ['IR', ['fa']],
  ['AT', ['de']],
  ['419', ['es']],
])('the languages of %s are %j', (region, languages) => expect(languagesOf(region)).toEqual(languages))
