import { expect, test } from 'vitest'
import type { Alignment } from '../../../lib/dmarc.ts'
import { isAuthenticated } from './assess.ts'

test.each<[from: string, isStrict: boolean, spf: Alignment | null, expected: boolean]>([
  ['shop.example', true, null, true],
  ['news.shop.example', false, null, true],
  ['news.shop.example', true, null, false],
  ['news.shop.example', true, 'relaxed', true],
  ['news.shop.example', true, 'strict', false],
  ['news.shop.example', false, 'strict', true],
  ['bounce.shop.example', true, 'strict', true],
  ['other.example', false, 'relaxed', false],
])('email from %s, where signatures are strict: %s, and SPF is %s, counts as authenticated: %s', (from, isStrict, spf, expected) => {
  expect(isAuthenticated(from, { domain: 'shop.example', isStrict, returnPath: 'bounce.shop.example', spf })).toBe(expected)
})
