/** Delivery by domain: what the DNS, the policies and the hosts of the test Internet say decides together. */
import { createHash, X509Certificate } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { TlsVariant } from '../../../../test/internet/certificates.ts'
import { type Internet, openInternet } from '../../../../test/internet/internet.ts'
import { createTestClock } from '../../../../test/test-clock.ts'
import { egressPolicy } from '../../../lib/egress.ts'
import { createMailResolver } from '../dns/mail-resolver.ts'
import { createSafeFetch } from '../safe-fetch.ts'
import { createMxClient } from './client.ts'
import { routeOf } from './route.ts'

const LIMITS = { connections: 1, mailsPerConnection: 10 }

let internet: Internet
beforeAll(async () => {
  internet = await openInternet(inject('authorityDir'))
})
afterAll(() => internet[Symbol.asyncDispose]())

/** Delivers one mail to a domain, and returns what happened to it and of the steps. */
async function deliver(domain: string, isSecure = false, policy = egressPolicy(['127.0.0.0/8', '::1/128'])): Promise<string[]> {
  const clock = createTestClock()
  const ca = [internet.certificates.ca]
  await using resolver = createMailResolver({
    servers: [internet.dns.server],
    validates: isSecure,
    clock,
    random: () => 0,
    openFetch: (lookup) => createSafeFetch({ policy, ca, userAgent: 'test', lookup }),
    store: { find: async () => null, save: async () => undefined },
    onError: (error) => {
      throw error
    },
    timeoutMs: 300,
    policyPort: internet.policies.port,
  })
  const client = createMxClient({ policy, ca, clock, resolver, name: 'carillon.test', port: internet.mx.port, isLoopbackOnly: true })
  try {
    const facts = { domain, mx: await resolver.mx(domain), policy: await resolver.policy(domain), attempt: 1 }
    const routing = routeOf({ ...facts, siteOf: (hosts) => hosts.map(({ host }) => host).join() })
    if (routing.is === 'unroutable') return [...routing.steps.map((step) => step.is), routing.outcome.is]
    const mail = { from: 'a@example.com', to: [`kim@${domain}`], content: Buffer.from('Subject: Hello\r\n\r\nHello\r\n') }
    const { steps, recipients } = await client.deliver(routing.route, mail, LIMITS)
    return [...steps.map((step) => (step.is === 'failed' ? step.stage : step.is)), ...[...recipients.values()].map((one) => one.is)]
  } finally {
    client.close()
  }
}

describe('a domain', () => {
  test.each<[string, (domain: string) => void, string[]]>([
    ['with a host', (domain) => internet.domain(domain, `mx.${domain}`), ['delivered']],
    ['that is its own host', (domain) => internet.host(domain), ['mx-lookup-failed', 'delivered']],
    ['with a null MX', (domain) => internet.dns.set(domain, { mx: [[0, '.']] }), ['null-mx', 'permanent']],
    ['that does not exist', () => undefined, ['mx-lookup-failed', 'ip-lookup-failed', 'permanent']],
    ['whose name servers fail', (domain) => internet.dns.fault(domain, 'servfail'), ['mx-lookup-failed', 'temporary']],
    ['whose name servers are silent', (domain) => internet.dns.fault(domain, 'timeout'), ['mx-lookup-failed', 'temporary']],
    [
      'whose first host does not exist',
      (domain) => {
        internet.host(`mx.${domain}`)
        internet.dns.set(domain, { mx: [[10, `absent.${domain}`], [20, `mx.${domain}`]] }) // biome-ignore format: a table
      },
      ['ip-lookup-failed', 'delivered'],
    ],
    [
      'that is an alias of a domain',
      (domain) => {
        internet.domain(`real.${domain}`, `mx.${domain}`)
        internet.dns.set(domain, { cname: `real.${domain}` })
      },
      ['delivered'],
    ],
  ])('%s', async (name, prepare, expected) => {
    const domain = `${name.toLowerCase().replaceAll(' ', '-')}.example`
    prepare(domain)
    expect(await deliver(domain)).toEqual(expected)
  })

  test('whose host has addresses that may not be connected to is reached at another one', async () => {
    const [domain, allowed] = ['half-private.example', egressPolicy(['127.1.0.0/16'])]
    const { ip } = internet.host(`mx.${domain}`)
    internet.domain(domain, `mx.${domain}`)
    internet.dns.set(`mx.${domain}`, { a: ['127.9.0.1', '127.9.0.2', ip] })
    expect(await deliver(domain, false, allowed)).toEqual(['delivered'])
    internet.dns.set(`mx.${domain}`, { a: ['127.9.0.1', '127.9.0.2'] })
    expect(await deliver(domain, false, allowed)).toEqual(['ip-lookup-failed', 'permanent'])
  })

  test('in another script', async () => {
    internet.domain('xn--bcher-kva.example', 'mx.xn--bcher-kva.example')
    expect(await deliver('bücher.example')).toEqual(['delivered'])
  })
})

