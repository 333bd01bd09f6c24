import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { type Internet, openInternet } from '../../../../test/internet/internet.ts'
import type { PolicyReply } from '../../../../test/internet/policy-host.ts'
import { createTestClock, type TestClock } from '../../../../test/test-clock.ts'
import { egressPolicy } from '../../../lib/egress.ts'
import { createSafeFetch } from '../safe-fetch.ts'
import { createMailResolver } from './mail-resolver.ts'
import type { KeptPolicy } from './policies.ts'

let internet: Internet
let clock: TestClock
let kept: Map<string, KeptPolicy>
let domain: string
let number = 0
const reads: string[] = []

beforeAll(async () => {
  internet = await openInternet(inject('authorityDir'))
})
afterAll(() => internet[Symbol.asyncDispose]())
beforeEach(() => {
  clock = createTestClock()
  kept = new Map()
  domain = `policy${++number}.example`
})

/** A process with an empty memory, and what earlier ones stored. */
const open = () =>
  createMailResolver({
    servers: [internet.dns.server],
    validates: false,
    clock,
    random: () => 0,
    openFetch: (lookup) =>
      createSafeFetch({ policy: egressPolicy(['127.0.0.0/8']), ca: [internet.certificates.ca], userAgent: 'test', lookup }),
    store: {
      find: async (name) => {
        reads.push(name)
        return kept.get(name) ?? null
      },
      save: async (name, policy) => void kept.set(name, policy),
    },
    onError: (error) => {
      throw error
    },
    timeoutMs: 200,
    policyPort: internet.policies.port,
  })

const text = (mode: string, maxAgeS = 604_800) => `version: STSv1\r\nmode: ${mode}\r\nmx: *.${domain}\r\nmax_age: ${maxAgeS}\r\n`
const requests = () => internet.policies.requests.filter((name) => name === domain).length

test('a policy is found by its record, fetched, and asked for again when its id changes', async () => {
  await using resolver = open()
  internet.policy(domain, { text: text('testing') })
  expect(await resolver.policy(domain)).toEqual({ id: '1', mode: 'testing', mx: [`*.${domain}`], maxAgeS: 604_800 })
  expect(await resolver.policy(domain.toUpperCase())).toMatchObject({ mode: 'testing' })
  expect(requests()).toBe(1)
  internet.policy(domain, { text: text('enforce') }, '2')
  clock.advance('2 hours')
  expect(await resolver.policy(domain)).toMatchObject({ id: '2', mode: 'enforce' })
  expect(requests()).toBe(2)
})

test('a domain without a record has no policy, and is not asked for one', async () => {
  await using resolver = open()
  internet.policies.set(domain, { text: text('enforce') })
  expect(await resolver.policy(domain)).toBeNull()
  expect(requests()).toBe(0)
})

test('many ask for it once', async () => {
  await using resolver = open()
  internet.policy(domain, { text: text('enforce') })
  const found = await Promise.all(Array.from({ length: 20 }, () => resolver.policy(domain)))
  expect(found.every((policy) => policy?.mode === 'enforce')).toBe(true)
  expect(requests()).toBe(1)
  expect(reads.filter((name) => name === domain)).toHaveLength(1)
})

describe('a policy is not taken from', () => {
  test.each<[string, PolicyReply]>([
    ['a redirect', { status: 301, location: 'https://elsewhere.example/' }],
    ['an error', { status: 500 }],
    ['a web page', { contentType: 'text/html' }],
    ['more than 64 KB', { text: `${'x'.repeat(70_000)}\n` }],
    ['a server with a certificate for another name', { tls: 'wrong-name' }],
    ['a server with an expired certificate', { tls: 'expired' }],
    ['a server with a certificate of its own', { tls: 'self-signed' }],
    ['a text that is none', { text: 'hello' }],
  ])('%s', async (_, reply) => {
    await using resolver = open()
    internet.policy(domain, {
      text: text('enforce') + (reply.text ?? ''),
      ...reply,
      ...(reply.text && { text: `${text('enforce')}${reply.text}` }),
    })
    if (reply.text === 'hello') internet.policies.set(domain, { text: 'hello' })
    expect(await resolver.policy(domain)).toBeNull()
  })

  test('a server on an address that is not allowed', async () => {
    await using resolver = open()
    internet.policy(domain, { text: text('enforce') })
    internet.dns.set(`mta-sts.${domain}`, { a: ['10.0.0.1'] })
    expect(await resolver.policy(domain)).toBeNull()
    expect(requests()).toBe(0)
  })
})

describe('the policy before stays', () => {
  test.each<[string, () => void]>([
    ['the new one cannot be fetched', () => internet.policy(domain, { status: 500 }, '2')],
    ['the record is gone', () => internet.dns.remove(`_mta-sts.${domain}`)],
    ['the DNS does not answer', () => internet.dns.fault(`_mta-sts.${domain}`, 'servfail')],
    ['there are two records', () => internet.dns.set(`_mta-sts.${domain}`, { txt: ['v=STSv1; id=1', 'v=STSv1; id=2'] })],
  ])('when %s, until it is too old', async (_, change) => {
    await using resolver = open()
    internet.policy(domain, { text: text('enforce', 86_400) })
    await resolver.policy(domain)
    change()
    clock.advance('2 hours')
    expect(await resolver.policy(domain)).toMatchObject({ id: '1', mode: 'enforce' })
    clock.advance('23 hours')
    expect(await resolver.policy(domain)).toBeNull()
  })

  test('when the server is started again', async () => {
    internet.policy(domain, { text: text('enforce') })
    {
      await using before = open()
      await before.policy(domain)
    }
    internet.dns.fault(`_mta-sts.${domain}`, 'servfail')
    await using after = open()
    expect(await after.policy(domain)).toMatchObject({ mode: 'enforce' })
    expect(requests()).toBe(1)
  })
})

test('a policy is fetched again daily while mail goes to the domain, without a wait', async () => {
  await using resolver = open()
  internet.policy(domain, { text: text('testing') })
  await resolver.policy(domain)
  internet.policies.set(domain, { text: text('enforce') })
  clock.advance('23 hours')
  await resolver.policy(domain)
  expect(requests()).toBe(1)
  clock.advance('2 hours')
  expect(await resolver.policy(domain)).toMatchObject({ mode: 'testing' })
  await expect.poll(async () => (await resolver.policy(domain))?.mode).toBe('enforce')
  expect(requests()).toBe(2)
})

test('a fetch that failed is tried again after five minutes, not at once', async () => {
  await using resolver = open()
  internet.policy(domain, { status: 500 })
  for (let times = 0; times < 3; times++) expect(await resolver.policy(domain)).toBeNull()
  expect(requests()).toBe(1)
  internet.policies.set(domain, { text: text('enforce') })
  clock.advance('6 minutes')
  expect(await resolver.policy(domain)).toMatchObject({ mode: 'enforce' })
})
