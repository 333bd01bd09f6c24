/** The webhook events of each stage of an email, in order, as a webhook endpoint gets them (D-WH-5). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ProviderId } from '../../src/lib/ids.ts'
import { webhookEvents } from '../../src/modules/webhook-events/index.ts'
import { unusedPort } from '../fake-provider.ts'
import { answerOrders, order, sendOver } from '../mailing.ts'
import type { Receiver } from '../receiver.ts'
import { openRelay } from '../relay.ts'
import { openScriptedSmtp, type Script } from '../scripted-smtp.ts'
import { type World, world } from '../world.ts'

type StageEvent = { type: string; data: Record<string, unknown> }

let w: World
let receiver: Receiver
let provider: ProviderId
beforeAll(async () => {
  w = await world()
  receiver = await w.receiver()
  const types = Object.values(webhookEvents)
    .map(({ type }) => type)
    .filter((type) => type !== 'queue.queue-message-authenticated')
  expect((await w.post('/api/client/webhooks', { name: 'All', url: receiver.url, event_types: types })).status).toBe(201)
  provider = await sendOver(w, { host: '127.0.0.1', port: 25 })
  await answerOrders(w)
})
afterAll(() => w[Symbol.asyncDispose]())

let users = 0

/** Sends an email to a new user over this relay. Returns the events of it that the endpoint got, in order. */
async function mailOver({ host, port }: { host: string; port: number }, settings: object = {}): Promise<StageEvent[]> {
  const changed = await w.patch(`/api/client/providers/${provider}`, {
    settings: { host, port, tls: 'none', connections: 1, username: null, password: null, ...settings },
  })
  expect(changed.status, changed.text).toBe(200)
  const name = `user-${++users}`
  await w.post('/api/client/users/batch', [{ external_id: name, email: `${name}@example.com` }])
  await order(w, name)
  return received()
}

/** What the endpoint got since the last call. */
async function received(): Promise<StageEvent[]> {
  await w.drain()
  const events = receiver.requests.splice(0).map(({ json }) => json as StageEvent & { id: string })
  return events.sort((a, b) => (a.id < b.id ? -1 : 1))
}

const typesOf = (received: StageEvent[]) => received.map(({ type }) => type.replace(/^delivery\./, ''))

const dataOf = (received: StageEvent[], type: string) => received.find((one) => one.type === type)?.data

const LATER = ['dsn-temp-fail', 'queue.rescheduled']
const FOR_GOOD = ['dsn-perm-fail', 'completed']

