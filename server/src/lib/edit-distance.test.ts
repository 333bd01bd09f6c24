import { expect, test } from 'vitest'
import { editDistance } from './edit-distance.ts'

test.each([
  ['', '', 0],
  ['', 'abc', 3],
  ['abc', 'abc', 0],
  ['abc', 'ac', 1],
  ['abc', 'abxc', 1],
  ['abc', 'axc', 1],
  ['abc', 'acb', 1],
  ['kitten', 'sitting', 3],
  ['DATABSE_URL', 'DATABASE_URL', 1],
])('from %j to %j takes %i changes, in both directions', (one, other, changes) => {
  expect([editDistance(one, other), editDistance(other, one)]).toEqual([changes, changes])
})
