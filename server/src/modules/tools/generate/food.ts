import { FOOD_METHODS, type FoodRecord } from '../schema.ts'
import type { Fakers } from './locales.ts'

type Field = Exclude<FoodRecord['method'], 'profile'>

const ALL_FIELDS = FOOD_METHODS.filter((method) => method !== 'profile')

/** One record: the field of its method, or all of them. */
export function foodRecord({ faker }: Fakers, method: FoodRecord['method']): FoodRecord {
  const texts: Partial<Record<Field, string>> = {}
  for (const field of method === 'profile' ? ALL_FIELDS : [method]) texts[field] = faker.food[field]()
  return { method, value: texts[method === 'profile' ? 'dish' : method] ?? '', ...texts }
}
