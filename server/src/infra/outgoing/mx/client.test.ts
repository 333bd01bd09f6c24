/** Delivery to the hosts of the test Internet: what the client reports, and what the hosts have seen. */
import { createHash, X509Certificate } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { openChunkHost } from '../../../../test/chunk-host.ts'
import { type DrippingStage, openDrippingHost } from '../../../../test/dripping-host.ts'
import { unusedPort } from '../../../../test/fake-provider.ts'
import type { TlsVariant } from '../../../../test/internet/certificates.ts'
import { type Internet, openInternet, REFUSING_ADDRESS } from '../../../../test/internet/internet.ts'
import type { At, MxBehaviour, Reaction } from '../../../../test/internet/mx-host.ts'
import { openStoppedHost } from '../../../../test/stopped-host.ts'
import { createTestClock, type TestClock } from '../../../../test/test-clock.ts'
import { egressPolicy } from '../../../lib/egress.ts'
import { DAY_MS } from '../../../lib/times.ts'
import type { AddressAnswer, TlsaAnswer } from '../dns/mail-resolver.ts'
import { createMxClient, type MxClientOptions } from './client.ts'
import type { AttemptOutcome, DeliveryStep, MxClient, OutgoingMail, Route, SiteLimits } from './outcome.ts'

let internet: Internet
beforeAll(async () => {
  internet = await openInternet(inject('authorityDir'))
})
afterAll(() => internet[Symbol.asyncDispose]())

const loopback = egressPolicy(['127.0.0.0/8', '::1/128'])
const LIMITS: SiteLimits = { connections: 2, mailsPerConnection: 100 }

let names = 0
/** A name that no other test uses. */
const newName = (prefix = 'mx') => `${prefix}${++names}.test`

/** A host that ends, breaks or ignores the connection. */
const ends = (then: NonNullable<Reaction['then']>): Reaction => ({ then })

/** Adds a host, and returns its name. */
function host(behaviour: MxBehaviour = {}): string {
  const name = newName()
  internet.host(name, behaviour)
  return name
}

const hostOf = (name: string) => {
  const found = internet.mx.hosts.get(name)
  if (!found) throw new Error(`There is no host ${name}.`)
  return found
}

/** A client, with the addresses of the farm and without TLSA records unless others are given. */
function open(options: Partial<MxClientOptions> = {}, others: Record<string, AddressAnswer> = {}, tlsa: Record<string, TlsaAnswer> = {}) {
  const client = createMxClient({
    policy: loopback,
    ca: [internet.certificates.ca],
    clock: createTestClock(),
    name: 'carillon.test',
    port: internet.mx.port,
    isLoopbackOnly: true,
    resolver: {
      addresses: async (name) => others[name] ?? { is: 'addresses', addresses: [hostOf(name).ip], isSecure: true },
      tlsa: async (name) => tlsa[name] ?? { is: 'none' },
    },
    ...options,
    limits: { idleMs: 500, ...options.limits },
  })
  return { ...client, [Symbol.dispose]: () => client.close() }
}

const loopbackHost: AddressAnswer = { is: 'addresses', addresses: ['127.0.0.1'], isSecure: false }

const routeTo = (...hosts: string[]): Route => ({
  site: hosts.join(),
  domain: 'example.org',
  hosts: hosts.map((host, index) => ({ host, preference: index * 10 })),
  steps: [],
})

const kim: OutgoingMail = {
  from: 'bounce@example.com',
  to: ['kim@example.org'],
  content: Buffer.from('Subject: Hello\r\n\r\nHello Kim\r\n'),
}
const three: OutgoingMail = { ...kim, to: ['a@example.org', 'b@example.org', 'c@example.org'] }

/** The steps in short: `mx1 RCPT 550 to b@example.org`, with the host as its place in the route. */
const inShort = ({ steps }: AttemptOutcome, route: Route): string[] =>
  steps.map((step: DeliveryStep) => {
    if (step.is !== 'failed') return `${step.is} ${'host' in step ? step.host : step.domain}`
    const at = 1 + route.hosts.findIndex(({ host }) => host === step.host)
    const about = [step.reply?.code, step.to && `to ${step.to}`, step.fallback, step.noTls && 'not offered', step.uncertain && 'uncertain']
    return [`mx${at}`, step.stage, ...about].filter(Boolean).join(' ')
  })

const outcomes = ({ recipients }: AttemptOutcome): string[] =>
  [...recipients].map(([address, outcome]) => {
    const code = 'reply' in outcome ? outcome.reply?.code : undefined
    return [address.split('@')[0], outcome.is, code, 'scope' in outcome && outcome.scope].filter(Boolean).join(' ')
  })

test('a mail is delivered over TLS, byte for byte, under the name of the host', async () => {
  using client = open()
  const route = routeTo(host())
  const content = Buffer.from('Subject: Hello\r\n\r\n.\r\n..dots\r\n')
  const outcome = await client.deliver(route, { ...kim, content, envelopeId: '4:17' }, LIMITS)
  expect(outcome.steps).toEqual([])
  const [{ host: name } = { host: '' }] = route.hosts
  expect(outcome.recipients.get('kim@example.org')).toEqual({
    is: 'delivered',
    host: name,
    peer: { ip: hostOf(name).ip, tls: { protocol: 'TLSv1.3', cipher: expect.any(String), verified: true } },
    reply: { code: 250, enhancedCode: '2.0.0', response: '250 2.0.0 Ok: queued' },
  })
  expect([...hostOf(name).mails]).toMatchObject([
    {
      from: 'bounce@example.com',
      to: ['kim@example.org'],
      content,
      helo: 'carillon.test',
      tls: { servername: name },
      parameters: { mail: `SIZE=${content.length} RET=HDRS ENVID=4:17`, rcpt: ['NOTIFY=FAILURE,DELAY'] },
    },
  ])
})

