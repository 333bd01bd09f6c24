import { randomBytes } from 'node:crypto'
import { decode, encode } from 'dns-packet'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { type Internet, openInternet } from '../../../../test/internet/internet.ts'
import { belowOf, seedFrom } from '../../../../test/random.ts'
import { createTestClock, type TestClock } from '../../../../test/test-clock.ts'
import { egressPolicy } from '../../../lib/egress.ts'
import { createSafeFetch } from '../safe-fetch.ts'
import { createMailResolver, type MailResolver, type MailResolverOptions } from './mail-resolver.ts'
import type { KeptPolicy } from './policies.ts'
import { openRecords } from './records.ts'
import { nameServers } from './servers.ts'

const TIMEOUT_MS = 150

let internet: Internet
let clock: TestClock
let resolver: MailResolver & AsyncDisposable
let kept: Map<string, KeptPolicy>

beforeAll(async () => {
  internet = await openInternet(inject('authorityDir'))
})
afterAll(() => internet[Symbol.asyncDispose]())
beforeEach(async () => {
  clock = createTestClock()
  kept = new Map()
  resolver = open()
  return () => resolver[Symbol.asyncDispose]()
})

const below = belowOf(seedFrom('DNS_SEED'))

const open = (options: Partial<MailResolverOptions> = {}) =>
  createMailResolver({
    servers: [internet.dns.server],
    validates: false,
    clock,
    random: () => below(2 ** 20) / 2 ** 20,
    openFetch: (lookup) =>
      createSafeFetch({ policy: egressPolicy(['127.0.0.0/8']), ca: [internet.certificates.ca], userAgent: 'test', lookup }),
    store: {
      find: async (domain) => kept.get(domain) ?? null,
      save: async (domain, policy) => void kept.set(domain, policy),
    },
    onError: (error) => {
      throw error
    },
    timeoutMs: TIMEOUT_MS,
    policyPort: internet.policies.port,
    ...options,
  })

/** How often a name was asked for, by type. */
const asked = (name: string, type: string) => internet.dns.queries.filter((query) => query.name === name && query.type === type).length

const hostsOf = async (domain: string) => {
  const answer = await resolver.mx(domain)
  return answer.is === 'hosts' ? answer.hosts.map(({ host }) => host) : answer
}

let number = 0
/** A name that no other test uses. */
const fresh = (name = 'name') => `${name}${++number}.example`

