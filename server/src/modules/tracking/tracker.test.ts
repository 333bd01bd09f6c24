import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSecrets } from '../../infra/runtime/secrets.ts'
import type { CampaignId, MessageId, ProjectId, UserId } from '../../lib/ids.ts'
import { readClick, readOpen, trackerOf } from './tracker.ts'

const key = (id: string, fill: number) => `${id}:${Buffer.alloc(32, fill).toString('base64')}`
const now = new Date('2026-11-23T09:00:00.123Z')
const ctxOf = (...keys: string[]) => ({
  secrets: createSecrets(keys),
  clock: { now: () => now, sleep: async () => undefined },
  baseUrl: () => 'https://carillon.test',
})
const ctx = ctxOf(key('a', 1))
const recipient = { projectId: 3 as ProjectId, campaignId: 40 as CampaignId, userId: 500 as UserId, messageId: 6000 as MessageId }
const tracker = trackerOf(ctx, recipient)

/** The token and the destination of an address, as a server reads them. */
function parts(address: string): [token: string, url: string] {
  const { pathname, searchParams } = new URL(address)
  return [pathname.split('/')[2] as string, searchParams.get('u') ?? '']
}

describe('an address of ours', () => {
  test('says whose message it is, which link, when it was made and where it leads', () => {
    const address = tracker.click(7, 'https://shop.test/?a=1&b=ü +')
    expect(address).toMatch(/^https:\/\/carillon\.test\/c\/[\w-]+\?u=[\w.!~*'()%-]+$/)
    const [token, url] = parts(address)
    expect(url).toBe('https://shop.test/?a=1&b=ü +')
    expect(readClick(ctx, token, url)).toEqual({ ...recipient, link: 7, at: now })
  })

  test('of a picture says the same without a link', () => {
    const [file] = parts(tracker.pixel)
    expect(file).toMatch(/^[\w-]+\.gif$/)
    expect(readOpen(ctx, file.replace('.gif', ''))).toEqual({ ...recipient, link: null, at: now })
  })

  test('leads to the base that it was given', () => {
    expect(trackerOf(ctx, { ...recipient, base: 'https://links.shop.test' }).click(1, 'https://a.test')).toMatch(
      /^https:\/\/links\.shop\.test\/c\//,
    )
  })

  test('is read after its key is no longer the newest', () => {
    const [token, url] = parts(tracker.click(1, 'https://a.test'))
    expect(readClick(ctxOf(key('b', 2), key('a', 1)), token, url)).toBeDefined()
    expect(readClick(ctxOf(key('b', 2)), token, url)).toBeUndefined()
  })
})

describe('no redirect is open:', () => {
  const [token, url] = parts(tracker.click(7, 'https://shop.test/'))
  const [picture] = parts(tracker.pixel)

  test.each([
    ['another destination', token, 'https://evil.test/'],
    ['a longer destination', token, `${url}x`],
    ['no destination', token, ''],
    ['another user', token.replace(/-dw-/, '-dx-'), url],
    ['a cut token', token.slice(0, -1), url],
    ['a longer token', `${token}A`, url],
    ['a token with a line in front', `\n${token}`, url],
    ['the token of a picture', picture.replace('.gif', ''), url],
    ['nothing', '', url],
    ['hyphens', '-------', url],
  ])('%s is not read', (_, token, url) => expect(readClick(ctx, token, url)).toBeUndefined())

  test('the token of a link is none of a picture', () => expect(readOpen(ctx, token)).toBeUndefined())

  test('nothing that is made up is read', () => {
    fc.assert(
      fc.property(fc.string(), fc.webUrl(), (text, url) => {
        expect(readClick(ctx, text, url)).toBeUndefined()
        expect(readClick(ctx, `1-3-4-5-6-7-8-${text}`, url)).toBeUndefined()
        expect(readOpen(ctx, text)).toBeUndefined()
      }),
    )
  })

  test('any destination comes out as it went in', () => {
    fc.assert(
      fc.property(fc.webUrl({ withFragments: true, withQueryParameters: true }), fc.string({ unit: 'grapheme' }), (url, more) => {
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
])('what cannot be led on to stays: %s', (url) => expect(tracker.click(1, url)).toBe(url))

test('an address of an app is led on to', () => {
  const [token, url] = parts(tracker.click(1, 'shop://product/7'))
  expect(readClick(ctx, token, url)).toMatchObject({ link: 1 })
})
