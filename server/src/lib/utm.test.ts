import { expect, test } from 'vitest'
import { withUtm } from './utm.ts'

const utm = { source: 'news', medium: 'email', campaign: 'May & June' }
const all = 'utm_source=news&utm_medium=email&utm_campaign=May%20%26%20June'

test.each([
  ['https://example.com', `https://example.com?${all}`],
  ['https://example.com/a?', `https://example.com/a?${all}`],
  ['https://example.com/a?b=1', `https://example.com/a?b=1&${all}`],
  ['https://example.com/a?b=1&', `https://example.com/a?b=1&${all}`],
  ['https://example.com/a?b=1#c?d', `https://example.com/a?b=1&${all}#c?d`],
  ['https://example.com/#top', `https://example.com/?${all}#top`],
  ['https://example.com/?UTM_Source=own', 'https://example.com/?UTM_Source=own&utm_medium=email&utm_campaign=May%20%26%20June'],
  [`https://example.com/?${all}`, `https://example.com/?${all}`],
  ['mailto:ana@example.com', 'mailto:ana@example.com'],
  ['app://open', 'app://open'],
])('%s becomes %s', (url, expected) => expect(withUtm(url, utm)).toBe(expected))
