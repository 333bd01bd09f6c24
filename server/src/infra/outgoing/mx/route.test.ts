import { describe, expect, test } from 'vitest'
import type { MtaStsPolicy, MxAnswer } from '../dns/mail-resolver.ts'
import { routeOf } from './route.ts'

const hosts = [{ host: 'mx1.example.org', preference: 10 }]
const found: MxAnswer = { is: 'hosts', hosts, isImplicit: false, isSecure: true, ttlS: 300 }
const facts = { domain: 'example.org', policy: null, attempt: 1, siteOf: () => 'site' }
const policy: MtaStsPolicy = { id: '1', mode: 'enforce', mx: ['*.example.org'], maxAgeS: 86_400 }
const route = { site: 'site', domain: 'example.org', hosts, isSecure: true, steps: [] }

describe('the route to a domain', () => {
  const lookUp = { is: 'mx-lookup-failed', domain: 'example.org' } as const
  test.each<[string, MxAnswer, object]>([
    ['has its hosts', found, { is: 'route', route }],
    [
      'leads to the domain itself if it has no MX records',
      { ...found, isImplicit: true },
      { is: 'route', route: { ...route, steps: [{ ...lookUp, reason: 'The domain has no MX records.', fallback: 'implicit-mx' }] } },
    ],
    [
      'does not exist if it accepts no email',
      { is: 'null-mx' },
      {
        is: 'unroutable',
        steps: [{ is: 'null-mx', domain: 'example.org' }],
        outcome: expect.objectContaining({ is: 'permanent', reply: expect.objectContaining({ code: 556, enhancedCode: '5.1.10' }) }),
      },
    ],
    [
      'does not exist if the domain does not',
      { is: 'no-domain', reason: 'The domain does not exist.' },
      {
        is: 'unroutable',
        steps: [
          { ...lookUp, reason: 'The domain does not exist.' },
          { is: 'ip-lookup-failed', host: 'example.org', reason: 'The domain does not exist.' },
        ],
        outcome: {
          is: 'permanent',
          reason: 'The domain does not exist.',
          reply: { code: 550, enhancedCode: '5.1.2', response: '550 5.1.2 The domain does not exist.' },
        },
      },
    ],
    [
      'is not known now if the name servers fail',
      { is: 'failed', reason: 'SERVFAIL' },
      {
        is: 'unroutable',
        steps: [{ ...lookUp, reason: 'SERVFAIL' }],
        outcome: { is: 'temporary', reason: 'SERVFAIL', scope: 'site' },
      },
    ],
  ])('%s', (_, mx, expected) => {
    expect(routeOf({ ...facts, mx })).toEqual(expected)
  })

  test('has five hosts at first, and the site of all', () => {
    const mx = { ...found, hosts: Array.from({ length: 7 }, (_, at) => ({ host: `mx${at}.example.org`, preference: 10 })) }
    const routing = routeOf({ ...facts, mx, siteOf: (all) => `${all.length} hosts` })
    expect(routing).toMatchObject({ route: { site: '7 hosts', hosts: mx.hosts.slice(0, 5) } })
  })

  test.each([5, 6, 7, 10, 20])('has each of %i hosts in one of the first seven attempts, the best two in all', (count) => {
    const mx = { ...found, hosts: Array.from({ length: count }, (_, at) => ({ host: `mx${at}.example.org`, preference: at })) }
    const attempts = Array.from({ length: 7 }, (_, at) => routeOf({ ...facts, mx, attempt: at + 1 }))
    const tried = attempts.map((routing) => (routing.is === 'route' ? routing.route.hosts : []))
    expect(new Set(tried.flat()).size).toBe(count)
    for (const hosts of tried) {
      expect(hosts).toHaveLength(5)
      expect(hosts.slice(0, 2)).toEqual(mx.hosts.slice(0, 2))
      expect(hosts).toEqual(hosts.toSorted((a, b) => a.preference - b.preference))
    }
  })

  test.each<[number, number, MtaStsPolicy['mode'], true | undefined]>([
    [5, 0, 'none', undefined],
    [6, 0, 'none', true],
    [5, 0, 'enforce', undefined],
    [6, 0, 'enforce', true],
    [5, 6, 'enforce', undefined],
    [5, 6, 'testing', true],
  ])('is partial if a host that may take the email is left out: %i named and %i others, with a policy in the mode %s', (...given) => {
    const [named, others, mode, isPartial] = given
    const some = (count: number, domain: string) =>
      Array.from({ length: count }, (_, at) => ({ host: `mx${at}.${domain}`, preference: 10 }))
    const mx = { ...found, hosts: [...some(others, 'old.example'), ...some(named, 'example.org')] }
    const routing = routeOf({ ...facts, mx, policy: { ...policy, mode } })
    expect(routing.is === 'route' && routing.route.isPartial).toBe(isPartial)
  })

  test('has five hosts that the policy names, however many others come first', () => {
    const old = Array.from({ length: 7 }, (_, at) => ({ host: `mx${at}.old.example`, preference: 10 }))
    const named = Array.from({ length: 6 }, (_, at) => ({ host: `mx${at}.example.org`, preference: 20 }))
    const mx = { ...found, hosts: [...old, ...named] }
    expect(routeOf({ ...facts, mx, policy })).toMatchObject({ route: { hosts: [...old.slice(0, 5), ...named.slice(0, 5)] } })
    expect(routeOf({ ...facts, mx, policy: { ...policy, mode: 'testing' } })).toMatchObject({ route: { hosts: old.slice(0, 5) } })
  })

  test.each<[MtaStsPolicy['mode'], string[] | undefined]>([
    ['enforce', ['*.example.org']],
    ['testing', undefined],
    ['none', undefined],
  ])('with a policy in the mode %s, only these hosts may be used: %j', (mode, enforcedHosts) => {
    const routing = routeOf({ ...facts, mx: found, policy: { ...policy, mode } })
    expect(routing.is === 'route' && routing.route.enforcedHosts).toEqual(enforcedHosts)
  })
})
