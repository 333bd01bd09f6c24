import { expect, test } from 'vitest'
import { minutesLeft, paceOf } from '../src/parts/pace.ts'

test('the pace is what was done since the first mark, in a second', () => {
  const first = { done: 1000, atMs: 500 }
  expect(paceOf(first, { done: 4000, atMs: 2000 })).toBe(2000)
  expect(paceOf(first, { done: 1000, atMs: 2000 })).toBeNull()
  expect(paceOf(first, { done: 900, atMs: 2000 })).toBeNull()
  expect(paceOf(first, { done: 2000, atMs: 500 })).toBeNull()
})

test.each([
  [1, 1000, 1],
  [60_000, 1000, 1],
  [60_001, 1000, 2],
  [600_000, 1000, 10],
])('%i at %i a second take %i minutes', (left, pace, minutes) => {
  expect(minutesLeft(left, pace)).toBe(minutes)
})
