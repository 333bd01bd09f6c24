/** The columns of the list of users that its reader chooses. */
import { expect, test } from 'vitest'
import { namesOf, pathOf } from '../src/parts/attribute-paths.ts'
import {
  COLUMNS_MAX,
  columnsOf,
  FIRST_COLUMNS,
  pathsInside,
  shortened,
  textOf,
  valueAt,
  withToggled,
} from '../src/screens/users/chosen-columns.ts'

test.each([
  ['data.plan', ['plan']],
  ['data.address.city', ['address', 'city']],
  ['data.a\\.b', ['a.b']],
  ['data.a\\.b.c', ['a.b', 'c']],
  ['data.a\\\\.b', ['a\\', 'b']],
  ['data.__proto__', ['__proto__']],
])('the path %s has the names %j', (path, names) => {
  expect(namesOf(path)).toEqual(names)
  expect(pathOf(names)).toBe(path)
})

test.each(['email', 'data', 'data.', 'data..a', 'data.a.', ''])('“%s” is no path of an attribute', (path) =>
  expect(namesOf(path)).toBeNull(),
)

const DATA = { plan: 'pro', 'a.b': 1, a: { b: 2, 'c.d': { e: true } }, tags: ['x', 'y'], none: null, empty: '' }

test.each([
  ['data.plan', 'pro'],
  ['data.a\\.b', '1'],
  ['data.a.b', '2'],
  ['data.a.c\\.d.e', 'true'],
  ['data.a.c\\.d', '{"e":true}'],
  ['data.tags', '["x","y"]'],
  ['data.none', ''],
  ['data.empty', ''],
  ['data.missing.too', ''],
  ['data.plan.length', ''],
  ['data.tags.0', ''],
  ['data.toString', ''],
])('%s is shown as “%s”', (path, text) => expect(textOf(valueAt(DATA, path))).toBe(text))

test('a long text is cut between letters, not inside of one', () => {
  expect(shortened('é'.repeat(60))).toBe('é'.repeat(60))
  expect(shortened(textOf({ name: '😀'.repeat(60) }))).toBe(`{"name":"${'😀'.repeat(50)}…`)
})

test('attributes inside of attributes are found, four names deep', () => {
  expect(pathsInside(DATA)).toEqual(['data.a.b', 'data.a.c\\.d', 'data.a.c\\.d.e'])
  expect(pathsInside({ a: { b: { c: { d: { e: 1 } } } } })).toEqual(['data.a.b', 'data.a.b.c', 'data.a.b.c.d'])
})

test('a column that is chosen comes last, and one that is chosen again goes', () => {
  expect(withToggled(['email'], 'data.plan')).toEqual(['email', 'data.plan'])
  expect(withToggled(['email', 'data.plan'], 'email')).toEqual(['data.plan'])
})

test('there are not more columns than the limit', () => {
  const many = Array.from({ length: COLUMNS_MAX }, (_, index) => `data.a${index}`)
  expect(withToggled(many, 'email')).toEqual(many)
  expect(columnsOf(JSON.stringify([...many, 'email']))).toEqual(many)
})

test.each([
  ['["email","data.a\\\\.b"]', ['email', 'data.a\\.b']],
  ['[]', []],
  ['["email","email","password","data.",5,null]', ['email']],
])('%s is kept as %j', (stored, columns) => expect(columnsOf(stored)).toEqual(columns))

test.each([null, '', 'null', '{"email":true}', '"email"', '['])('%j is no choice: the first columns are shown', (stored) =>
  expect(columnsOf(stored)).toEqual(FIRST_COLUMNS),
)
