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
