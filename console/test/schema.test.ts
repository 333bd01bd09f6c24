/** How attributes are named in the register, and who can read them. */
import { expect, test } from 'vitest'
import { pathOf } from '../src/parts/attribute-paths.ts'
import { dataKeyOf, readersOf } from '../src/screens/schema/view.ts'

test.each([
  ['data.plan', 'plan'],
  ['data.a\\.b', 'a.b'],
  ['data.a\\\\b', 'a\\b'],
  ['email', null],
])('the register names %s as %s', (attribute, key) => {
  expect(dataKeyOf(attribute)).toBe(key)
  if (key !== null) expect(pathOf([key])).toBe(attribute)
})

test.each([
  [undefined, 'everyone'],
  [{ min_role: 'editor', hidden: false }, 'editor'],
  [{ min_role: 'editor', hidden: true }, 'hidden'],
])('%o is read by: %s', (entry, readers) => expect(readersOf(entry)).toBe(readers))