describe('the MX records of a domain', () => {
  test('name its hosts, the preferred ones first', async () => {
    const domain = fresh()
    internet.dns.set(domain, { mx: [[20, 'B.hosts.example'], [10, 'a.hosts.example'], [30, 'c.hosts.example']], ttlS: 120 }) // biome-ignore format: a table
    expect(await resolver.mx(domain)).toEqual({
      is: 'hosts',
      hosts: [
        { host: 'a.hosts.example', preference: 10 },
        { host: 'b.hosts.example', preference: 20 },
        { host: 'c.hosts.example', preference: 30 },
      ],
      isImplicit: false,
      isSecure: false,
      ttlS: 120,
    })
  })

  test('name each host once, and equal ones take turns', async () => {
    const domain = fresh()
    const equal = ['d', 'e', 'f', 'g', 'h', 'i'].map((letter): [number, string] => [20, `${letter}.hosts.example`])
    internet.dns.set(domain, { mx: [[10, 'a.hosts.example'], [30, 'a.hosts.example'], ...equal] })
    const orders = []
    for (let times = 0; times < 40; times++) orders.push((await hostsOf(domain)) as string[])
    expect(orders.every((hosts) => hosts.length === 7 && hosts[0] === 'a.hosts.example' && new Set(hosts).size === 7)).toBe(true)
    expect(new Set(orders.map((hosts) => hosts[1])).size).toBe(6)
  })

  test('are found for a domain in another script, under any spelling', async () => {
    internet.dns.set('xn--bcher-kva.example', { mx: [[10, 'mx.bücher.example']] })
    internet.dns.set('xn--bcher-kva.example', { mx: [[10, 'mx.xn--bcher-kva.example']] })
    expect(await hostsOf('BÜCHER.example')).toEqual(['mx.xn--bcher-kva.example'])
    expect(await hostsOf('xn--bcher-kva.example.')).toEqual(['mx.xn--bcher-kva.example'])
    expect(asked('xn--bcher-kva.example', 'MX')).toBe(1)
  })

  test('that are a null MX say that the domain takes no email', async () => {
    const domain = fresh()
    internet.dns.set(domain, { mx: [[0, '.']] })
    expect(await resolver.mx(domain)).toEqual({ is: 'null-mx' })
  })

  test.each<[string, [number, string][]]>([
    ['a null MX beside others', [[0, '.'], [10, 'mx.example']]], // biome-ignore format: a table
    ['an address for a host', [[10, '192.0.2.1']]],
    ['a host without a dot', [[10, 'localhost']]],
  ])('with %s have failed', async (_, mx) => {
    const domain = fresh()
    internet.dns.set(domain, { mx })
    expect(await resolver.mx(domain)).toMatchObject({ is: 'failed' })
  })

  test('may be absent: then the domain is its own host, if it has an address', async () => {
    const [own, ipv6, none] = [fresh('own'), fresh('ipv6'), fresh('none')]
    internet.dns.set(own, { a: ['192.0.2.1'] })
    internet.dns.set(ipv6, { aaaa: ['2001:db8::1'] })
    internet.dns.set(none, { txt: ['nothing else'] })
    expect(await resolver.mx(own)).toMatchObject({ is: 'hosts', hosts: [{ host: own, preference: 0 }], isImplicit: true })
    expect(await resolver.mx(ipv6)).toMatchObject({ is: 'hosts', isImplicit: true })
    expect(await resolver.mx(none)).toMatchObject({ is: 'no-domain' })
  })

  test('of a domain that does not exist, or cannot, are final; a fault of the DNS is not', async () => {
    const [broken, addressless] = [fresh(), fresh()]
    internet.dns.set(addressless, { txt: ['x'] })
    internet.dns.fault(broken, 'servfail')
    internet.dns.fault(addressless, 'servfail', 'AAAA')
    expect(await resolver.mx(fresh())).toEqual({ is: 'no-domain', reason: 'The domain does not exist.' })
    expect(await resolver.mx('[192.0.2.1]')).toMatchObject({ is: 'no-domain' })
    expect(await resolver.mx(broken)).toEqual({ is: 'failed', reason: 'The MX records could not be looked up: SERVFAIL.' })
    expect(await resolver.mx(addressless)).toMatchObject({ is: 'failed' })
  })

  test('are found through aliases, also when the server leaves the end to us, but not around a ring', async () => {
    const [domain, target, end, ring, back] = [fresh(), fresh(), fresh(), fresh(), fresh()]
    internet.dns.set(end, { mx: [[10, 'mx.example']], ttlS: 90 })
    internet.dns.set(target, { cname: end })
    internet.dns.set(domain, { cname: target, ttlS: 60 })
    expect(await resolver.mx(domain)).toMatchObject({ is: 'hosts', ttlS: 60 })
    const aliasOnly = (of: string, to: string) => (query: Buffer) => {
      const { id, questions } = decode(query)
      return [
        encode({ type: 'response', id: id ?? 0, questions: questions ?? [], answers: [{ type: 'CNAME', name: of, ttl: 300, data: to }] }),
      ]
    }
    const partial = fresh()
    internet.dns.fault(partial, { raw: aliasOnly(partial, end) })
    expect(await hostsOf(partial)).toEqual(['mx.example'])
    internet.dns.fault(ring, { raw: aliasOnly(ring, back) })
    internet.dns.fault(back, { raw: aliasOnly(back, ring) })
    expect(await resolver.mx(ring)).toMatchObject({ is: 'failed' })
    internet.dns.set(ring, { cname: ring })
    internet.dns.fault(ring)
    expect(await open().mx(ring)).toMatchObject({ is: 'failed' })
  })
})

