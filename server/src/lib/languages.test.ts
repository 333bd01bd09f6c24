import { expect, test } from 'vitest'
import { acceptedLocales, languageFor } from './languages.ts'

const LANGUAGES = { en: 1, de: 1, he: 1, pt: 1, zh: 1, zh_Hant: 1 }

test.each([
  [['de-AT', 'en'], 'de'],
  [['DE', 'en'], 'de'],
  [['pt_BR'], 'pt'],
  [[null, undefined, 'de'], 'de'],
  [['sv-SE', 'pt'], 'pt'],
  [['sv-SE'], 'en'],
  [['constructor'], 'en'],
  [['zh-CN'], 'zh'],
  [['zh-TW', 'en'], 'zh_Hant'],
  [['zh_Hant_HK'], 'zh_Hant'],
  [['zh-Hans-HK'], 'zh'],
  [['iw-IL'], 'he'],
  [[], 'en'],
])('%j: %s', (locales, expected) => {
  expect(languageFor(locales, LANGUAGES)).toBe(expected)
})

test.each([
  [undefined, []],
  ['', []],
  ['*', []],
  ['fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5', ['fr-CH', 'fr', 'en', 'de']],
  ['en;q=0.1,ja;q=1', ['ja', 'en']],
  ['de;q=0,en', ['en']],
  ['de;q=x,en', ['en']],
  [' nl ; q=0.5 , it', ['it', 'nl']],
])('%j asks for %j', (header, expected) => {
  expect(acceptedLocales(header)).toEqual(expected)
})
