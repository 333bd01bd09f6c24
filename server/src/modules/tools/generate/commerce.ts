import type { Faker } from '@faker-js/faker'
import { refuse } from '../../../lib/errors.ts'
import { COMMERCE_METHODS, type CommerceForm, type CommerceRecord } from '../schema.ts'
import type { Fakers } from './locales.ts'
import { crossed } from './ranges.ts'

type Field = Exclude<CommerceRecord['method'], 'profile'>
type PriceSettings = { priceMin: number; priceMax: number; priceDecimalPlaces: number; priceSymbol: string }
type IsbnSettings = { isbnVariant: 10 | 13; isbnSeparator: string }

export type CommerceSettings = { price: PriceSettings; isbn: IsbnSettings }

/** The settings of a form (D-GEN-8). Throws 422 if the minimum price is above the maximum, defaults included. */
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

/** Generates a record: the fields of the method and their settings. */
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
      return formatPrice(faker.number.float({ min: price.priceMin, max: price.priceMax }), price)
    case 'isbn':
      return faker.commerce.isbn({ variant: isbn.isbnVariant, separator: isbn.isbnSeparator })
    default:
      return faker.commerce[field]()
  }
}

/**
 * Formats an amount as a price. It is rounded, but stays within the bounds if the number of digits allows it. Faker’s own function
 * returns `0` if a bound is negative.
 */
export function formatPrice(amount: number, { priceMin, priceMax, priceDecimalPlaces, priceSymbol }: PriceSettings): string {
  const step = 10 ** -priceDecimalPlaces
  const round = (number: number) => Number(number.toFixed(priceDecimalPlaces))
  const rounded = round(amount)
  const inside = rounded > priceMax ? round(rounded - step) : rounded < priceMin ? round(rounded + step) : rounded
  const digits = Math.abs(inside).toFixed(priceDecimalPlaces)
  return `${inside < 0 ? '-' : ''}${priceSymbol}${digits}`
}