describe('the addresses of a host', () => {
  test('are at most two, IPv4 first', async () => {
    const [many, mixed, ipv6] = [fresh(), fresh(), fresh()]
    internet.dns.set(many, { a: ['192.0.2.1', '192.0.2.2', '192.0.2.3'], aaaa: ['2001:db8::1'] })
    internet.dns.set(mixed, { a: ['192.0.2.1'], aaaa: ['2001:db8::1', '2001:db8::2'] })
    internet.dns.set(ipv6, { aaaa: ['2001:db8::1'] })
    expect(await resolver.addresses(many)).toMatchObject({
      is: 'addresses',
      addresses: [expect.stringMatching(/^192/), expect.stringMatching(/^192/)],
    })
    expect(asked(many, 'AAAA')).toBe(0)
    expect(await resolver.addresses(mixed)).toMatchObject({ addresses: ['192.0.2.1', expect.stringMatching(/^2001:/)] })
    expect(await resolver.addresses(ipv6)).toMatchObject({ addresses: ['2001:db8::1'] })
  })

  test('are at most two of those that may be used, and of IPv6 if there are not enough of IPv4', async () => {
    const [many, ipv6, none] = [fresh(), fresh(), fresh()]
    const isUsable = (address: string) => !address.startsWith('10.')
    internet.dns.set(many, { a: ['10.0.0.1', '10.0.0.2', '192.0.2.1', '192.0.2.2'] })
    internet.dns.set(ipv6, { a: ['10.0.0.1', '10.0.0.2'], aaaa: ['2001:db8::1'] })
    internet.dns.set(none, { a: ['10.0.0.1', '10.0.0.2'] })
    const { addresses = [] } = { ...(await resolver.addresses(many, isUsable)) } as { addresses?: string[] }
    expect([...addresses].sort()).toEqual(['192.0.2.1', '192.0.2.2'])
    expect(asked(many, 'AAAA')).toBe(0)
    expect(await resolver.addresses(ipv6, isUsable)).toMatchObject({ addresses: ['2001:db8::1'] })
    expect(await resolver.addresses(none, isUsable)).toMatchObject({ is: 'none', reason: expect.stringContaining('only addresses') })
  })

  test('are none if the host does not exist or has none, and failed if one half may be missing', async () => {
    const [empty, half, other] = [fresh(), fresh(), fresh()]
    internet.dns.set(empty, { txt: ['x'] })
    internet.dns.set(half, { txt: ['x'] })
    internet.dns.fault(half, 'timeout', 'A')
    internet.dns.set(other, { a: ['192.0.2.1'] })
    internet.dns.fault(other, 'servfail', 'AAAA')
    expect(await resolver.addresses(fresh())).toMatchObject({ is: 'none' })
    expect(await resolver.addresses(empty)).toMatchObject({ is: 'none' })
    expect(await resolver.addresses(half)).toMatchObject({ is: 'failed', reason: expect.stringContaining('no answer in time') })
    expect(await resolver.addresses(other)).toMatchObject({ is: 'addresses', addresses: ['192.0.2.1'] })
  })
})