describe('each fault of a host has its steps, and an outcome for each recipient', () => {
  const plain = { tls: 'none' } as const
  const noTls = 'mx1 STARTTLS plaintext not offered'
  test.each<[string, MxBehaviour, OutgoingMail, string[], string[]]>([
    ['no STARTTLS', plain, kim, [noTls], ['kim delivered 250']],
    ['STARTTLS refused', { script: { STARTTLS: '454 4.7.0 no' } }, kim, [noTls], ['kim delivered 250']],
    ['a greeting of 554', { script: { GREETING: '554 5.3.2 no' } }, kim, ['mx1 GREETING 554'], ['kim temporary 554 site']],
    ['a greeting of garbage', { script: { GREETING: 'hello' } }, kim, ['mx1 GREETING'], ['kim temporary site']],
    ['a greeting that closes', { script: { GREETING: ends('close') } }, kim, ['mx1 GREETING'], ['kim temporary site']],
    ['a silent greeting', { script: { GREETING: ends('silence') } }, kim, ['mx1 GREETING'], ['kim temporary site']],
    ['a host that takes no mail', { script: { GREETING: '521 5.3.2 never' } }, kim, ['mx1 GREETING 521'], ['kim permanent 521']],
    ['a busy host', { script: { GREETING: '421 4.3.2 busy' } }, kim, ['mx1 GREETING 421'], ['kim temporary 421 site']],
    ['EHLO and HELO refused', { script: { EHLO: '550 no', HELO: '550 no' } }, kim, ['mx1 EHLO 550'], ['kim temporary 550 site']],
    ['EHLO refused and HELO not', { script: { EHLO: '502 what?' } }, kim, [noTls], ['kim delivered 250']],
    ['EHLO that closes', { script: { EHLO: ends('close') } }, kim, ['mx1 EHLO'], ['kim temporary site']],
    ['STARTTLS that says 421', { script: { STARTTLS: '421 4.3.2 busy' } }, kim, ['mx1 STARTTLS 421 none'], ['kim temporary 421 site']],
    ['a handshake of garbage', { tls: 'garbage' }, kim, ['mx1 STARTTLS plaintext'], ['kim delivered 250']],
    ['a handshake that closes', { tls: 'closes' }, kim, ['mx1 STARTTLS plaintext'], ['kim delivered 250']],
    ['no common version of TLS', { tls: 'no-common-version' }, kim, ['mx1 STARTTLS plaintext'], ['kim delivered 250']],
    ['STARTTLS that closes', { script: { STARTTLS: ends('close') } }, kim, ['mx1 STARTTLS plaintext'], ['kim delivered 250']],
    ['a certificate of another name', { tls: 'wrong-name' }, kim, [], ['kim delivered 250']],
    ['a certificate that nobody signed', { tls: 'self-signed' }, kim, [], ['kim delivered 250']],
    ['MAIL refused', { script: { MAIL: '550 5.7.1 no' } }, kim, ['mx1 MAIL 550'], ['kim permanent 550']],
    ['MAIL deferred', { script: { MAIL: '451 4.7.1 later' } }, kim, ['mx1 MAIL 451'], ['kim temporary 451 recipient']],
    ['MAIL that resets', { script: { MAIL: ends('reset') } }, kim, ['mx1 MAIL'], ['kim temporary site']],
    ['RCPT refused', { script: { RCPT: '550 5.1.1 no' } }, kim, ['mx1 RCPT 550 to kim@example.org'], ['kim permanent 550']],
    ['RCPT that resets', { script: { RCPT: ends('reset') } }, kim, ['mx1 RCPT to kim@example.org'], ['kim temporary site']],
    ['a silent RCPT', { script: { RCPT: ends('silence') } }, kim, ['mx1 RCPT to kim@example.org'], ['kim temporary site']],
    [
      'RCPT that says 421',
      { script: { RCPT: { ...ends('close'), reply: '421 4.7.0 slow down' } } },
      kim,
      ['mx1 RCPT 421 to kim@example.org'],
      ['kim temporary 421 site'],
    ],
    [
      'three recipients of which one is unknown and one greylisted',
      { script: { RCPT: ({ line }) => (line.includes('<b@') ? '550 5.1.1 no' : line.includes('<c@') ? '451 4.7.1 later' : undefined) } },
      three,
      ['mx1 RCPT 550 to b@example.org', 'mx1 RCPT 451 to c@example.org'],
      ['a delivered 250', 'b permanent 550', 'c temporary 451 recipient'],
    ],
    [
      'more recipients than a host takes',
      { script: { RCPT: ({ to }) => (to.length >= 2 ? '552 5.5.3 Too many recipients' : undefined) } },
      three,
      ['mx1 RCPT 552 to c@example.org'],
      ['a delivered 250', 'b delivered 250', 'c temporary 552 recipient'],
    ],
    [
      'a connection lost at the second of three recipients',
      { script: { RCPT: ({ line }) => (line.includes('<a@') ? '550 5.1.1 no' : ends('close')) } },
      three,
      ['mx1 RCPT 550 to a@example.org', 'mx1 RCPT to b@example.org'],
      ['a permanent 550', 'b temporary site', 'c temporary site'],
    ],
    ['DATA refused', { script: { DATA: '554 5.7.1 no' } }, kim, ['mx1 DATA 554'], ['kim permanent 554']],
    [
      'content refused',
      { script: { BODY: '554 5.6.0 spam' } },
      three,
      ['mx1 DATA 554'],
      ['a permanent 554', 'b permanent 554', 'c permanent 554'],
    ],
    ['content deferred', { script: { BODY: '451 4.3.0 later' } }, kim, ['mx1 DATA 451'], ['kim temporary 451 recipient']],
    ['a bad sequence', { script: { BODY: '503 5.5.1 what?' } }, kim, ['mx1 DATA 503'], ['kim temporary 503 recipient']],
    ['a question after the content', { script: { BODY: '354 more?' } }, kim, ['mx1 DATA 354 uncertain'], ['kim uncertain']],
    ['a connection lost after the content', { script: { BODY: ends('reset') } }, kim, ['mx1 DATA uncertain'], ['kim uncertain']],
    ['silence after the content', { script: { BODY: ends('silence') } }, kim, ['mx1 DATA uncertain'], ['kim uncertain']],
    [
      'an unknown recipient, and silence after the content for the others',
      { script: { RCPT: ({ line }) => (line.includes('<b@') ? '550 5.1.1 no' : undefined), BODY: ends('silence') } },
      three,
      ['mx1 RCPT 550 to b@example.org', 'mx1 DATA uncertain'],
      ['a uncertain', 'b permanent 550', 'c uncertain'],
    ],
    ['a mail that is too large', { extensions: ['SIZE 10'] }, kim, ['mx1 DATA'], ['kim permanent 552']],
    ['no 8BITMIME', { extensions: [] }, { ...kim, needs8Bit: true }, ['mx1 DATA'], ['kim permanent 554']],
    ['no SMTPUTF8', { extensions: ['8BITMIME'] }, { ...kim, needsSmtpUtf8: true }, ['mx1 DATA'], ['kim permanent 553']],
  ])('%s', async (_, behaviour, mail, steps, expected) => {
    using client = open({ limits: { greetingMs: 300, commandMs: 300, finalMs: 300 } })
    const route = routeTo(host(behaviour))
    const outcome = await client.deliver(route, mail, LIMITS)
    expect(inShort(outcome, route)).toEqual(steps)
    expect(outcomes(outcome)).toEqual(expected)
    const accepted = expected.filter((text) => text.includes('delivered')).length
    const { mails } = hostOf(route.hosts[0]?.host ?? '')
    if (!steps.includes('mx1 DATA 354 uncertain')) expect(mails.flatMap(({ to }) => to)).toHaveLength(accepted)
  })
})

