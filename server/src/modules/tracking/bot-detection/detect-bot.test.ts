import { describe, expect, test } from 'vitest'
import { MINUTE_MS } from '../../../lib/times.ts'
import { detectBot } from './detect-bot.ts'
import type { Detector, TrackedRequest } from './detector.ts'
import * as detectors from './index.ts'

const BROWSER = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36'
const request = (given: Partial<TrackedRequest>): TrackedRequest => ({
  kind: 'click',
  userAgent: BROWSER,
  headers: {},
  sinceSentMs: MINUTE_MS,
  ...given,
})

const examples = Object.entries(detectors as Record<string, Detector>).flatMap(([name, { is, examples }]) =>
  examples.map((example) => ({ name, is, example })),
)

test.each(examples)('$name is recognised: $example', ({ name, is, example }) => {
  expect(detectBot(request(example))).toEqual({
    isBot: is === 'bot',
    isProxied: is === 'proxy',
    reason: is === 'user' ? null : name,
  })
})

describe('these user agents are users', () => {
  test.each([
    BROWSER,
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)',
    'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:132.0) Gecko/20100101 Firefox/132.0',
  ])('%s', (userAgent) => {
    for (const kind of ['open', 'click'] as const) {
      expect(detectBot(request({ kind, userAgent }))).toEqual({ isBot: false, isProxied: false, reason: null })
    }
  })
})

test.each([
  [{ kind: 'click', sinceSentMs: 1000 }, false],
  [{ kind: 'click', sinceSentMs: 0 }, true],
  // Clocks of servers differ, so a negative time has no meaning.
  [{ kind: 'click', sinceSentMs: -5 }, false],
  [{ kind: 'open', sinceSentMs: 0 }, false],
  [{ kind: 'click', userAgent: 'Mozilla/5.0' }, true],
  [{ kind: 'open', userAgent: 'Mozilla/5.0' }, true],
  [{ kind: 'open', userAgent: 'Mozilla/4.0 (compatible; ms-office; MSOffice 16)' }, false],
  [{ kind: 'open', userAgent: BROWSER, headers: { purpose: 'prefetch' } }, true],
] as [Partial<TrackedRequest>, boolean][])('%o is a bot: %s', (given, isBot) => expect(detectBot(request(given)).isBot).toBe(isBot))
