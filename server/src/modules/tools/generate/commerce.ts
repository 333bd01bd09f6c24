import type { Faker } from '@faker-js/faker'
import { refuse } from '../../../lib/errors.ts'
import { COMMERCE_METHODS, type CommerceForm, type CommerceRecord } from '../schema.ts'
import type { Fakers } from './locales.ts'
import { crossed } from './ranges.ts'

type Field = Exclude<CommerceRecord['method'], 'profile'>
type PriceSettings = { priceMin: number; priceMax: number; priceDecimalPlaces: number; priceSymbol: string }
type IsbnSettings = { isbnVariant: 10 | 13; isbnSeparator: string }

export type CommerceSettings = { price: PriceSettings; isbn: IsbnSettings }

/** What the form asks of the shop (D-GEN-8). Refuses with 422 a lowest price above the highest, defaults included. */
export function commerceSettings(form: CommerceForm): CommerceSettings {
  const priceMin = Number(form.priceMin ?? 1)
  const priceMax = Number(form.priceMax ?? 1000)
  refuse(crossed('price', priceMin, priceMax))
  return {
    price: { priceMin, priceMax, priceDecimalPlaces: Number(form.priceDecimalPlaces ?? 2), priceSymbol: form.priceSymbol ?? '' },
    isbn: { isbnVariant: form.isbnVariant === '10' ? 10 : 13, isbnSeparator: form.isbnSeparator ?? '-' },
  }
}

const ALL_FIELDS = COMMERCE_METHODS.filter((method) => method !== 'profile')

/** One record: the fields of its method and the settings they were made with. */
export function commerceRecord({ faker }: Fakers, method: CommerceRecord['method'], settings: CommerceSettings): CommerceRecord {
  const fields = method === 'profile' ? ALL_FIELDS : [method]
  const texts: Partial<Record<Field, string>> = {}
  for (const field of fields) texts[field] = make(faker, field, settings)
  return {
    method,
    value: texts[method === 'profile' ? 'productName' : method] ?? '',
    ...texts,
    ...(fields.includes('price') && settings.price),
    ...(fields.includes('isbn') && settings.isbn),
  }
}

function make(faker: Faker, field: Field, { price, isbn }: CommerceSettings): string {
  switch (field) {
    case 'price':
      return writePrice(faker.number.float({ min: price.priceMin, max: price.priceMax }), price)
    case 'isbn':
      return faker.commerce.isbn({ variant: isbn.isbnVariant, separator: isbn.isbnSeparator })
    default:
      return faker.commerce[field]()
  }
}

/**
 * A number between the bounds as a price: rounded, and kept inside the bounds wherever so few digits allow it.
 * Faker's own price answers `0` as soon as a bound is negative.
 */
export function writePrice(amount: number, { priceMin, priceMax, priceDecimalPlaces, priceSymbol }: PriceSettings): string {
  const step = 10 ** -priceDecimalPlaces
  const round = (number: number) => Number(number.toFixed(priceDecimalPlaces))
  const rounded = round(amount)
  const inside = rounded > priceMax ? round(rounded - step) : rounded < priceMin ? round(rounded + step) : rounded
  const digits = Math.abs(inside).toFixed(priceDecimalPlaces)
  return `${inside < 0 ? '-' : ''}${priceSymbol}${digits}`
}
