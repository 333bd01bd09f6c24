/** Whether a user gets messages of a subscription type, as “Why?” says. */
import { expect, test } from 'vitest'
import { isAgreed } from '../src/parts/consent.ts'

test.each([
  [0, false, false, false],
  [1, false, false, true],
  [2, false, false, true],
  [0, false, true, true],
  [1, true, false, false],
  [2, true, false, true],
])('state %i, with confirmation %s, transactional %s: %s', (state, requires_confirmation, is_transactional, agreed) =>
  expect(isAgreed({ state, requires_confirmation, is_transactional })).toBe(agreed),
)
