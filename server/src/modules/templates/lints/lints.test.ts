import { expect, test } from 'vitest'
import { findingsIn } from './find.ts'
import * as registry from './index.ts'
import type { Lint, LintContext } from './lint.ts'

const lints = Object.entries(registry) as [string, Lint][]

const about: LintContext = {
  isTransactional: false,
  isTrigger: false,
  attributes: new Set(['name']),
  areAllUsersCounted: true,
  sample: { user: { data: { name: 'Ana' } } },
}

const examples = lints.flatMap(([kind, { find, channels, examples }]) => examples.map((example) => ({ kind, find, channels, ...example })))

test.each(examples)(
  '$kind finds $finds in example %#',
  ({ find, channels, channel = channels[0] ?? 'email', content, about: given, finds }) => {
    expect(channels).toContain(channel)
    const found = find({ channel, written: content, rendered: content, isRendered: false, about: { ...about, ...given } })
    expect(found.map(({ param, line }) => (line === undefined ? param : `${param}:${line}`))).toEqual(finds)
    for (const { message } of found) expect(message).toMatch(/^[A-Z].*[.?]$/s)
  },
)

test.each(lints)('%s has an example with a finding and one without', (_, { examples }) => {
  expect(examples.some(({ finds }) => finds.length > 0) && examples.some(({ finds }) => finds.length === 0)).toBe(true)
})

test('findings are ordered by severity', () => {
  const html = '<a href="#">x</a><img src="http://example.com/a.png">'
  const found = findingsIn({ channel: 'email', written: { subject: 's', html, text: 'x' }, rendered: { html }, isRendered: false, about })
  expect(found.map(({ kind, severity }) => [kind, severity])).toEqual([
    ['broken_href', 'error'],
    ['no_unsubscribe_link', 'error'],
    ['insecure_link', 'warning'],
    ['missing_alt', 'warning'],
    ['no_text_link', 'info'],
  ])
})
