import { FOOD_METHODS, type FoodRecord } from '../schema.ts'
import type { Fakers } from './locales.ts'

type Field = Exclude<FoodRecord['method'], 'profile'>

const ALL_FIELDS = FOOD_METHODS.filter((method) => method !== 'profile')

/** Generates a record: the field of the method, or all fields. */
export function foodRecord({ faker }: Fakers, method: FoodRecord['method']): FoodRecord {
  const texts: Partial<Record<Field, string>> = {}
  for (const field of method === 'profile' ? ALL_FIELDS : [method]) texts[field] = faker.food[field]()
  return { method, value: texts[method === 'profile' ? 'dish' : method] ?? '', ...texts }
}
