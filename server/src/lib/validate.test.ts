import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { Exact, Line, Nullable } from './shapes.ts'
import { checker, freeFormProblem, ITEM_ERRORS_MAX } from './validate.ts'

const unknownMembers = (count: number): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`member_${index}`, index]))

const Shape = Exact({ name: Line(20), inner: Type.Optional(Nullable(Exact({ ids: Type.Array(Type.Integer()) }))) })

test.each([
  ['unknown members', { name: 'x', ...unknownMembers(80_000) }],
  ['unknown members of an inner object', { name: 'x', inner: { ids: [], ...unknownMembers(80_000) } }],
  ['wrong items', { name: 'x', inner: { ids: Array.from({ length: 80_000 }, () => 'x') } }],
])('80,000 %s: checking stops after 200 errors', (_, value) => {
  expect(checker(Shape)(value).faults).toHaveLength(200)
})

test('an item of a batch is given up after a few errors', () => {
  const Item = Exact({ name: Line(20) })
  const { faults } = checker(Item, { errorsMax: ITEM_ERRORS_MAX })(unknownMembers(80_000))
  expect(faults).toHaveLength(ITEM_ERRORS_MAX)
})

test('fewer errors are all found', () => {
  expect(checker(Shape)({ ...unknownMembers(150), inner: { ids: ['x'] } }).faults).toHaveLength(152)
})

test('keys of a free-form object are measured in code points', () => {
  expect(freeFormProblem({ ['😀'.repeat(255)]: 0 }, 65_536)).toBeNull()
  expect(freeFormProblem({ ['😀'.repeat(256)]: 0 }, 65_536)).toBe('may only have keys of 1 to 255 characters')
})

test.each([
  [1, 1],
  [-0.5, 4],
  [123_456_789_012_345_680_000, 21],
  [1e21, 22],
  [-1e21, 23],
  [1.5e308, 309],
  [1e-7, 9],
  [-1.25e-7, 12],
  [5e-324, 326],
])('the number %d takes %d bytes in free-form data, as PostgreSQL writes it', (number, bytes) => {
  // The name and the brackets take six.
  expect(freeFormProblem({ a: number }, bytes + 6)).toBeNull()
  expect(freeFormProblem({ a: number }, bytes + 5)).toMatch(/^may take at most/)
  expect(freeFormProblem({ a: [{ b: number }, 'e+e-'] }, bytes + 21)).toBeNull()
  expect(freeFormProblem({ a: [{ b: number }, 'e+e-'] }, bytes + 20)).toMatch(/^may take at most/)
})

test('a text that looks like a number with an exponent takes its own length', () => {
  expect(freeFormProblem({ a: '1e+308' }, 14)).toBeNull()
})
