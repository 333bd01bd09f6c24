import { expect, test } from 'vitest'
import { received, withSent } from '../src/parts/sent-searches.ts'

test('what comes back late does not replace what was typed since; what comes from elsewhere does', () => {
  const sent = withSent(withSent([], 'a'), 'ab')
  const first = received(sent, 'a')
  expect(first).toEqual({ isOwn: true, sent: ['ab'] })
  expect(received(first.sent, 'ab')).toEqual({ isOwn: true, sent: [] })
  // Back to the first search, by the browser.
  expect(received([], 'a')).toEqual({ isOwn: false, sent: [] })
  expect(received(sent, 'other')).toEqual({ isOwn: false, sent: [] })
})

test('of several that were sent at once, those before the last need not come', () => {
  expect(received(['a', 'ab', 'abc'], 'abc')).toEqual({ isOwn: true, sent: [] })
})