describe('what was found', () => {
  test('is kept as long as its TTL says, between half a minute and an hour', async () => {
    const [short, usual, long] = [fresh(), fresh(), fresh()]
    internet.dns.set(short, { mx: [[10, 'a.example']], ttlS: 0 })
    internet.dns.set(usual, { mx: [[10, 'a.example']], ttlS: 600 })
    internet.dns.set(long, { mx: [[10, 'a.example']], ttlS: 86_400 })
    const all = () => Promise.all([short, usual, long].map((domain) => resolver.mx(domain)))
    const counts = () => [short, usual, long].map((domain) => asked(domain, 'MX'))
    await all()
    clock.advance('29 seconds')
    await all()
    expect(counts()).toEqual([1, 1, 1])
    clock.advance('2 seconds')
    await all()
    expect(counts()).toEqual([2, 1, 1])
    clock.advance('570 seconds')
    await all()
    expect(counts()).toEqual([3, 2, 1])
    clock.advance('50 minutes')
    await all()
    expect(counts()).toEqual([4, 3, 2])
  })

  test('is kept for at least a minute if it is nothing, and seconds if it is a fault', async () => {
    const [absent, broken] = [fresh(), fresh()]
    internet.dns.fault(broken, 'servfail')
    const both = () => Promise.all([resolver.mx(absent), resolver.mx(broken)])
    await both()
    expect(asked(broken, 'MX')).toBe(2)
    clock.advance('10 seconds')
    await both()
    expect([asked(absent, 'MX'), asked(broken, 'MX')]).toEqual([1, 2])
    clock.advance('20 seconds')
    internet.dns.fault(broken)
    internet.dns.set(broken, { mx: [[10, 'a.example']] })
    expect(await both()).toMatchObject([{ is: 'no-domain' }, { is: 'hosts' }])
    expect(asked(absent, 'MX')).toBe(1)
    clock.advance('31 seconds')
    await both()
    expect(asked(absent, 'MX')).toBe(2)
  })

  test('is asked for once, however many ask at the same time', async () => {
    const domain = fresh()
    internet.dns.set(domain, { mx: [[10, 'a.example']] })
    internet.dns.fault(domain, { delayMs: 30 })
    await Promise.all(Array.from({ length: 50 }, () => resolver.mx(domain)))
    expect(asked(domain, 'MX')).toBe(1)
  })
})

test('what is kept has a limit', async () => {
  const records = openRecords({
    servers: nameServers([internet.dns.server], clock),
    clock,
    signal: new AbortController().signal,
    cacheBytes: 20_000,
  })
  for (let times = 0; times < 10; times++) {
    const name = fresh()
    internet.dns.set(name, { txt: ['x'.repeat(200), ...Array.from({ length: 60 }, () => 'y')] })
    expect(await records.find(name, 'TXT')).toMatchObject({ is: 'records', values: { length: 50 } })
  }
  expect(records.size()).toBeLessThan(6)
})