describe('a mail that may no longer be sent', () => {
  const asked = (name: string) => hostOf(name).commands.map(({ line }) => line.split(' ')[0])
  test.each<[string, (name: string) => boolean, string[]]>([
    ['gets no connection', () => false, []],
    ['has no content', (name) => !asked(name).includes('DATA'), ['EHLO', 'STARTTLS', 'EHLO', 'MAIL', 'RCPT', 'DATA']],
  ])('%s', async (_, mayBeSent, commands) => {
    using client = open()
    const name = host()
    const outcome = await client.deliver(routeTo(name), { ...kim, mayBeSent: () => mayBeSent(name) }, LIMITS)
    expect(outcomes(outcome)).toMatchObject([expect.stringContaining('kim temporary')])
    expect(asked(name)).toEqual(commands)
    expect(hostOf(name).mails).toHaveLength(0)
  })
})

describe('the hosts of a domain are tried in order', () => {
  const none: AddressAnswer = { is: 'none', reason: 'The host does not exist.' }
  const unknown: AddressAnswer = { is: 'failed', reason: 'The name servers did not answer.' }
  const refusing: AddressAnswer = { is: 'addresses', addresses: [REFUSING_ADDRESS, REFUSING_ADDRESS], isSecure: false }

  test.each<[string, AddressAnswer, string[]]>([
    ['without an address', none, ['ip-lookup-failed first.test']],
    ['whose address is not known', unknown, ['ip-lookup-failed first.test']],
    ['that refuses connections at both addresses', refusing, ['mx1 CONNECT', 'mx1 CONNECT']],
  ])('after a host %s, the next one', async (_, answer, steps) => {
    using client = open({}, { 'first.test': answer })
    const route = routeTo('first.test', host())
    const outcome = await client.deliver(route, kim, LIMITS)
    expect(inShort(outcome, route)).toEqual(steps)
    expect(outcomes(outcome)).toEqual(['kim delivered 250'])
  })

  test('after an address that refuses connections, the next one of the same host', async () => {
    const name = host()
    using client = open({}, { [name]: { is: 'addresses', addresses: [REFUSING_ADDRESS, hostOf(name).ip], isSecure: false } })
    const route = routeTo(name)
    const outcome = await client.deliver(route, kim, LIMITS)
    expect(outcome.steps).toMatchObject([{ stage: 'CONNECT', peer: { ip: REFUSING_ADDRESS }, reason: 'The host refused the connection.' }])
    expect(outcomes(outcome)).toEqual(['kim delivered 250'])
  })

  test('an address that there is no way to hides nothing that another one of the host said', async () => {
    // No socket can be bound to that source.
    const [port, sources] = [await unusedPort(), ['2001:db8::1']]
    using client = open({ port, sources }, { 'both.test': { is: 'addresses', addresses: ['127.0.0.1', '::1'], isSecure: false } })
    const { recipients } = await client.deliver(routeTo('both.test'), kim, LIMITS)
    expect([...recipients.values()]).toMatchObject([{ fault: 'refused', reason: 'The host refused the connection.' }])
  })

  test.each<[string, MxBehaviour, string]>([
    ['greeting', { script: { GREETING: '554 no' } }, 'mx1 GREETING 554'],
    ['EHLO', { script: { EHLO: '421 no' } }, 'mx1 EHLO 421'],
  ])('after a refusal at %s, the next host', async (_, behaviour, step) => {
    using client = open()
    const route = routeTo(host(behaviour), host())
    const outcome = await client.deliver(route, kim, LIMITS)
    expect(inShort(outcome, route)).toEqual([step])
    expect(outcomes(outcome)).toEqual(['kim delivered 250'])
  })

  test.each(['MAIL', 'RCPT', 'DATA', 'BODY'] as const)('but not after a deferral at %s', async (stage) => {
    using client = open()
    const [first, second] = [host({ script: { [stage]: '451 4.7.1 later' } }), host()]
    const outcome = await client.deliver(routeTo(first, second), kim, LIMITS)
    expect(outcomes(outcome)).toEqual(['kim temporary 451 recipient'])
    expect(hostOf(second).counts.made).toBe(0)
  })

  test.each<[string, AddressAnswer, AddressAnswer, string]>([
    ['no host has an address', none, none, 'kim permanent 550'],
    ['one may have an address', none, unknown, 'kim temporary site'],
    ['one refuses connections', refusing, none, 'kim temporary site'],
  ])('if %s, the outcome is %#', async (_, first, second, expected) => {
    using client = open({}, { 'first.test': first, 'second.test': second })
    expect(outcomes(await client.deliver(routeTo('first.test', 'second.test'), kim, LIMITS))).toEqual([expected])
  })

  test('what the look-up had to tell comes first', async () => {
    using client = open()
    const implicit: DeliveryStep = { is: 'mx-lookup-failed', domain: 'example.org', reason: 'none', fallback: 'implicit-mx' }
    const outcome = await client.deliver({ ...routeTo(host({ script: { RCPT: '550 no' } })), steps: [implicit] }, kim, LIMITS)
    expect(outcome.steps).toMatchObject([implicit, { stage: 'RCPT' }])
  })
})

