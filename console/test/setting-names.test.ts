/** Members read the names of settings in their language, not the names that the API has for them. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { journeyMeta } from '../../server/src/modules/journeys/meta.ts'
import { ruleMeta } from '../../server/src/modules/rules/meta.ts'
import { isComparison } from '../src/parts/rules/rule.ts'
import type { FieldSchema } from '../src/parts/schema-fields.ts'
import { LANGUAGES } from '../src/texts/languages.ts'

const { conditions, operators } = ruleMeta()
const { steps, settings } = journeyMeta()

/** The settings of an object, and those of its items. */
const namesIn = ({ properties = {} }: FieldSchema): string[] =>
  Object.entries(properties).flatMap(([name, { items = {} }]) => [name, ...(name === 'where' ? [] : namesIn(items))])

const ofConditions = Object.values(conditions).flatMap(({ schema }) =>
  namesIn(schema as FieldSchema).filter((name) => !(isComparison(schema as FieldSchema) && name in operators)),
)
const ofJourneys = [settings, ...Object.values(steps).map(({ settings }) => settings)].flatMap((schema) => namesIn(schema as FieldSchema))

test.each(Object.keys(LANGUAGES))('every setting of rules and journeys has a name in %s', (language) => {
  const { setting = {} } = JSON.parse(readFileSync(new URL(`../src/texts/${language}.json`, import.meta.url), 'utf8'))
  expect(Object.keys(setting)).toEqual([...new Set([...ofConditions, ...ofJourneys])].toSorted())
})
