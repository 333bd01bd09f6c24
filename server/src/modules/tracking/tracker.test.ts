import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyText } from '../../../test/arbitrary-text.ts'
import { createSecrets } from '../../infra/runtime/secrets.ts'
import type { CampaignId, MessageId, ProjectId, UserId } from '../../lib/ids.ts'
import { readClick, readOpen, trackerOf } from './tracker.ts'

const key = (id: string, fill: number) => `${id}:${Buffer.alloc(32, fill).toString('base64')}`
const now = new Date('2026-11-23T09:00:00.123Z')
const ctxOf = (...keys: string[]) => ({
  secrets: createSecrets(keys),
  clock: { now: () => now, sleep: async () => undefined, skewMs: 0 },
  baseUrl: () => 'https://carillon.test',
})
const ctx = ctxOf(key('a', 1))
const recipient = { projectId: 3 as ProjectId, campaignId: 40 as CampaignId, userId: 500 as UserId, messageId: 6000 as MessageId }
const tracker = trackerOf(ctx, recipient)

/** The token and the target in a URL. */
function parts(address: string): [token: string, url: string] {
  const { pathname, searchParams } = new URL(address)
  return [pathname.split('/')[2] as string, searchParams.get('u') ?? '']
}

describe('a tracked URL', () => {
  test('contains the message, the link, the time and the target', () => {
    const address = tracker.click(7, 'https://shop.test/?a=1&b=ü +')
    expect(address).toMatch(/^https:\/\/carillon\.test\/c\/[\w-]+\?u=[\w.!~*'()%-]+$/)
    const [token, url] = parts(address)
    expect(url).toBe('https://shop.test/?a=1&b=ü +')
    expect(readClick(ctx, token, url)).toEqual({ ...recipient, link: 7, at: now })
  })

  test('of a pixel contains the same without a link', () => {
    const [file] = parts(tracker.pixel)
    expect(file).toMatch(/^[\w-]+\.gif$/)
    expect(readOpen(ctx, file.replace('.gif', ''))).toEqual({ ...recipient, link: null, at: now })
  })

  test('has the given base', () => {
    expect(trackerOf(ctx, { ...recipient, base: 'https://links.shop.test' }).click(1, 'https://a.test')).toMatch(
      /^https:\/\/links\.shop\.test\/c\//,
    )
  })

  test('is valid after its key was rotated', () => {
    const [token, url] = parts(tracker.click(1, 'https://a.test'))
    expect(readClick(ctxOf(key('b', 2), key('a', 1)), token, url)).toBeDefined()
    expect(readClick(ctxOf(key('b', 2)), token, url)).toBeUndefined()
  })
})

describe('no redirect is open:', () => {
  const [token, url] = parts(tracker.click(7, 'https://shop.test/'))
  const [picture] = parts(tracker.pixel)

  test.each([
    ['another target', token, 'https://evil.test/'],
    ['a longer target', token, `${url}x`],
    ['no target', token, ''],
    ['another user', token.replace(/-dw-/, '-dx-'), url],
    ['a truncated token', token.slice(0, -1), url],
    ['a longer token', `${token}A`, url],
    ['a token after a line break', `\n${token}`, url],
    ['the token of a pixel', picture.replace('.gif', ''), url],
    ['nothing', '', url],
    ['hyphens', '-------', url],
  ])('%s is refused', (_, token, url) => expect(readClick(ctx, token, url)).toBeUndefined())

  test('the token of a link is not valid for a pixel', () => expect(readOpen(ctx, token)).toBeUndefined())

  test('random signatures are refused', () => {
    fc.assert(
      fc.property(fc.string(), fc.webUrl(), (text, url) => {
        expect(readClick(ctx, text, url)).toBeUndefined()
        expect(readClick(ctx, `1-3-4-5-6-7-8-${text}`, url)).toBeUndefined()
        expect(readOpen(ctx, text)).toBeUndefined()
      }),
    )
  })

  test('every target is returned unchanged', () => {
    fc.assert(
      fc.property(fc.webUrl({ withFragments: true, withQueryParameters: true }), anyText, (url, more) => {
        const destination = url + more
        const address = tracker.click(1, destination)
        if (address === destination) return
        const [token, read] = parts(address)
        expect(read).toBe(destination)
        expect(readClick(ctx, token, read)).toBeDefined()
      }),
    )
  })
})

test.each([
  'javascript:alert(1)',
  'data:text/html,x',
  'mailto:a@b.test',
  'tel:1',
  '/path',
  '',
  'https://',
  'https://a.test/\ud800',
  `https://a.test/${'x'.repeat(9000)}`,
])('is not tracked: %s', (url) => expect(tracker.click(1, url)).toBe(url))

test('a URL of an app is tracked', () => {
  const [token, url] = parts(tracker.click(1, 'shop://product/7'))
  expect(readClick(ctx, token, url)).toMatchObject({ link: 1 })
})