describe('each fault of a relay has its events, in order', () => {
  test.each<[string, Script, object, string[], object]>([
    ['no greeting', { GREETING: 'cut' }, {}, ['greeting-failed', ...LATER], { reason: 'The relay closed the connection.' }],
    [
      'a greeting that refuses',
      { GREETING: '554 5.3.2 No service today' },
      {},
      ['greeting-failed', ...LATER],
      { smtp_code: 554, enhanced_code: '5.3.2', response: '554 5.3.2 No service today' },
    ],
    [
      'EHLO refused',
      { EHLO: '550 5.7.1 Denied', HELO: '550 5.7.1 Denied' },
      {},
      ['ehlo-rejected', ...LATER],
      { smtp_code: 550, enhanced_code: '5.7.1', response: '550 5.7.1 Denied' },
    ],
    ['STARTTLS required and not offered', {}, { tls: 'starttls' }, ['start-tls-unavailable', ...LATER], { required: true }],
    [
      'STARTTLS wanted and not offered',
      {},
      { tls: 'opportunistic' },
      ['start-tls-unavailable', 'delivered', 'completed'],
      { required: false, reason: 'STARTTLS is not in the list of extensions.' },
    ],
    [
      'a TLS handshake that fails',
      { EHLO: '250-mx.example\r\n250 STARTTLS' },
      { tls: 'starttls' },
      ['start-tls-error', ...LATER],
      { fallback: 'none' },
    ],
    ['TLS from the first byte, which is not there', {}, { tls: 'implicit' }, ['implicit-tls-error', ...LATER], {}],
    ['a login that fails', { EHLO: '250-mx\r\n250 AUTH PLAIN', AUTH: '535 5.7.8 no' }, { username: 'u', password: 'p' }, LATER, {}],
    [
      'the sender refused',
      { MAIL: '550 5.7.1 Sender not allowed' },
      {},
      ['mail-from-rejected', ...FOR_GOOD],
      { smtp_code: 550, enhanced_code: '5.7.1' },
    ],
    ['the connection lost at MAIL', { MAIL: 'cut' }, {}, ['mail-from-rejected', ...LATER], { reason: 'The relay closed the connection.' }],
    ['the recipient refused', { RCPT: '550 5.1.1 No such user' }, {}, ['rcpt-to-rejected', ...FOR_GOOD], { smtp_code: 550 }],
    ['the recipient deferred', { RCPT: '451 4.7.1 Greylisted' }, {}, ['rcpt-to-rejected', ...LATER], { smtp_code: 451 }],
    ['the connection lost at RCPT', { RCPT: 'cut' }, {}, ['rcpt-to-failed', ...LATER], { reason: 'The relay closed the connection.' }],
    ['DATA refused', { DATA: '554 5.7.1 no' }, {}, ['message-rejected', ...FOR_GOOD], { smtp_code: 554 }],
    ['the content refused', { BODY: '554 5.6.0 Spam' }, {}, ['message-rejected', ...FOR_GOOD], { smtp_code: 554, enhanced_code: '5.6.0' }],
    ['the content deferred', { BODY: '451 4.3.0 Later' }, {}, ['message-rejected', ...LATER], { smtp_code: 451 }],
    ['the connection lost after the content', { BODY: 'cut' }, {}, ['message-rejected'], { uncertain: true }],
  ])('%s', async (_, script, settings, types, data) => {
    await using relay = await openScriptedSmtp(script)
    const received = await mailOver(relay, settings)
    expect(typesOf(received)).toEqual(['attempt-start', ...types, 'attempt-end'])
    const [stage] = types
    if (stage !== 'dsn-temp-fail')
      expect(dataOf(received, `delivery.${stage}`)).toMatchObject({ host: '127.0.0.1', to: `user-${users}@example.com`, ...data })
    expect(new Set(received.map(({ data }) => data.attempt_id)).size).toBe(1)
  })

  test('a port without a relay', async () => {
    const received = await mailOver({ host: '127.0.0.1', port: await unusedPort() })
    expect(typesOf(received)).toEqual(['attempt-start', 'connect-error', ...LATER, 'attempt-end'])
    expect(dataOf(received, 'queue.rescheduled')).toMatchObject({
      pending: [`user-${users}@example.com`],
      reason: 'The relay refused the connection.',
    })
  })

  test('a relay whose name does not exist', async () => {
    expect(typesOf(await mailOver({ host: 'relay.invalid', port: 25 }))).toEqual([
      'attempt-start',
      'ip-lookup-failed',
      ...LATER,
      'attempt-end',
    ])
  })
})

test('a relay that accepts an email completes it, and tells its reply', async () => {
  await using relay = await openScriptedSmtp({})
  const received = await mailOver(relay)
  expect(typesOf(received)).toEqual(['attempt-start', 'delivered', 'completed', 'attempt-end'])
  expect(dataOf(received, 'delivery.delivered')).toMatchObject({
    host: '127.0.0.1',
    ip: '127.0.0.1',
    smtp_code: 250,
    enhanced_code: '2.0.0',
    queue_id: '7B3F1',
    relayed: true,
    from: 'shop@example.com',
    rfc_message_id: expect.stringMatching(/^<.+@example.com>$/),
  })
  expect(dataOf(received, 'delivery.completed')).toMatchObject({ delivered: 1, failed: 0 })
})

test('an encrypted connection is described', async () => {
  await using relay = await openRelay({ disabledCommands: ['AUTH'] })
  expect(dataOf(await mailOver(relay, { tls: 'starttls' }), 'delivery.delivered')).toMatchObject({
    tls: { protocol: 'TLSv1.3', cipher: expect.any(String), verified: true },
  })
})

test('an email that is deferred until it is given up has a notice first and after hours, and then fails', async () => {
  await using relay = await openScriptedSmtp({ RCPT: '451 4.7.1 Greylisted' })
  const attempts = [typesOf(await mailOver(relay)).slice(2, -1)]
  const address = `user-${users}@example.com`
  for (let number = 1; number < 8; number++) {
    w.advance('6 hours')
    attempts.push(typesOf((await received()).filter(({ data }) => data.to === address)).slice(2, -1))
  }
  expect(attempts).toEqual([LATER, ...Array.from({ length: 5 }, () => ['queue.rescheduled']), LATER, ['failed', ...FOR_GOOD]])
  w.advance('6 hours')
  expect(await received()).toEqual([])
})