describe('a question', () => {
  test('is asked over TCP when the answer does not fit', async () => {
    const [domain, large] = [fresh(), fresh()]
    internet.dns.set(domain, { mx: [[10, 'a.example']] })
    internet.dns.fault(domain, 'truncated')
    internet.dns.set(large, { txt: Array.from({ length: 30 }, () => 'x'.repeat(200)) })
    expect(await hostsOf(domain)).toEqual(['a.example'])
    expect(await resolver.txt(large)).toHaveLength(30)
  })

  test.each(['timeout', 'servfail', 'refused', 'lame'] as const)(
    'that one server answers with %s is put to the next one',
    async (fault) => {
      const domain = fresh()
      await using other = await openInternet(inject('authorityDir'))
      other.dns.set(domain, { mx: [[10, 'a.example']] })
      internet.dns.fault(domain, fault)
      await using both = open({ servers: [internet.dns.server, other.dns.server] })
      expect(await both.mx(domain)).toMatchObject({ is: 'hosts' })
    },
  )

  test('fails when nothing listens at the server, and when there is no answer in time', async () => {
    await using refused = open({ servers: ['127.0.0.1:1'] })
    expect(await refused.mx(fresh())).toEqual({ is: 'failed', reason: 'The MX records could not be looked up: ECONNREFUSED.' })
    const silent = fresh()
    internet.dns.fault(silent, 'timeout')
    expect(await resolver.mx(silent)).toEqual({ is: 'failed', reason: 'The MX records could not be looked up: no answer in time.' })
    expect(asked(silent, 'MX')).toBe(2)
  })

  test('to a server that the network cannot reach have failed, and the next server is asked', async () => {
    // No socket may be connected to the broadcast address. Without a route to anywhere, the reason is another one.
    const domain = fresh()
    internet.dns.set(domain, { mx: [[10, 'mx.hosts.example']] })
    await using alone = open({ servers: ['255.255.255.255'] })
    const reason = expect.stringMatching(/^The MX records could not be looked up: (?:EACCES|ENETUNREACH)\.$/)
    expect(await alone.mx(domain)).toEqual({ is: 'failed', reason })
    await using first = open({ servers: ['255.255.255.255', internet.dns.server] })
    expect(await first.mx(domain)).toMatchObject({ is: 'hosts' })
  })

  test('has a random id and a port of its own', async () => {
    const names = Array.from({ length: 20 }, () => fresh())
    await Promise.all(names.map((name) => resolver.txt(name)))
    const queries = internet.dns.queries.filter(({ name }) => names.includes(name))
    expect(new Set(queries.map(({ id }) => id)).size).toBeGreaterThan(15)
    expect(new Set(queries.map(({ port }) => port)).size).toBeGreaterThan(15)
  })

  test('waits when two hundred are under way', async () => {
    const names = Array.from({ length: 300 }, () => fresh())
    for (const name of names) internet.dns.fault(name, { delayMs: 150 })
    // No question is put twice on a busy machine.
    await using patient = open({ timeoutMs: 20_000 })
    await Promise.all(names.map((name) => patient.txt(name)))
    expect(internet.dns.mostWaiting()).toBeGreaterThan(150)
    expect(internet.dns.mostWaiting()).toBeLessThanOrEqual(200)
  })

  test('is not answered by a message with another id, name or type, nor by a question', async () => {
    const domain = fresh()
    const forged = (query: Buffer) => {
      const { id = 0, questions = [] } = decode(query)
      const answers = [{ type: 'MX' as const, name: domain, ttl: 300, data: { preference: 1, exchange: 'forged.example' } }]
      const other = { ...(questions[0] as { name: string }), class: 'IN' as const }
      return [
        encode({ type: 'response', id: id ^ 1, questions, answers }),
        encode({ type: 'response', id, questions: [{ ...other, type: 'MX', name: 'other.example' }], answers }),
        encode({ type: 'response', id, questions: [{ ...other, type: 'A' }], answers }),
        encode({ type: 'response', id, questions: [], answers }),
        encode({ type: 'query', id, questions, answers }),
        encode({
          type: 'response',
          id,
          questions,
          answers: [{ ...answers[0], data: { preference: 1, exchange: 'right.example' } } as never],
        }),
      ]
    }
    internet.dns.fault(domain, { raw: forged })
    expect(await hostsOf(domain)).toEqual(['right.example'])
  })
})