describe('TLS', () => {
  test('a host whose handshake failed is not asked for TLS again for three days', async () => {
    const clock = createTestClock()
    using client = open({ clock, limits: { idleMs: 20 } })
    const route = routeTo(host({ tls: 'garbage' }))
    const deliver = async () => {
      const outcome = await client.deliver(route, kim, LIMITS)
      await expect.poll(() => hostOf(route.site).counts.open).toBe(0)
      return inShort(outcome, route)
    }
    expect(await deliver()).toEqual(['mx1 STARTTLS plaintext'])
    clock.advance(3 * DAY_MS - 1)
    expect(await deliver()).toEqual([])
    clock.advance(1)
    expect(await deliver()).toEqual(['mx1 STARTTLS plaintext'])
    expect(hostOf(route.site).counts.made).toBe(5)
  })

  test('a host of a domain that tests its policy is asked for TLS each time', async () => {
    using client = open({ limits: { idleMs: 20 } })
    const route = { ...routeTo(host({ tls: 'garbage' })), isTested: true as const }
    for (let time = 0; time < 2; time++) {
      const outcome = await client.deliver(route, kim, LIMITS)
      await expect.poll(() => hostOf(route.site).counts.open).toBe(0)
      expect(inShort(outcome, route)).toEqual(['mx1 STARTTLS plaintext'])
    }
  })

  test('a domain that tests its policy shares no connection for which TLS was not tried', async () => {
    using client = open({ limits: { idleMs: 5000 } })
    const known = { ...routeTo(host({ tls: 'garbage' })), site: newName() }
    const tested = { ...known, domain: 'tested.test', isTested: true as const }
    const limits = { connections: 1, mailsPerConnection: 100 }
    const all = []
    for (const route of [known, known, tested, tested]) all.push(inShort(await client.deliver(route, kim, limits), route))
    expect(all).toEqual([['mx1 STARTTLS plaintext'], [], ['mx1 STARTTLS plaintext'], []])
  })

  const required: SiteLimits = { ...LIMITS, isTlsRequired: true }
  test.each<[MxBehaviour, string]>([
    [{ tls: 'none' }, 'The host does not offer STARTTLS.'],
    [{ script: { STARTTLS: '454 4.7.0 Not now' } }, 'The host refused STARTTLS: 454 4.7.0 Not now'],
  ])('where it is required, what is missing is said as it is: %o', async (behaviour, reason) => {
    using client = open()
    const { steps, recipients } = await client.deliver(routeTo(host(behaviour)), kim, required)
    expect(steps).toMatchObject([{ stage: 'STARTTLS', noTls: true, reason }])
    expect([...recipients.values()]).toMatchObject([{ is: 'temporary', reason }])
  })

  test.each<[string, MxBehaviour, string[], string]>([
    ['a host with any certificate', { tls: 'self-signed' }, [], 'kim delivered 250'],
    ['a host without STARTTLS', { tls: 'none' }, ['mx1 STARTTLS none not offered'], 'kim temporary site'],
    ['a host that refuses STARTTLS', { script: { STARTTLS: '454 no' } }, ['mx1 STARTTLS none not offered'], 'kim temporary site'],
    ['a handshake that fails', { tls: 'garbage' }, ['mx1 STARTTLS none'], 'kim temporary site'],
  ])('where a site requires it: %s', async (_, behaviour, steps, expected) => {
    using client = open()
    const route = routeTo(host(behaviour))
    const outcome = await client.deliver(route, kim, required)
    expect(inShort(outcome, route)).toEqual(steps)
    expect(outcomes(outcome)).toEqual([expected])
  })

  test.each<[MxBehaviour, string[], string]>([
    [{}, [], 'kim delivered 250'],
    [{ tls: 'none' }, ['mx1 STARTTLS none not offered'], 'kim temporary site'],
    [{ tls: 'self-signed' }, ['mx1 STARTTLS none'], 'kim temporary site'],
    [{ tls: 'wrong-name' }, ['mx1 STARTTLS none'], 'kim temporary site'],
    [{ tls: 'expired' }, ['mx1 STARTTLS none'], 'kim temporary site'],
    [{ tls: 'no-common-version' }, ['mx1 STARTTLS none'], 'kim temporary site'],
  ])('where a policy of MTA-STS enforces it: %o', async (behaviour, steps, expected) => {
    using client = open()
    const name = host(behaviour)
    const route = { ...routeTo(name), enforcedHosts: ['*.elsewhere.test', name] }
    const outcome = await client.deliver(route, kim, LIMITS)
    expect(inShort(outcome, route)).toEqual(steps)
    expect(outcomes(outcome)).toEqual([expected])
  })

  test('a host that the policy does not name gets no connection', async () => {
    using client = open()
    const [first, second] = [host(), host()]
    const route = { ...routeTo(first, second), enforcedHosts: [second] }
    const outcome = await client.deliver(route, kim, LIMITS)
    expect(inShort(outcome, route)).toEqual(['mx1 STARTTLS next-host'])
    expect(outcomes(outcome)).toEqual(['kim delivered 250'])
    expect(hostOf(first).counts.made).toBe(0)
  })

  test('a mail of a domain with a policy does not go over a connection without a valid certificate', async () => {
    using client = open()
    const name = host({ tls: 'self-signed' })
    expect(outcomes(await client.deliver(routeTo(name), kim, LIMITS))).toEqual(['kim delivered 250'])
    expect(outcomes(await client.deliver({ ...routeTo(name), enforcedHosts: [name] }, kim, { ...LIMITS, connections: 1 }))).toEqual([
      'kim temporary site',
    ])
  })
})

describe('TLSA records of a host', () => {
  const secure = (route: Route): Route => ({ ...route, isSecure: true })
  /** A record with the digest of a certificate itself (usage 3). */
  const recordOf = async (name: string, variant: TlsVariant): Promise<TlsaAnswer> => {
    const { cert } = await internet.certificates.of(name, variant)
    const data = createHash('sha256').update(new X509Certificate(cert).raw).digest()
    return { is: 'records', records: [{ usage: 3, selector: 0, matchingType: 1, data }] }
  }
  const unusable: TlsaAnswer = { is: 'records', records: [{ usage: 1, selector: 0, matchingType: 1, data: Buffer.alloc(32) }] }
  const failing = async (): Promise<TlsaAnswer> => ({ is: 'failed', reason: 'SERVFAIL' })

  test.each<[string, MxBehaviour, (name: string) => Promise<TlsaAnswer>, string[], string]>([
    ['of its certificate', { tls: 'self-signed' }, (name) => recordOf(name, 'self-signed'), [], 'kim delivered 250'],
    ['of another certificate', {}, (name) => recordOf(name, 'self-signed'), ['mx1 STARTTLS none'], 'kim temporary site'],
    ['without TLS', { tls: 'none' }, (name) => recordOf(name, 'valid'), ['mx1 STARTTLS none not offered'], 'kim temporary site'],
    ['that cannot be used', { tls: 'expired' }, async () => unusable, [], 'kim delivered 250'],
    ['that cannot be used, without TLS', { tls: 'none' }, async () => unusable, ['mx1 STARTTLS none not offered'], 'kim temporary site'],
    ['that cannot be looked up', {}, failing, ['mx1 STARTTLS none'], 'kim temporary site'],
  ])('%s', async (_, behaviour, answer, steps, expected) => {
    const name = host(behaviour)
    using client = open({}, {}, { [`_25._tcp.${name}`]: await answer(name) })
    const route = secure(routeTo(name))
    const outcome = await client.deliver(route, kim, LIMITS)
    expect(inShort(outcome, route)).toEqual(steps)
    expect(outcomes(outcome)).toEqual([expected])
    // Without validated records of the domain, nothing is asked.
    expect(outcomes(await client.deliver({ ...route, isSecure: false }, kim, LIMITS))).toEqual(['kim delivered 250'])
  })

  test('that cannot be looked up are a failure of DANE, and of no policy of MTA-STS', async () => {
    const [name, other] = [host(), host()]
    using client = open({}, {}, { [`_25._tcp.${name}`]: await failing() })
    const outcome = await client.deliver({ ...secure(routeTo(name, other)), enforcedHosts: [name] }, kim, LIMITS)
    expect(outcome.steps).toMatchObject([
      { host: name, stage: 'STARTTLS', peer: { isDane: true } },
      { host: other, stage: 'STARTTLS', peer: {} },
    ])
    expect(outcome.steps.map((step) => 'peer' in step && 'isDane' in step.peer)).toEqual([true, false])
  })

  test('count more than a policy of MTA-STS', async () => {
    const name = host({ tls: 'self-signed' })
    using client = open({}, {}, { [`_25._tcp.${name}`]: await recordOf(name, 'self-signed') })
    const outcome = await client.deliver({ ...secure(routeTo(name)), enforcedHosts: ['another.test'] }, kim, LIMITS)
    expect([...outcome.recipients.values()]).toMatchObject([{ is: 'delivered', peer: { tls: { verified: true } } }])
  })

  test('hold up no email of a domain whose records are not validated, although it has the same hosts', async () => {
    const name = host()
    using client = open({}, {}, { [`_25._tcp.${name}`]: await recordOf(name, 'self-signed') })
    const limits = { connections: 1, mailsPerConnection: 100 }
    const all = await Promise.all([secure(routeTo(name)), routeTo(name)].map((route) => client.deliver(route, kim, limits)))
    expect(all.map(outcomes)).toEqual([['kim temporary site'], ['kim delivered 250']])
  })

  test('are not those of a connection that was opened without them', async () => {
    const name = host({ tls: 'self-signed' })
    using client = open({}, {}, { [`_25._tcp.${name}`]: await recordOf(name, 'valid') })
    expect(outcomes(await client.deliver(routeTo(name), kim, LIMITS))).toEqual(['kim delivered 250'])
    expect(outcomes(await client.deliver(secure(routeTo(name)), kim, LIMITS))).toEqual(['kim temporary site'])
  })
})

