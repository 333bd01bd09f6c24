import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { narrowed, shareOf } from './limits.ts'
import { PROVIDERS } from './providers.ts'
import { limitsOf, siteOf } from './sites.ts'

describe('the site of a domain', () => {
  test.each<[string, string[], string, string]>([
    ['Gmail', ['gmail-smtp-in.l.google.com', 'alt1.gmail-smtp-in.l.google.com'], 'google', 'Google'],
    ['a domain at Google', ['ASPMX.L.GOOGLE.COM.', 'alt1.aspmx.l.google.com', 'aspmx2.googlemail.com'], 'google', 'Google'],
    ['a new domain at Google', ['smtp.google.com'], 'google', 'Google'],
    ['Yahoo', ['mta5.am0.yahoodns.net', 'mta7.am0.yahoodns.net'], 'yahoo', 'Yahoo'],
    ['Hotmail', ['hotmail-com.olc.protection.outlook.com'], 'outlook', 'Outlook.com'],
    ['a company at Microsoft', ['example-com.mail.protection.outlook.com'], 'microsoft365', 'Microsoft 365'],
    ['the same with DNSSEC', ['example-com.a-v1.mx.microsoft'], 'microsoft365', 'Microsoft 365'],
    ['iCloud', ['mx01.mail.icloud.com', 'mx02.mail.icloud.com'], 'apple', 'Apple'],
    ['Comcast', ['mx1.mxge.comcast.net'], 'comcast', 'Comcast'],
  ])('%s', (_, hosts, key, label) => {
    expect(siteOf(hosts)).toEqual({ key, label })
  })

  test.each<[string, string[], string]>([
    ['one host', ['mail.example.org'], 'mail.example.org'],
    ['hosts of one domain', ['mx1.example.org', 'mx2.example.org'], 'example.org'],
    ['hosts that share a top-level domain only', ['mx.example.org', 'mx.backup.org'], 'mx.backup.org'],
    ['a provider with a backup elsewhere', ['aspmx.l.google.com', 'mx.example.org'], 'aspmx.l.google.com'],
    ['a name that only ends like a provider', ['mx.notgoogle.com'], 'mx.notgoogle.com'],
  ])('without a provider is its hosts: %s', (_, hosts, label) => {
    expect(siteOf(hosts)).toEqual({ key: expect.stringMatching(/^mx-[0-9a-f]{20}$/), label })
  })

  test('does not depend on the order of its hosts, on repetition, or on how names are written', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.domain(), { minLength: 1, maxLength: 6 }), (hosts) => {
        const written = [...hosts.toReversed(), ...hosts].map((host, at) => (at % 2 === 0 ? `${host.toUpperCase()}.` : host))
        expect(siteOf(written)).toEqual(siteOf(hosts))
      }),
    )
  })

  test('is another one for other hosts', () => {
    expect(siteOf(['mx1.example.org']).key).not.toBe(siteOf(['mx2.example.org']).key)
  })
})

describe('the limits of a site', () => {
  test('are those of its provider, or the usual ones', () => {
    expect(limitsOf('google')).toEqual({ connections: 5, mails_per_connection: 50, connections_per_minute: 100, mails_per_second: 100 })
    expect(limitsOf('mx-0')).toEqual({ connections: 10, mails_per_connection: 100, connections_per_minute: 100, mails_per_second: 100 })
  })

  test('are replaced by those of the operator; `*` is for hosts of no provider', () => {
    const overrides = { '*': { connections: 3 }, google: { connections: 7 }, 'mx-1': { mails_per_second: 1 } }
    expect(limitsOf('google', overrides)).toMatchObject({ connections: 7, mails_per_connection: 50 })
    expect(limitsOf('yahoo', overrides)).toMatchObject({ connections: 10 })
    expect(limitsOf('mx-1', overrides)).toMatchObject({ connections: 3, mails_per_second: 1 })
  })

  test('are narrowed, never widened', () => {
    expect(narrowed(limitsOf('google'), { connections: 2, mails_per_second: 500 })).toMatchObject({ connections: 2, mails_per_second: 100 })
  })

  test('are shared by processes, each of which has a connection', () => {
    fc.assert(
      fc.property(fc.constantFrom(...PROVIDERS.map(({ key }) => key)), fc.integer({ min: 1, max: 30 }), (key, processes) => {
        const limits = limitsOf(key)
        const share = shareOf(limits, processes)
        expect(share.mails_per_second * processes).toBeLessThanOrEqual(limits.mails_per_second + 1e-6)
        expect(share.connections).toBeGreaterThanOrEqual(1)
        expect(share.connections * processes).toBeLessThanOrEqual(Math.max(processes, limits.connections))
      }),
    )
  })
})