describe('hostile answers', () => {
  const HEADER_BYTES = 12

  /** Answers that begin with the right header, so that all of their bytes are read. */
  const withHeader = (query: Buffer, rest: Uint8Array, counts: readonly number[]) => {
    const header = Buffer.from(query.subarray(0, HEADER_BYTES))
    header.writeUInt16BE(0x8180, 2)
    for (const [index, count] of counts.entries()) header.writeUInt16BE(count, 6 + 2 * index)
    const questionEnd = query.indexOf(0, HEADER_BYTES) + 5
    return Buffer.concat([header, query.subarray(HEADER_BYTES, questionEnd), rest])
  }

  test('never make the resolver throw, nor keep it busy', async () => {
    const bytes = fc.uint8Array({ maxLength: 200 })
    const counts = fc.tuple(fc.nat(3), fc.nat(3), fc.nat(3))
    // What decoders go wrong with: lengths, pointers, and the types that are read.
    const records = fc.array(
      fc.tuple(
        fc.constantFrom([0], [0xc0, 0x0c], [0xc0, 0xff], [3, 97, 98]),
        fc.constantFrom(1, 5, 6, 15, 16, 28, 41, 52, 46),
        fc.nat(20),
        bytes,
      ),
      { maxLength: 4 },
    )
    const built = records.map((all) =>
      Buffer.concat(all.map(([name, type, length, data]) => Buffer.from([...name, 0, type, 0, 1, 0, 0, 1, 0, 0, length, ...data]))),
    )
    await fc.assert(
      fc.asyncProperty(fc.oneof(bytes, built), counts, fc.boolean(), async (rest, counted, isBare) => {
        const domain = fresh('hostile')
        internet.dns.fault(domain, { raw: (query) => [isBare ? Buffer.from(rest) : withHeader(query, rest, counted)] })
        await using short = open({ timeoutMs: 5 })
        for (const answer of [await short.mx(domain), await short.addresses(domain), await short.tlsa(domain)])
          expect(answer.is).toBeTypeOf('string')
        expect(await short.txt(domain)).toBeDefined()
      }),
      { numRuns: 50 },
    )
  })

  test('over TCP that are too long, cut off or garbage have failed', async () => {
    for (const reply of [Buffer.alloc(40_000), Buffer.of(0, 3), randomBytes(30)]) {
      const domain = fresh()
      const replies = [0, 1]
      internet.dns.fault(domain, {
        raw: (query) => {
          const truncated = withHeader(query, Buffer.alloc(0), [0, 0, 0])
          truncated.writeUInt16BE(0x8380, 2)
          return [replies.shift() === 0 ? truncated : reply]
        },
      })
      expect(await resolver.mx(domain)).toMatchObject({ is: 'failed' })
    }
  })
})

describe('TLSA records', () => {
  const record = { usage: 3, selector: 1, matchingType: 1, certificate: Buffer.alloc(32, 7) }

  test('count when a resolver that is trusted to validate says that they are authentic', async () => {
    const [secure, insecure, absent, broken] = [fresh(), fresh(), fresh(), fresh()]
    internet.dns.set(secure, { tlsa: [record], isSecure: true })
    internet.dns.set(insecure, { tlsa: [record] })
    internet.dns.fault(broken, 'servfail')
    await using validating = open({ validates: true })
    expect(await validating.tlsa(secure)).toEqual({
      is: 'records',
      records: [{ usage: 3, selector: 1, matchingType: 1, data: record.certificate }],
    })
    expect(await validating.tlsa(insecure)).toEqual({ is: 'none' })
    expect(await validating.tlsa(absent)).toEqual({ is: 'none' })
    expect(await validating.tlsa(broken)).toMatchObject({ is: 'failed' })
    expect(await resolver.tlsa(secure)).toEqual({ is: 'none' })
  })

  test('are of use only with hosts and addresses that are authentic, which is said too', async () => {
    const domain = fresh()
    internet.dns.set(domain, { mx: [[10, domain]], a: ['192.0.2.1', '192.0.2.2'], isSecure: true })
    await using validating = open({ validates: true })
    expect(await validating.mx(domain)).toMatchObject({ isSecure: true })
    expect(await validating.addresses(domain)).toMatchObject({ isSecure: true })
    expect(await resolver.mx(domain)).toMatchObject({ isSecure: false })
    expect(await resolver.addresses(domain)).toMatchObject({ isSecure: false })
  })

  test('are not authentic at the end of an alias if one of the answers is not', async () => {
    const [domain, end] = [fresh(), fresh()]
    internet.dns.set(end, { mx: [[10, 'mx.example']] })
    internet.dns.fault(domain, {
      raw: (query) => {
        const { id, questions } = decode(query)
        const answers = [{ type: 'CNAME' as const, name: domain, ttl: 300, data: end }]
        return [encode({ type: 'response', id: id ?? 0, flags: 1 << 5, questions: questions ?? [], answers })]
      },
    })
    await using validating = open({ validates: true })
    expect(await validating.mx(domain)).toMatchObject({ is: 'hosts', isSecure: false })
    internet.dns.set(end, { isSecure: true })
    await using later = open({ validates: true })
    expect(await later.mx(domain)).toMatchObject({ is: 'hosts', isSecure: true })
  })
})
