import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { matches } from '../../../lib/validate.ts'
import {
  COMMERCE_METHODS,
  CommerceRecord,
  ContactRecord,
  FOOD_METHODS,
  FoodRecord,
  LOREM_METHODS,
  type LoremForm,
  LoremRecord,
  STRATEGIES,
} from '../schema.ts'
import { commerceRecord, commerceSettings, formatPrice } from './commerce.ts'
import { contactRecord } from './contact.ts'
import { foodRecord } from './food.ts'
import { canonicalLocale, type Fakers, LOCALE_PATTERN, LOCALES, openFakers } from './locales.ts'
import { loremRecord, loremSettings } from './lorem.ts'

const isLorem = matches(LoremRecord)
const isCommerce = matches(CommerceRecord)
const isFood = matches(FoodRecord)
const isContact = matches(ContactRecord)

const lorem = async (form: LoremForm, seed = 1, locale = canonicalLocale('en')) =>
  loremRecord(await openFakers(locale, seed), form.method ?? 'profile', loremSettings(form))

describe('the locales', () => {
  test('are all locales of the pinned faker', async () => {
    const { allLocales } = await import('@faker-js/faker')
    expect(
      Object.keys(allLocales)
        .filter((code) => code !== 'base')
        .sort(),
    ).toEqual([...LOCALES].sort())
  })

  test.each([
    ['pt_BR', 'pt_BR'],
    ['PT-br', 'pt_BR'],
    ['sr-rs_LATIN', 'sr_RS_latin'],
    ['EN', 'en'],
  ])('%s is read as %s', (asked, code) => expect(canonicalLocale(asked)).toBe(code))

  test.each(['base', 'xx', 'en_', 'en-US ', 'enUS', 'fr_DE', ''])('“%s” is not a locale', (asked) => {
    expect(new RegExp(LOCALE_PATTERN, 'u').test(asked)).toBe(false)
  })

  test('are found for every spelling that matches the pattern', () => {
    const spelling = fc
      .constantFrom(...LOCALES)
      .chain((code) =>
        fc.tuple(
          fc.constant(code),
          fc.tuple(...[...code].map((c) => fc.constantFrom(c.toLowerCase(), c.toUpperCase(), c === '_' ? '-' : c))),
        ),
      )
    fc.assert(
      fc.property(spelling, ([code, letters]) => {
        const asked = letters.join('')
        return new RegExp(LOCALE_PATTERN, 'u').test(asked) && canonicalLocale(asked) === code
      }),
    )
  })
})