describe('a policy of MTA-STS', () => {
  const publish = (domain: string, mode: string, pattern: string, tls: TlsVariant | 'none') => {
    internet.host(`mx.${domain}`, { tls })
    internet.domain(domain, `mx.${domain}`)
    internet.policy(domain, { text: `version: STSv1\nmode: ${mode}\nmx: ${pattern}\nmax_age: 86400\n` })
  }

  test.each<[string, string, TlsVariant | 'none', string[]]>([
    ['enforce', '*', 'valid', ['delivered']],
    ['enforce', '*', 'wrong-name', ['STARTTLS', 'temporary']],
    ['enforce', '*', 'expired', ['STARTTLS', 'temporary']],
    ['enforce', '*', 'none', ['STARTTLS', 'temporary']],
    ['enforce', 'other', 'valid', ['STARTTLS', 'temporary']],
    ['testing', '*', 'wrong-name', ['delivered']],
    ['testing', 'other', 'none', ['STARTTLS', 'delivered']],
    ['none', '*', 'expired', ['delivered']],
  ])('in the mode %s for %s, and a host whose TLS is %s', async (mode, label, tls, expected) => {
    const domain = `${mode}-${label === '*' ? 'any' : label}-${tls}.example`
    publish(domain, mode, `${label}.${domain}`, tls)
    expect(await deliver(domain)).toEqual(expected)
  })
})

describe('TLSA records', () => {
  /** A domain with a host, with all names secure, and a record for the certificate of a variant. */
  const publish = async (domain: string, presented: TlsVariant | 'none', recorded: TlsVariant) => {
    const name = `mx.${domain}`
    internet.host(name, { tls: presented })
    internet.domain(domain, name)
    const { cert } = await internet.certificates.of(name, recorded)
    const certificate = createHash('sha256').update(new X509Certificate(cert).raw).digest()
    internet.dns.set(`_25._tcp.${name}`, { tlsa: [{ usage: 3, selector: 0, matchingType: 1, certificate }], isSecure: true })
    for (const secure of [domain, name]) internet.dns.set(secure, { isSecure: true })
  }

  test.each<[TlsVariant | 'none', TlsVariant, string[]]>([
    ['self-signed', 'self-signed', ['delivered']],
    ['valid', 'self-signed', ['STARTTLS', 'temporary']],
    ['none', 'valid', ['STARTTLS', 'temporary']],
  ])('of a host that presents %s, for %s', async (presented, recorded, expected) => {
    const domain = `dane-${presented}-${recorded}.example`
    await publish(domain, presented, recorded)
    expect(await deliver(domain, true)).toEqual(expected)
    // Without a resolver that validates, they are not asked for.
    expect((await deliver(domain)).at(-1)).toBe('delivered')
  })

  test.each(['servfail', 'timeout'] as const)('that cannot be found (%s) keep the email back', async (fault) => {
    const domain = `dane-${fault}.example`
    await publish(domain, 'valid', 'valid')
    internet.dns.fault(`_25._tcp.mx.${domain}`, fault)
    expect(await deliver(domain, true)).toEqual(['STARTTLS', 'temporary'])
  })

  test.each(['servfail', 'timeout'] as const)('hold although the other kind of address cannot be found (%s)', async (fault) => {
    const domain = `dane-address-${fault}.example`
    await publish(domain, 'valid', 'self-signed')
    internet.dns.fault(`mx.${domain}`, fault, 'AAAA')
    expect(await deliver(domain, true)).toEqual(['STARTTLS', 'temporary'])
  })

  test('of a host whose addresses are not authentic are not asked for', async () => {
    const domain = 'dane-insecure.example'
    await publish(domain, 'valid', 'self-signed')
    internet.dns.set(`mx.${domain}`, { isSecure: false })
    expect(await deliver(domain, true)).toEqual(['delivered'])
  })
})
