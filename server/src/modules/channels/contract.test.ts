/** The promises of every provider, tested with its recorded replies and reports. */
import { afterAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { type FakeProvider, openFakeProvider, unusedPort } from '../../../test/fake-provider.ts'
import { openRelay } from '../../../test/relay.ts'
import { createTestClock } from '../../../test/test-clock.ts'
import { loadOrCreateAuthority } from '../../infra/outgoing/dev-authority.ts'
import { createSmtpRelays, type SmtpRelays } from '../../infra/outgoing/smtp-relays.ts'
import { systemClock } from '../../infra/runtime/clock.ts'
import { egressPolicy } from '../../lib/egress.ts'
import type { MessageId } from '../../lib/ids.ts'
import * as registry from './kinds.ts'
import type { Callback, Outgoing, Provider, ProviderTools } from './provider.ts'
import * as recordings from './providers/recorded/index.ts'
import {
  CALLBACK_URL,
  CASES,
  type Exchange,
  type LocalRecording,
  type RecordedCall,
  type RecordedCallback,
  type RecordedReply,
  type Recording,
  type RelayRecording,
  type RelayReply,
  type StandIn,
} from './recording.ts'
import { checkedSettings, PROVIDER_NAMES, type ProviderName, providers } from './registry.ts'

const kinds = { ...registry }

type AnyRecording = Recording | RelayRecording | LocalRecording
type Reply = RecordedReply | RelayReply

const recorded: Partial<Record<ProviderName, AnyRecording>> = recordings

const fakeProvider = await openFakeProvider()
const relay = await openRelay({ disabledCommands: ['STARTTLS'], allowInsecureAuth: true })
const { cert } = await loadOrCreateAuthority(inject('authorityDir'), systemClock.now())
const clock = createTestClock()
const closedPort = await unusedPort()

/** Relays get a new connection each time, because only a new one can be refused. */
function outside(over: 'https' | 'relay' | 'nothing'): ProviderTools {
  const smtp = over === 'relay' ? openSmtp() : idle
  return {
    fetch: fakeProvider.fetch,
    smtp,
    mail,
    clock,
    baseUrl: 'https://carillon.test',
    callbackUrl: CALLBACK_URL,
    senderOf: async () => undefined,
    reportAddressOf: () => null,
  }
}

const unused = async (): Promise<never> => {
  throw new Error('No provider but `mta` needs mail hosts.')
}
const mail: ProviderTools['mail'] = {
  name: 'carillon.test',
  reach: unused,
  resolver: { mx: unused, everyAddress: unused, names: unused },
  needsPublicName: false,
  addresses: [],
}
const policy = egressPolicy(['127.0.0.0/8'])
const idle = createSmtpRelays({ policy })

function openSmtp(): SmtpRelays {
  const smtp = createSmtpRelays({ policy, ca: [cert] })
  onTestFinished(() => smtp[Symbol.asyncDispose]())
  return smtp
}

afterAll(async () => {
  await idle[Symbol.asyncDispose]()
  await relay[Symbol.asyncDispose]()
  await fakeProvider[Symbol.asyncDispose]()
})

function messageFor({ channels: [channel = 'email'] }: Provider, ...rest: (Partial<Outgoing> | undefined)[]): Outgoing {
  const usual = { id: 42 as MessageId, key: 'k-42', channel, summary: 'Hello', ...kinds[channel].sample, headers: {}, devices: [] }
  return Object.assign(usual, ...rest)
}

/** Prepares the replies and returns the address of the fake provider. */
function prepare(over: 'https' | 'relay', replies: Reply[]): StandIn {
  if (over === 'https') {
    fakeProvider.requests.length = 0
    fakeProvider.answer(...(replies as RecordedReply[]))
    return fakeProvider
  }
  relay.mails.length = 0
  relay.answer(...(replies.filter((reply) => reply !== 'refused') as Exclude<RelayReply, 'refused'>[]))
  return { host: relay.host, port: replies.includes('refused') ? closedPort : relay.port }
}

const seen = (over: 'https' | 'relay'): (FakeProvider['requests'][number] | (typeof relay.mails)[number])[] =>
  over === 'https' ? fakeProvider.requests : relay.mails

test('every provider has a recording', () => expect(Object.keys(recorded).sort()).toEqual([...PROVIDER_NAMES].sort()))

describe.each(PROVIDER_NAMES)('%s', (name) => {
  const provider = providers[name]
  const recording = recorded[name]
  if (!recording) return

  test('every setting has a title, and other settings are refused', () => {
    const { properties, additionalProperties } = provider.settings as {
      properties?: Record<string, { title?: string }>
      additionalProperties?: boolean
    }
    expect(Object.values(properties ?? {}).filter(({ title }) => !title)).toEqual([])
    expect(additionalProperties).toBe(false)
  })

  if (recording.over === 'nothing') {
    test('it sends nothing over a network', async () => {
      expect(await provider.send({} as never, messageFor(provider), outside(recording.over))).toMatchObject(recording.outcome)
    })
    return
  }
  testSending(name, provider, recording)
  if (provider.read || recording.callbacks) testCallbacks(name, provider, recording)
})

function testSending(name: ProviderName, provider: Provider, { over, settings, message, sends, tests }: Recording | RelayRecording): void {
  test('the settings of the recording are valid', () => {
    const given = settings({ host: '127.0.0.1', port: 1 })
    expect(Object.keys(checkedSettings(name, given))).toEqual(Object.keys(given))
  })

  test('every case is recorded', () => expect(CASES.filter((one) => !sends[one])).toEqual([]))

  test.each(Object.entries(sends) as [string, Exchange<Reply>][])('sending, %s', async (one, exchange) => {
    const given = settings(prepare(over, exchange.replies))
    const outcome = await provider.send(given as never, messageFor(provider, message, exchange.message), outside(over))
    expect(outcome).toMatchObject(exchange.outcome)
    // Whether the address gets nothing more is never left open.
    expect('bounced' in outcome).toBe('bounced' in exchange.outcome)
    if (exchange.requests) expect(seen(over)).toMatchObject(exchange.requests)
    const expected = one === 'cut' && provider.idempotent ? 'deferred' : ALWAYS[one]
    if (expected) expect(outcome.is).toBe(expected)
    if (one === 'throttled' && JSON.stringify(exchange.replies).includes('"retry-after"')) expect(outcome).toHaveProperty('retryAt')
    expectNoSecrets(provider, given, outcome)
  })

  test.each(tests as { replies: Reply[]; works: boolean; requests?: object[] }[])(
    'test %# of the provider: $works',
    async ({ replies, works, requests }) => {
      const given = settings(prepare(over, replies))
      const result = await provider.test(given as never, outside(over))
      expect(result).toEqual(works ? { works } : { works, message: expect.stringMatching(/\S/) })
      if (requests) expect(seen(over)).toMatchObject(requests)
      expectNoSecrets(provider, given, result)
    },
  )

  test('tests with requests are recorded with and without success', () => {
    if (tests.some(({ replies }) => replies.length > 0)) expect(new Set(tests.map(({ works }) => works)).size).toBe(2)
  })
}

/** The outcomes that are the same for every provider. */
const ALWAYS: Record<string, string> = {
  success: 'accepted',
  bad_recipient: 'rejected',
  throttled: 'deferred',
  outage: 'deferred',
  refused: 'deferred',
  cut: 'uncertain',
}

/** Outcomes are stored and shown, so they must not contain secrets, even if the provider returns one. */
function expectNoSecrets({ settings }: Provider, given: Record<string, unknown>, shown: unknown): void {
  const { properties = {} } = settings as { properties?: Record<string, { writeOnly?: boolean }> }
  const secrets = Object.entries(given).filter(([member, value]) => properties[member]?.writeOnly && typeof value === 'string')
  for (const [, secret] of secrets) expect(JSON.stringify(shown)).not.toContain(secret)
}

function testCallbacks(name: ProviderName, provider: Provider, { over, settings, callbacks }: Recording | RelayRecording): void {
  const read = provider.read
  if (!read || !callbacks) {
    test('callbacks are recorded exactly for providers that read them', () => expect(Boolean(read)).toBe(Boolean(callbacks)))
    return
  }
  const reading = async (callback: RecordedCallback, change: (call: RecordedCall) => RecordedCall = (call) => call) => {
    const call = change(await callback.call(clock.now()))
    const given = checkedSettings(name, settings(prepare(over, callback.replies ?? [])))
    return read(given as never, callOf(call), outside(over))
  }

  test.each(callbacks.genuine)('a genuine callback is read: $name', async (callback) => {
    const found = await reading(callback)
    expect(found).toMatchObject({ is: 'read', reports: callback.reports, ...(callback.reply && { reply: callback.reply }) })
    if (found.is === 'read') for (const { at } of found.reports) expect(at.getTime()).not.toBeNaN()
  })

  test.each(callbacks.forged)('a forged callback is refused: $name', async (callback) => {
    expect(await reading(callback)).toEqual({ is: 'unverified' })
  })

  test('at least two forged callbacks are recorded', () => expect(callbacks.forged.length).toBeGreaterThanOrEqual(2))

  test('an empty callback is refused', async () => {
    for (const callback of callbacks.genuine) expect(await reading(callback, () => ({}))).toEqual({ is: 'unverified' })
  })
}

const callOf = ({ headers = {}, query = '', body = '' }: RecordedCall): Callback => ({
  headers,
  query: new URLSearchParams(query),
  body: Buffer.from(body),
  url: `${CALLBACK_URL}${query === '' ? '' : `?${query}`}`,
})
