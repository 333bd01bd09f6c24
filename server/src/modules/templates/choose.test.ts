import { describe, expect, test } from 'vitest'
import { chooseTemplate } from './choose.ts'

test.each<[string[], string | null, string, string | undefined]>([
  [['en', 'en-AU', 'fr'], 'en-AU', 'fr', 'en-AU'],
  [['en-GB', 'en', 'fr'], 'en-AU', 'fr', 'en'],
  [['fr', 'en-GB', 'en-US'], 'en-AU', 'fr', 'en-GB'],
  [['de', 'fr-CA'], 'fr', 'de', 'fr-CA'],
  [['de-AT', 'de'], 'ja', 'de-AT', 'de-AT'],
  [['it', 'de'], 'ja', 'de-AT', 'de'],
  [['it', 'de-CH'], 'ja', 'de-AT', 'de-CH'],
  [['it', 'es'], 'ja', 'de-AT', 'it'],
  [['it', 'de'], null, 'de', 'de'],
  [['it', 'PT-br'], 'pt-BR', 'it', 'PT-br'],
  [['it', 'pt-BR'], 'pt_BR', 'it', 'pt-BR'],
  [['zh-Hant-TW', 'zh-Hans'], 'zh-Hans', 'en', 'zh-Hans'],
  [['en', 'zh-CN', 'zh-TW'], 'zh-Hant-TW', 'en', 'zh-TW'],
  [['en', 'zh', 'zh-Hant-TW'], 'zh-TW', 'en', 'zh-Hant-TW'],
  [['en', 'zh-Hant', 'zh-Hant-TW'], 'zh_TW', 'en', 'zh-Hant-TW'],
  [['zh', 'zh-TW'], 'zh-HK', 'en', 'zh-TW'],
  [['zh-TW', 'zh-Hant'], 'zh-HK', 'en', 'zh-Hant'],
  [['zh-TW', 'zh-SG'], 'zh-Hans', 'en', 'zh-SG'],
  [['zh-TW', 'en'], 'zh-CN', 'en', 'zh-TW'],
  [['sr', 'sr-Latn-RS'], 'sr-Latn', 'en', 'sr-Latn-RS'],
  [['en', 'he'], 'iw-IL', 'en', 'he'],
  [['pt-PT', 'pt-BR'], 'pt', 'en', 'pt-PT'],
  [['fil', 'fi'], 'fi-FI', 'fil', 'fi'],
  [[], 'en', 'en', undefined],
])('of %j a user with %s in a project with %s gets %s', (locales, user, project, expected) =>
  expect(
    chooseTemplate(
      locales.map((locale) => ({ locale, variant: 0 })),
      user,
      project,
      0,
    )?.locale,
  ).toBe(expected),
)

describe('variants', () => {
  const templates = ['en 0', 'fr 0', 'en 1', 'de 1'].map((name) => {
    const [locale, variant] = name.split(' ')
    return { name, locale: locale as string, variant: Number(variant) }
  })
  test.each([
    ['en', 0, 'en 0'],
    ['en', 1, 'en 1'],
    ['fr', 1, 'en 1'],
    ['de', 1, 'de 1'],
    ['de', 0, 'en 0'],
    ['fr', 2, 'fr 0'],
  ])('a user with %s of the variant %i gets %s', (locale, variant, expected) =>
    expect(chooseTemplate(templates, locale, 'en', variant)?.name).toBe(expected),
  )
})