describe('addresses', () => {
  const at = (address: string): AddressAnswer => ({ is: 'addresses', addresses: [address], isSecure: false })

  test.each(['127.0.0.1', '::1', '10.0.0.1', '192.168.1.1', '169.254.169.254', '::ffff:127.0.0.1', '0.0.0.0'])(
    '%s gets no mail in production',
    async (address) => {
      using client = open({ policy: egressPolicy([]), isLoopbackOnly: false }, { 'first.test': at(address) })
      const route = routeTo('first.test')
      const outcome = await client.deliver(route, kim, LIMITS)
      expect(inShort(outcome, route)).toEqual(['ip-lookup-failed first.test'])
      expect(outcomes(outcome)).toEqual(['kim permanent 550'])
    },
  )

  test.each(['192.0.2.25', '2001:db8::25'])('in tests, a connection to %s throws', async (address) => {
    using client = open({}, { 'first.test': at(address) })
    await expect(client.deliver(routeTo('first.test'), kim, LIMITS)).rejects.toThrow(address)
  })

  test('an address that is not one is refused, and the other recipients get the mail, each with its own reports', async () => {
    using client = open()
    const name = host()
    const [unsafe, quoted] = ['"team"<b@example.org', '"sales <\\"team>"@example.org']
    const reports = [unsafe, quoted, 'kim@example.org'].map((_, at) => ({ notify: [], original: `rfc822;${at}` }))
    const outcome = await client.deliver(
      routeTo(name),
      { ...kim, to: [unsafe, quoted, 'kim@example.org'], envelopeId: 'x', reports },
      LIMITS,
    )
    expect([...outcome.recipients].map(([address, { is }]) => [address, is])).toEqual([
      [unsafe, 'permanent'],
      [quoted, 'delivered'],
      ['kim@example.org', 'delivered'],
    ])
    expect(
      hostOf(name)
        .commands.filter(({ line }) => line.startsWith('RCPT'))
        .map(({ line }) => line.replace(/ NOTIFY=\S+/, '')),
    ).toEqual([`RCPT TO:<${quoted}> ORCPT=rfc822;1`, 'RCPT TO:<kim@example.org> ORCPT=rfc822;2'])
  })

  test.each([
    ['<kim@example.org', 'bounce@example.com', '5.1.3'],
    ['"kim@example.org>" x"@example.org', 'bounce@example.com', '5.1.3'],
    ['"kim\r\nDATA"@example.org', 'bounce@example.com', '5.1.3'],
    ['kim@example.org>\r\nDATA', 'bounce@example.com', '5.1.3'],
    ['kim@example.org', 'a b@example.com', '5.1.7'],
  ])('%j from %j is not sent', async (to, from, enhancedCode) => {
    using client = open()
    const name = host()
    const outcome = await client.deliver(routeTo(name), { ...kim, from, to: [to] }, LIMITS)
    expect([...outcome.recipients.values()]).toMatchObject([{ is: 'permanent', reply: { enhancedCode } }])
    expect(hostOf(name).counts.made).toBe(0)
  })
})

describe('the time of each stage is limited', () => {
  test.each<[string, keyof NonNullable<MxClientOptions['limits']>, MxBehaviour]>([
    ['the greeting', 'greetingMs', { script: { GREETING: ends('silence') } }],
    ['a command', 'commandMs', { script: { MAIL: ends('silence') } }],
    ['the content', 'finalMs', { script: { BODY: ends('silence') } }],
  ])('%s', async (_, limit, behaviour) => {
    using client = open({ limits: { [limit]: 150 } })
    const { elapsedMs } = await client.deliver(routeTo(host(behaviour)), kim, LIMITS)
    expect(elapsedMs).toBeGreaterThanOrEqual(140)
    expect(elapsedMs).toBeLessThan(10_000)
  })
})

test('a connection that is not made in time is an error, and the next host is tried', async () => {
  await using stopped = await openStoppedHost()
  using client = open({ port: stopped.port, limits: { connectMs: 200 } }, { 'stopped.test': loopbackHost })
  const { steps, recipients } = await client.deliver(routeTo('stopped.test'), kim, LIMITS)
  expect(steps).toMatchObject([{ stage: 'CONNECT', peer: { ip: '127.0.0.1' }, reason: 'The host did not respond in time.' }])
  expect([...recipients.values()]).toMatchObject([{ is: 'temporary', scope: 'site' }])
})

