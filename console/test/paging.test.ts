import { expect, test } from 'vitest'
import { isNothing } from '../src/parts/paging.ts'

test.each([
  [{ results: [], nextCursor: null, prevCursor: null }, true],
  [{ results: [1], nextCursor: null, prevCursor: null }, false],
  [{ results: [], nextCursor: 'later', prevCursor: null }, false],
  [{ results: [], nextCursor: null, prevCursor: 'earlier' }, false],
])('of %j it is said that there is nothing: %j', (page, said) => {
  expect(isNothing(page)).toBe(said)
})