describe('every locale', () => {
  test.each(LOCALES)('%s has all records with valid fields', async (locale) => {
    const fakers = await openFakers(locale, 7)
    const none = { slugs: 0 }
    for (let i = 0; i < 20; i++) {
      const text = loremRecord(fakers, 'profile', loremSettings({}))
      expect(isLorem(text)).toBeNull()
      if (!/[a-z]/.test(text.slug ?? '')) none.slugs++
      for (const method of LOREM_METHODS) expect(loremRecord(fakers, method, loremSettings({})).value).not.toBe('')
      for (const method of COMMERCE_METHODS) expect(commerceRecord(fakers, method, commerceSettings({})).value).not.toBe('')
      for (const method of FOOD_METHODS) expect(foodRecord(fakers, method).value).not.toBe('')
      expect(isCommerce(commerceRecord(fakers, 'profile', commerceSettings({})))).toBeNull()
      expect(isFood(foodRecord(fakers, 'profile'))).toBeNull()
    }
    expect(none).toEqual({ slugs: 0 })
  })

  test.each(LOCALES)('%s has contacts that can be imported', async (locale) => {
    const fakers = await openFakers(locale, 7)
    for (let i = 0; i < 50; i++) {
      const contact = contactRecord(fakers)
      expect(isContact(contact)).toBeNull()
      expect(contact.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      expect(isImportable(contact)).toBeNull()
      expect(contact.phone).toMatch(/^\+[1-9]\d{6,14}$/)
      expect(contact.website).toMatch(/^https:\/\/[a-z0-9-]+(\.[a-z0-9-]+)+$/)
      expect(contact.email).toMatch(/@example\.(com|net|org)$/)
    }
  })
})

const isImportable = matches({
  type: 'object',
  properties: { email: { type: 'string', format: 'email', maxLength: 254 }, website: { type: 'string', format: 'website-url' } },
})

describe('text', () => {
  test('has only the fields of its method', async () => {
    const fields = Object.fromEntries(
      await Promise.all(
        LOREM_METHODS.map(async (method) => [
          method,
          Object.keys(await lorem({ method, wordLength: '5' }))
            .sort()
            .join(' '),
        ]),
      ),
    )
    const word = 'wordCount wordCountMax wordCountMin'
    const sentence = 'sentenceCount sentenceCountMax sentenceCountMin'
    expect(fields).toMatchObject({
      word: 'method strategy value word wordLength wordLengthMax wordLengthMin',
      words: `method value ${word} words`,
      sentence: `method sentence value ${word}`,
      slug: `method slug value ${word}`,
      paragraph: `method paragraph ${sentence} value`,
      sentences: `method ${sentence} sentences separator value`,
      paragraphs: 'method paragraphCount paragraphCountMax paragraphCountMin paragraphs separator value',
      lines: 'lineCount lineCountMax lineCountMin lines method value',
      text: 'method text value',
    })
  })

  test('of a profile has every field, and its text as value', async () => {
    const profile = await lorem({ wordLength: '5' })
    expect(Object.keys(profile).sort()).toEqual(Object.keys(LoremRecord.properties).sort())
    expect(profile.value).toBe(profile.text)
  })

  test('has no word lengths if the form has none', async () => {
    expect(await lorem({ method: 'word' })).toEqual({
      method: 'word',
      value: expect.any(String),
      word: expect.any(String),
      strategy: 'any-length',
    })
  })

  test.each<[LoremForm, (record: LoremRecord) => number | undefined, number]>([
    [{ method: 'words', wordCount: '50' }, ({ words }) => words?.split(' ').length, 50],
    [{ method: 'sentence', wordCount: '7' }, ({ sentence }) => sentence?.split(' ').length, 7],
    [{ method: 'slug', wordCount: '1' }, ({ slug }) => slug?.split('-').length, 1],
    [{ method: 'lines', lineCount: '20' }, ({ lines }) => lines?.split('\n').length, 20],
    [{ method: 'sentences', sentenceCount: '4', separator: '|' }, ({ sentences }) => sentences?.split('|').length, 4],
    [{ method: 'paragraph', sentenceCount: '4' }, ({ paragraph }) => paragraph?.match(/\./g)?.length, 4],
    [{ method: 'paragraphs', paragraphCount: '5' }, ({ paragraphs }) => paragraphs?.split('\n').length, 5],
    [{ method: 'paragraphs', paragraphCount: '3', separator: '' }, ({ paragraphs }) => paragraphs?.split('\n').length, 1],
    [{ method: 'word', wordLength: '14' }, ({ word }) => word?.length, 14],
  ])('of %o is of that size', async (form, size, expected) => expect(size(await lorem(form))).toBe(expected))

  test('reports the size it drew from a range', async () => {
    const { words = '', wordCount, wordCountMin, wordCountMax } = await lorem({ method: 'words', wordCountMin: '2', wordCountMax: '40' })
    expect({ wordCount, wordCountMin, wordCountMax }).toEqual({
      wordCount: words.split(' ').length,
      wordCountMin: 2,
      wordCountMax: 40,
    })
  })

  test.each([
    ['sentences', ' '],
    ['paragraphs', '\n'],
  ] as const)('of %s is joined by %o by default', async (method, separator) => {
    expect(await lorem({ method })).toMatchObject({ separator })
    expect(await lorem({ method, separator: '' })).toMatchObject({ separator: '' })
  })

  test('ignores parameters that its method does not use', async () => {
    expect(await lorem({ method: 'words', lineCount: '3', separator: '|', strategy: 'fail' })).toEqual(await lorem({ method: 'words' }))
  })

  test('is refused with the strategy `fail` if no word is long enough', async () => {
    await expect(lorem({ method: 'word', wordLength: '14', strategy: 'fail' }, 1, 'ja')).rejects.toMatchObject({
      code: 'validation_failed',
      status: 422,
      param: 'strategy',
    })
  })

  test.each(STRATEGIES.filter((strategy) => strategy !== 'fail'))('uses another word with the strategy %s', async (strategy) => {
    const record = await lorem({ method: 'word', wordLength: '14', strategy }, 1, 'ja')
    expect(record).toMatchObject({ wordLength: 14, strategy })
    expect(record.word).not.toBe('')
  })
})

describe('commerce', () => {
  let fakers: Fakers
  beforeAll(async () => {
    fakers = await openFakers('en', 3)
  })

  test('has only the fields of its method', () => {
    const fields = (method: (typeof COMMERCE_METHODS)[number]) => Object.keys(commerceRecord(fakers, method, commerceSettings({}))).sort()
    expect(fields('price')).toEqual(['method', 'price', 'priceDecimalPlaces', 'priceMax', 'priceMin', 'priceSymbol', 'value'])
    expect(fields('isbn')).toEqual(['isbn', 'isbnSeparator', 'isbnVariant', 'method', 'value'])
    expect(fields('productName')).toEqual(['method', 'productName', 'value'])
    expect(fields('profile')).toEqual(Object.keys(CommerceRecord.properties).sort())
  })

  test('returns its settings as numbers and text', () => {
    const settings = commerceSettings({
      priceMin: '-.5',
      priceMax: '+10',
      priceDecimalPlaces: '0',
      priceSymbol: '',
      isbnVariant: '10',
      isbnSeparator: '',
    })
    expect(commerceRecord(fakers, 'profile', settings)).toMatchObject({
      priceMin: -0.5,
      priceMax: 10,
      priceDecimalPlaces: 0,
      priceSymbol: '',
      isbnVariant: 10,
      isbnSeparator: '',
      isbn: expect.stringMatching(/^\d{9}[\dX]$/),
    })
  })

  test.each([[{ priceMin: '5', priceMax: '4' }], [{ priceMin: '1000.01' }], [{ priceMax: '0.99' }]])(
    'refuses a minimum price above the maximum: %o',
    (form) => {
      expect(() => commerceSettings(form)).toThrow(expect.objectContaining({ code: 'validation_failed', param: 'priceMin' }))
    },
  )

  test.each([
    [12.345, { priceMin: 0, priceMax: 20, priceDecimalPlaces: 2, priceSymbol: '$' }, '$12.35'],
    [-3.5, { priceMin: -5, priceMax: 5, priceDecimalPlaces: 1, priceSymbol: '€' }, '-€3.5'],
    [-0.001, { priceMin: -1, priceMax: 1, priceDecimalPlaces: 2, priceSymbol: '$' }, '$0.00'],
    [9.999, { priceMin: 0, priceMax: 9.999, priceDecimalPlaces: 2, priceSymbol: '' }, '9.99'],
    [1.001, { priceMin: 1.001, priceMax: 2, priceDecimalPlaces: 2, priceSymbol: '' }, '1.01'],
    [7, { priceMin: 7, priceMax: 7, priceDecimalPlaces: 0, priceSymbol: 'kr ' }, 'kr 7'],
  ])('formats %d within %o as %s', (amount, settings, price) => expect(formatPrice(amount, settings)).toBe(price))

  test('keeps prices within their bounds, of either sign', () => {
    const cents = fc.integer({ min: -1e14, max: 1e14 })
    fc.assert(
      fc.property(cents, cents, fc.integer({ min: 2, max: 10 }), (a, b, places) => {
        const [priceMin, priceMax] = a <= b ? [a / 100, b / 100] : [b / 100, a / 100]
        const settings = commerceSettings({
          priceMin: priceMin.toFixed(2),
          priceMax: priceMax.toFixed(2),
          priceDecimalPlaces: `${places}`,
        })
        const { price = '' } = commerceRecord(fakers, 'price', settings)
        return Number(price) >= priceMin && Number(price) <= priceMax && price.split('.')[1]?.length === places
      }),
    )
  })

  test('draws different prices if a bound is negative', () => {
    const settings = commerceSettings({ priceMin: '-100' })
    expect(new Set(Array.from({ length: 20 }, () => commerceRecord(fakers, 'price', settings).price)).size).toBeGreaterThan(15)
  })

  test('generates ISBNs with correct check digits', () => {
    for (let i = 0; i < 200; i++) {
      const thirteen = commerceRecord(fakers, 'isbn', commerceSettings({})).value.replaceAll('-', '')
      expect(thirteen).toMatch(/^97[89]\d{10}$/)
      expect([...thirteen].reduce((sum, digit, at) => sum + Number(digit) * (at % 2 ? 3 : 1), 0) % 10).toBe(0)
      const ten = commerceRecord(fakers, 'isbn', commerceSettings({ isbnVariant: '10', isbnSeparator: ' ' })).value.replaceAll(' ', '')
      expect([...ten].reduce((sum, digit, at) => sum + (digit === 'X' ? 10 : Number(digit)) * (10 - at), 0) % 11).toBe(0)
    }
  })
})

describe('food', () => {
  test('has the field of its method, or all fields with the dish as value', async () => {
    const fakers = await openFakers('en', 3)
    expect(Object.keys(foodRecord(fakers, 'spice'))).toEqual(['method', 'value', 'spice'])
    const profile = foodRecord(fakers, 'profile')
    expect(Object.keys(profile).sort()).toEqual(Object.keys(FoodRecord.properties).sort())
    expect(profile.value).toBe(profile.dish)
  })
})