describe('a host that sends one byte at a time', () => {
  const WITHIN_MS = 3000
  const shortly = { greetingMs: 150, tlsMs: 150, commandMs: 150, blockMs: 150, finalMs: 150 }
  test.each<[DrippingStage, object]>([
    ['GREETING', { is: 'temporary' }],
    ['EHLO', { is: 'temporary' }],
    ['STARTTLS', { is: 'temporary' }],
    ['MAIL', { is: 'temporary' }],
    ['BODY', { is: 'uncertain' }],
  ])('gains no time at %s', async (stage, expected) => {
    await using dripping = await openDrippingHost(stage)
    using client = open({ port: dripping.port, limits: shortly }, { 'drip.test': loopbackHost })
    const { recipients, elapsedMs } = await client.deliver(routeTo('drip.test'), kim, { ...LIMITS, isTlsRequired: stage === 'STARTTLS' })
    expect([...recipients.values()]).toMatchObject([expected])
    expect(elapsedMs).toBeLessThan(WITHIN_MS)
  })

  test('or takes nothing of the content, gains no time', async () => {
    await using dripping = await openDrippingHost('READING')
    using client = open({ port: dripping.port, limits: shortly }, { 'drip.test': loopbackHost })
    const content = Buffer.alloc(20_000_000, 'Hello\r\n')
    const { recipients, elapsedMs } = await client.deliver(routeTo('drip.test'), { ...kim, content }, LIMITS)
    // The host has not got the end of the content.
    expect([...recipients.values()]).toMatchObject([{ is: 'temporary', scope: 'site' }])
    expect(elapsedMs).toBeLessThan(10_000)
  })

  test('is left when it has no mail', async () => {
    await using dripping = await openDrippingHost('IDLE')
    using client = open({ port: dripping.port, limits: { idleMs: 100 } }, { 'drip.test': loopbackHost })
    for (let at = 0; at < 2; at++)
      expect(outcomes(await client.deliver(routeTo('drip.test'), kim, { connections: 1, mailsPerConnection: 1 }))).toEqual([
        'kim delivered 250',
      ])
  })
})

