import { expect, test } from 'vitest'
import { judgeLink, linksIn, SANDBOX_LINKS_MAX } from './sandbox-links.ts'

const BASE = 'http://127.0.0.1:3000'
const own = {
  base: BASE,
  targetOf: (url: string) => (url.startsWith(`${BASE}/c/`) ? new URL(url).searchParams.get('u') : null),
}

test.each<[string, string, string | null, string | null]>([
  [`${BASE}/s/u/abc`, 'unsubscribe', null, null],
  [`${BASE}/s/p/abc`, 'preferences', null, null],
  [`${BASE}/v/abc`, 'view', null, null],
  [`${BASE}/c/abc?u=https%3A%2F%2Fexample.com%2Fa`, 'tracked', 'https://example.com/a', null],
  [`${BASE}/c/abc?u=http%3A%2F%2Flocalhost%3A8080%2Fa`, 'tracked', 'http://localhost:8080/a', 'loopback'],
  [`${BASE}/orders`, 'web', null, 'loopback'],
  ['https://shop.localhost/', 'web', null, 'loopback'],
  ['https://[::1]/', 'web', null, 'loopback'],
  ['https://0x7f.1/', 'web', null, 'loopback'],
  ['https://127.0.0.1.example.com/', 'web', null, null],
  ['https://example.com/', 'web', null, null],
  ['http://example.com/', 'web', null, 'insecure'],
  ['https://exa mple.com/', 'web', null, 'syntax'],
  ['https:example.com', 'web', null, 'syntax'],
  ['https://', 'web', null, 'syntax'],
  ['mailto:ana@example.com', 'email', null, null],
  ['tel:+61491570156', 'phone', null, null],
  ['shop://beans/1', 'app', null, null],
  ['shop:', 'app', null, 'syntax'],
  ['#beans', 'anchor', null, null],
  ['#', 'none', null, 'empty'],
  ['', 'none', null, 'empty'],
  ['/beans', 'none', null, 'relative'],
  ['www.example.com', 'none', null, 'relative'],
  ['JavaScript:go()', 'none', null, 'script'],
])('%s is %s', (url, kind, target, problem) => expect(judgeLink(url, own)).toEqual({ kind, target, problem }))

test('links have their words and their lines, also where tags are not closed', () => {
  const html =
    '<p><a href="https://a.example/?x=1&amp;y=2">See <b>the&nbsp;sale</b></a>\n<a name="top">No link</a>\n<a href="/b">One<a href=" /c ">Two\n<map><area href="#d">'
  expect(linksIn(html)).toEqual([
    { url: 'https://a.example/?x=1&y=2', text: 'See the sale', line: 1 },
    { url: '/b', text: 'One', line: 3 },
    { url: '/c', text: 'Two', line: 3 },
    { url: '#d', text: '', line: 4 },
  ])
})

test('only so many links are read', () => {
  expect(linksIn('<a href="/">x</a>'.repeat(SANDBOX_LINKS_MAX + 10))).toHaveLength(SANDBOX_LINKS_MAX)
})