describe('connections', () => {
  const many = (client: MxClient, route: Route, count: number, limits: SiteLimits) =>
    Promise.all(Array.from({ length: count }, () => client.deliver(route, kim, limits)))

  test('are as many as the limit allows, and carry as many mails, as the host sees it', async () => {
    using client = open()
    const name = host({ latencyMs: 1 })
    const all = await many(client, routeTo(name), 60, { connections: 3, mailsPerConnection: 7 })
    expect(new Set(all.flatMap(outcomes))).toEqual(new Set(['kim delivered 250']))
    const { counts } = hostOf(name)
    expect(counts).toMatchObject({ accepted: 60, mostOpen: 3 })
    expect(Math.max(...counts.mailsPerConnection)).toBe(7)
    expect(hostOf(name).commands.filter(({ line }) => line === 'RSET')).toEqual([])
  })

  test('the next mail begins in the write that ends the one before, once a mail was accepted', async () => {
    await using receiving = await openChunkHost()
    using client = open({ port: receiving.port, sources: ['::1', '127.0.0.9'] }, { 'chunks.test': loopbackHost })
    const mail = { ...kim, content: Buffer.from('content\r\n') }
    const limits = { connections: 1, mailsPerConnection: 100 }
    const all = await Promise.all(Array.from({ length: 4 }, () => client.deliver(routeTo('chunks.test'), mail, limits)))
    expect(all.flatMap(outcomes)).toEqual(Array(4).fill('kim delivered 250'))
    const envelope = 'MAIL FROM:<bounce@example.com>\r\nRCPT TO:<kim@example.org>\r\nDATA\r\n'
    const content = 'content\r\n.\r\n'
    expect(receiving.chunks.slice(1)).toEqual([envelope, content, envelope, content + envelope, content + envelope, content])
    expect(receiving.clients).toEqual(['127.0.0.9'])
  })

  test.each<TlsVariant | 'none'>(['valid', 'none'])('large mails follow each other, byte for byte: %s', async (tls) => {
    using client = open()
    const name = host({ tls })
    const contents = Array.from({ length: 4 }, (_, at) => Buffer.from(`Subject: ${at}\r\n\r\n${'.dots\r\n'.repeat(50_000)}${at}`))
    const limits = { connections: 1, mailsPerConnection: 100 }
    const all = await Promise.all(contents.map((content) => client.deliver(routeTo(name), { ...kim, content }, limits)))
    expect(all.flatMap(outcomes)).toEqual(Array(4).fill('kim delivered 250'))
    expect(hostOf(name).counts.made).toBe(1)
    expect(hostOf(name).mails.map(({ content }) => content.toString().trimEnd())).toEqual(contents.map(String))
  })

  test.each([
    ['250 2.0.0 queued', 'kim delivered 250', 2],
    ['452 4.3.1 full', 'kim temporary 452 recipient', 1],
    ['552 5.3.4 too large', 'kim permanent 552', 1],
    ['354 go on', 'kim temporary site', 1],
  ])(
    'a host that replies %s to a large mail before its end, and once more to the end, cannot mislead the next mail',
    async (early, first, accepted) => {
      using client = open()
      const name = host({ script: { DATA: ({ connection }) => (connection === 1 ? `354 go on\r\n${early}` : undefined) } })
      const content = Buffer.alloc(200_000, 'Hello\r\n')
      const limits = { connections: 1, mailsPerConnection: 100 }
      const all = await Promise.all([content, kim.content].map((content) => client.deliver(routeTo(name), { ...kim, content }, limits)))
      expect(all.map(outcomes)).toEqual([[first], ['kim delivered 250']])
      expect(hostOf(name).counts).toMatchObject({ made: 2, accepted })
    },
  )

  test('a refused mail is followed by the next one over the same connection', async () => {
    using client = open()
    const name = host({ script: { RCPT: ({ mail }) => (mail % 2 === 0 ? '550 5.1.1 no' : undefined) } })
    const all = await many(client, routeTo(name), 6, { connections: 1, mailsPerConnection: 100 })
    expect(all.flatMap(outcomes).sort()).toEqual([...Array(3).fill('kim delivered 250'), ...Array(3).fill('kim permanent 550')])
    expect(hostOf(name).counts.made).toBe(1)
  })

  test('a connection that the host closed between mails is replaced, and no mail tells of it', async () => {
    using client = open()
    const name = host({ script: { MAIL: ({ connection, mail }) => (connection === 1 && mail === 2 ? ends('close') : undefined) } })
    const all = await many(client, routeTo(name), 3, { connections: 1, mailsPerConnection: 100 })
    expect(all.map(({ steps }) => steps)).toEqual([[], [], []])
    expect(hostOf(name).counts).toMatchObject({ made: 2, accepted: 3 })
  })

  test.each([true, false])(
    'a host that replies 421 to the sender, to end a connection, gets the mail over another one: pipelining %s',
    async (pipelining) => {
      using client = open()
      const ends = { MAIL: ({ connection, mail }: At) => (connection === 1 && mail === 2 ? '421 4.7.0 Enough' : undefined) }
      const name = host({ script: ends, ...(!pipelining && { extensions: [] }) })
      const all = await many(client, routeTo(name), 3, { connections: 1, mailsPerConnection: 100 })
      expect(all.map(outcomes)).toEqual([['kim delivered 250'], ['kim delivered 250'], ['kim delivered 250']])
      expect(all.map(({ steps }) => steps)).toEqual([[], [], []])
      expect(hostOf(name).counts).toMatchObject({ made: 2, accepted: 3 })
    },
  )

  test('a host that replies 421 to each sender keeps its mails waiting', async () => {
    using client = open()
    const name = host({ script: { MAIL: '421 4.7.0 Later' } })
    expect(outcomes(await client.deliver(routeTo(name), kim, LIMITS))).toEqual(['kim temporary 421 site'])
    expect(hostOf(name).counts.made).toBe(1)
  })

  test('an idle one makes room at once for the mail that needs another host', async () => {
    using client = open({ limits: { idleMs: 60_000 } })
    const [one, two] = [host({ acceptMs: 50 }), host()]
    const limits = { connections: 1, mailsPerConnection: 100 }
    const routes = [routeTo(one), routeTo(two)].map((route) => ({ ...route, site: 'shared' }))
    const delivering = routes.map((route) => client.deliver(route, kim, limits))
    await expect.poll(() => hostOf(two).counts.accepted).toBe(1)
    expect((await Promise.all(delivering)).flatMap(outcomes)).toEqual(['kim delivered 250', 'kim delivered 250'])
  })

  test('a host that limits connections has its mails over those that it allows, and they tell of it', async () => {
    using client = open()
    const name = host({ connectionsMax: 1, acceptMs: 50 })
    const route = routeTo(name)
    const all = await many(client, route, 6, { connections: 3, mailsPerConnection: 100 })
    expect(all.flatMap(outcomes)).toEqual(Array(6).fill('kim delivered 250'))
    expect(all.flatMap((outcome) => inShort(outcome, route))).toEqual(['mx1 GREETING 421', 'mx1 GREETING 421'])
  })

  test('a host that limits connections, and the mails of each, has all of its mails', async () => {
    using client = open()
    const name = host({ connectionsMax: 1, acceptMs: 50 })
    const all = await many(client, routeTo(name), 12, { connections: 10, mailsPerConnection: 5 })
    expect(all.flatMap(outcomes)).toEqual(Array(12).fill('kim delivered 250'))
  })

  /** Limits of a site that gets two connections at first, and another one when the time has passed. */
  const rarely = (clock: TestClock, mailsPerConnection: number): SiteLimits => {
    const nextAt = clock.now().getTime() + 2400
    let left = 2
    return {
      connections: 2,
      mailsPerConnection,
      admitConnection: () => ({ isAdmitted: left-- > 0 || clock.now().getTime() >= nextAt, nextAt }),
    }
  }
  test.each<[string, () => [Route, Record<string, AddressAnswer>]]>([
    ['hosts that refuse it', () => [routeTo(...[1, 2, 3].map(() => host({ script: { GREETING: '421 4.3.2 busy' } }))), {}]],
    ['addresses', () => [routeTo('two.test'), { 'two.test': { ...loopbackHost, addresses: [REFUSING_ADDRESS, REFUSING_ADDRESS] } }]],
    ['encryption that fails', () => [routeTo(host({ tls: 'garbage' })), {}]],
  ])('each new one waits until the site may get it, also where one email needs several, because of %s', async (_, prepare) => {
    const clock = createTestClock()
    const [route, addresses] = prepare()
    using client = open({ clock }, addresses)
    let admitted = 0
    let nextAt = clock.now().getTime()
    const admitConnection = () => {
      const isAdmitted = clock.now().getTime() >= nextAt
      if (isAdmitted) [admitted, nextAt] = [admitted + 1, nextAt + 600]
      return { isAdmitted, nextAt }
    }
    let isDone = false
    const delivering = client.deliver(route, kim, { ...LIMITS, admitConnection }).finally(() => {
      isDone = true
    })
    const made = () => route.hosts.reduce((sum, { host }) => sum + (internet.mx.hosts.get(host)?.counts.made ?? 0), 0)
    let excess = 0
    await expect
      .poll(() => {
        excess = Math.max(excess, made() - admitted)
        clock.advance(100)
        return isDone
      })
      .toBe(true)
    await delivering
    expect([excess, admitted]).toEqual([0, Math.max(2, route.hosts.length)])
  })

  test('closing ends the wait for another one', async () => {
    const clock = createTestClock()
    const client = open({ clock })
    const name = host({ tls: 'garbage' })
    let left = 1
    const limits = { ...LIMITS, admitConnection: () => ({ isAdmitted: left-- > 0, nextAt: clock.now().getTime() + 60_000 }) }
    const delivering = client.deliver(routeTo(name), kim, limits)
    await expect.poll(() => left).toBeLessThan(0)
    client.close()
    expect(outcomes(await delivering)).toEqual(['kim temporary site'])
    expect(hostOf(name).counts.made).toBe(1)
  })

  test('an email that may not be sent any more waits for no further one', async () => {
    const clock = createTestClock()
    using client = open({ clock })
    const name = host({ tls: 'garbage' })
    let [left, isRevoked] = [1, false]
    const nextAt = clock.now().getTime() + 60_000
    const admitConnection = () => ({ isAdmitted: left-- > 0 || clock.now().getTime() >= nextAt, nextAt })
    const delivering = client.deliver(routeTo(name), { ...kim, mayBeSent: () => !isRevoked }, { ...LIMITS, admitConnection })
    await expect.poll(() => left).toBeLessThan(0)
    isRevoked = true
    clock.advance(60_000)
    expect(outcomes(await delivering)).toEqual(['kim temporary recipient'])
    expect(hostOf(name).counts.made).toBe(1)
  })

  test('an email that went over another one meanwhile takes no further one', async () => {
    const clock = createTestClock()
    using client = open({ clock })
    const busy = { GREETING: ({ connection }: At) => (connection === 2 ? '421 4.3.2 busy' : undefined) }
    const name = host({ script: { ...busy, BODY: ({ connection }) => (connection === 1 ? { delayMs: 300 } : undefined) } })
    const route = routeTo(name, host())
    const all = await many(client, route, 2, rarely(clock, 2))
    expect(all.flatMap(outcomes)).toEqual(['kim delivered 250', 'kim delivered 250'])
    clock.advance(2400)
    await client.deliver(routeTo(host()), kim, LIMITS)
    expect(route.hosts.map(({ host }) => hostOf(host).counts.made)).toEqual([2, 0])
  })

  test('that were made for another email are not in what an email tells: neither its other hosts', async () => {
    using client = open({}, { 'dead.test': { is: 'addresses', addresses: [REFUSING_ADDRESS], isSecure: false } })
    const name = host({ script: { GREETING: { delayMs: 200 } } })
    const [first, other] = [routeTo('dead.test', name), routeTo(name)].map((route) => ({ ...route, site: 'shared' })) as [Route, Route]
    const limits = { connections: 1, mailsPerConnection: 100 }
    let isRevoked = false
    const delivering = client.deliver(first, { ...kim, mayBeSent: () => !isRevoked }, limits)
    const waiting = client.deliver(other, kim, limits)
    await expect.poll(() => hostOf(name).counts.made).toBe(1)
    isRevoked = true
    expect(outcomes(await delivering)).toEqual(['kim temporary recipient'])
    const delivered = await waiting
    expect([delivered.steps, outcomes(delivered)]).toEqual([[], ['kim delivered 250']])
  })

  test('that were made for another email are not in what an email tells: nor those that failed', async () => {
    const clock = createTestClock()
    using client = open({ clock, limits: { idleMs: 5000 } })
    const busy = { GREETING: ({ connection }: At) => (connection === 2 ? '421 4.3.2 busy' : undefined) }
    const name = host({ script: { ...busy, BODY: ({ connection }) => (connection === 1 ? { delayMs: 100 } : undefined) } })
    const [first, other] = [routeTo(name, host()), routeTo(name)].map((route) => ({ ...route, site: 'shared' })) as [Route, Route]
    const all = await many(client, first, 2, rarely(clock, 100))
    expect(all.flatMap(outcomes)).toEqual(['kim delivered 250', 'kim delivered 250'])
    clock.advance(2400)
    await new Promise((resolve) => setImmediate(resolve))
    expect(await client.deliver(other, kim, rarely(clock, 100))).toMatchObject({ steps: [] })
    expect(hostOf(name).counts.made).toBe(2)
  })

  const silent = (connections: number) => ({
    script: { BODY: ({ connection }: At) => (connection <= connections ? ends('silence') : undefined) },
  })

  test('the mails that wait for a slow one go over a new one, as soon as the site gets it', async () => {
    const clock = createTestClock()
    using client = open({ clock })
    const name = host(silent(1))
    const limits = rarely(clock, 2)
    const first = many(client, routeTo(name), 3, limits)
    await expect.poll(() => hostOf(name).counts.accepted).toBe(2)
    await expect.poll(() => hostOf(name).counts.open).toBe(1)
    const rest = many(client, routeTo(name), 2, limits)
    clock.advance(2400)
    expect((await rest).flatMap(outcomes)).toEqual(['kim delivered 250', 'kim delivered 250'])
    client.close()
    await first
  })

  test('the mails that wait for one that takes no further mail are postponed', async () => {
    const clock = createTestClock()
    using client = open({ clock })
    const name = host(silent(1))
    const limits = rarely(clock, 1)
    const first = many(client, routeTo(name), 2, limits)
    await expect.poll(() => hostOf(name).counts.accepted).toBe(1)
    await expect.poll(() => hostOf(name).counts.open).toBe(1)
    expect(await client.deliver(routeTo(name), kim, limits)).toMatchObject({ steps: [], postponedTo: clock.now().getTime() + 2400 })
    client.close()
    await first
  })

  test('idle ones are closed', async () => {
    using client = open({ limits: { idleMs: 30 } })
    const name = host()
    await client.deliver(routeTo(name), kim, LIMITS)
    await expect.poll(() => hostOf(name).counts.open).toBe(0)
    expect(hostOf(name).commands.at(-1)?.line).toBe('QUIT')
  })

  test('a dead site ends all its mails with one try', async () => {
    using client = open({}, { 'dead.test': { is: 'addresses', addresses: [REFUSING_ADDRESS], isSecure: false } })
    const all = await many(client, routeTo('dead.test'), 20, { connections: 1, mailsPerConnection: 100 })
    expect(new Set(all.flatMap(outcomes))).toEqual(new Set(['kim temporary site']))
    expect(all.every(({ steps }) => steps.length === 1)).toBe(true)
    const isShared = (outcome: object) => 'isShared' in outcome
    expect(all.filter(({ recipients }) => ![...recipients.values()].some(isShared))).toHaveLength(1)
    expect(all.filter(({ steps }) => !steps.some(isShared))).toHaveLength(1)
  })

  test('an email whose hosts cannot be connected to does not wait for the end of one at another host of its site', async () => {
    using client = open({}, { 'dead.test': { is: 'addresses', addresses: [REFUSING_ADDRESS], isSecure: false } })
    const name = host({ script: { QUIT: () => ends('silence') } })
    const [alive, dead] = [routeTo(name), routeTo('dead.test')].map((route) => ({ ...route, site: 'shared' })) as [Route, Route]
    const limits = { connections: 2, mailsPerConnection: 1 }
    expect(outcomes(await client.deliver(alive, kim, limits))).toEqual(['kim delivered 250'])
    expect(outcomes(await client.deliver(dead, kim, limits))).toEqual(['kim temporary site'])
    expect(hostOf(name).counts.open).toBe(1)
  })

  test('other domains of a site use its connections for the hosts that they share', async () => {
    using client = open({ limits: { idleMs: 5000 } })
    const [one, two] = [host(), host()]
    const limits = { connections: 1, mailsPerConnection: 100 }
    const routes = [routeTo(one), routeTo(one, two), routeTo(two)].map((route) => ({ ...route, site: 'shared' }))
    for (const route of routes) expect(outcomes(await client.deliver(route, kim, limits))).toEqual(['kim delivered 250'])
    expect([hostOf(one).counts.made, hostOf(two).counts.made]).toEqual([1, 1])
  })

  test('closing ends running mails, with an outcome for each', async () => {
    const client = open()
    const name = host({ acceptMs: 60_000 })
    const running = many(client, routeTo(name), 3, { connections: 1, mailsPerConnection: 100 })
    await expect.poll(() => hostOf(name).commands.some(({ line }) => line === 'DATA')).toBe(true)
    await new Promise((resolve) => setImmediate(resolve))
    client.close()
    for (const outcome of await running) expect(outcomes(outcome)[0]).toMatch(/^kim (uncertain|temporary)/)
    expect(outcomes(await client.deliver(routeTo(name), kim, LIMITS))).toEqual(['kim temporary site'])
  })
})
