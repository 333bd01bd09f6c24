import { describe, expect, inject, test } from 'vitest'
import { openDrippingHost } from '../../../test/dripping-host.ts'
import { unusedPort } from '../../../test/fake-provider.ts'
import { openListener } from '../../../test/listener.ts'
import { openRelay, type RelayReply } from '../../../test/relay.ts'
import { openScriptedSmtp, type Script } from '../../../test/scripted-smtp.ts'
import { egressPolicy } from '../../lib/egress.ts'
import { systemClock } from '../runtime/clock.ts'
import { loadOrCreateAuthority } from './dev-authority.ts'
import { createSmtpRelays, type Mail, type SmtpAnswer, type SmtpRelay } from './smtp-relays.ts'

const loopback = egressPolicy(['127.0.0.0/8'])
const authority = await loadOrCreateAuthority(inject('authorityDir'), systemClock.now())

const mailOf = (messageId: string): Mail => ({
  envelope: { from: 'hello@example.com', to: ['kim@example.org'] },
  content: Buffer.from(`Message-ID: ${messageId}\r\nSubject: Hello\r\n\r\nHello Kim\r\n`),
})
const mail = mailOf('<m-1@example.com>')

const relayAt = ({ host, port }: { host: string; port: number }, rest: Partial<SmtpRelay> = {}): SmtpRelay => ({
  host,
  port,
  tls: 'none',
  connections: 2,
  ...rest,
})

/** More than the kernel takes of it before it is read. */
const LARGER_THAN_SOCKETS_BYTES = 30_000_000

const open = (limits = {}) => createSmtpRelays({ policy: loopback, ca: [authority.cert], limits })

test('an email arrives byte for byte, at every recipient of the envelope', async () => {
  await using relay = await openRelay()
  await using relays = open()
  const content = 'Subject: Hello\r\nX-Own: one\r\n\r\n.\r\n..dots\r\n\tHello  Kim=20\r\n.\r\n'
  const to: Mail['envelope']['to'] = ['kim@example.org', 'ana@example.org', 'boss@example.org']
  const answer = await relays.send(relayAt(relay), { envelope: { from: 'hello@example.com', to }, content: Buffer.from(content) })
  expect(answer).toMatchObject({ is: 'accepted', response: expect.stringContaining('250') })
  expect(relay.mails).toMatchObject([{ from: 'hello@example.com', to, raw: content }])
})

describe('the reply of a relay is returned in full', () => {
  test.each<[string, RelayReply, SmtpAnswer]>([
    [
      'the sender is refused',
      { at: 'MAIL', code: 550, text: '5.7.1 Not you' },
      { is: 'refused', code: 550, enhancedCode: '5.7.1', response: '550 5.7.1 Not you', stage: 'MAIL', peer: { ip: '127.0.0.1' } },
    ],
    [
      'the recipient is unknown',
      { at: 'RCPT', code: 550, text: '5.1.1 No such user' },
      { is: 'refused', code: 550, enhancedCode: '5.1.1', response: '550 5.1.1 No such user', stage: 'RCPT', peer: { ip: '127.0.0.1' } },
    ],
    [
      'the recipient is deferred',
      { at: 'RCPT', code: 451, text: 'Greylisted' },
      { is: 'refused', code: 451, response: '451 Greylisted', stage: 'RCPT', peer: { ip: '127.0.0.1' } },
    ],
    [
      'the relay limits the sender',
      { at: 'MAIL', code: 421, text: '4.7.28 Rate limit' },
      { is: 'refused', code: 421, enhancedCode: '4.7.28', response: '421 4.7.28 Rate limit', stage: 'MAIL', peer: { ip: '127.0.0.1' } },
    ],
    [
      'the relay limits the recipient',
      { at: 'RCPT', code: 421, text: '4.7.0 Later' },
      { is: 'refused', code: 421, enhancedCode: '4.7.0', response: '421 4.7.0 Later', stage: 'RCPT', peer: { ip: '127.0.0.1' } },
    ],
    [
      'the email is refused after its last byte',
      { at: 'BODY', code: 554, text: '5.6.0 Spam' },
      { is: 'refused', code: 554, enhancedCode: '5.6.0', response: '554 5.6.0 Spam', stage: 'DATA', peer: { ip: '127.0.0.1' } },
    ],
    [
      'the relay is overloaded',
      { at: 'BODY', code: 421, text: '4.3.2 Come back' },
      { is: 'refused', code: 421, enhancedCode: '4.3.2', response: '421 4.3.2 Come back', stage: 'DATA', peer: { ip: '127.0.0.1' } },
    ],
    [
      'the connection is refused',
      { at: 'CONNECT', code: 554, text: '5.7.1 Go away' },
      { is: 'refused', code: 554, enhancedCode: '5.7.1', response: '554 5.7.1 Go away', stage: 'GREETING', peer: { ip: '127.0.0.1' } },
    ],
    [
      'the connection breaks after the last byte',
      { at: 'BODY', cut: true },
      { is: 'uncertain', message: expect.any(String), peer: { ip: '127.0.0.1' } },
    ],
  ])('%s', async (_, reply, expected) => {
    await using relay = await openRelay()
    await using relays = open()
    relay.answer(reply)
    expect(await relays.send(relayAt(relay), mail)).toEqual(expected)
    expect(relay.mails).toEqual([])
    // The next email arrives in any case.
    expect(await relays.send(relayAt(relay), mail)).toMatchObject({ is: 'accepted' })
    expect(relay.mails).toHaveLength(1)
  })

  test('an email whose connection breaks before its content was sent goes over another one', async () => {
    await using relay = await openRelay()
    await using relays = open()
    relay.answer({ at: 'RCPT', cut: true }, { at: 'MAIL', cut: true })
    expect(await relays.send(relayAt(relay), mail)).toMatchObject({ is: 'accepted' })
    expect(relay.mails).toHaveLength(1)
    expect(relay.connections().made).toBe(3)
  })

  test('an email whose connection breaks again and again is unreachable, and was not sent', async () => {
    await using relay = await openRelay()
    await using relays = open()
    relay.answer(...Array.from({ length: 3 }, (): RelayReply => ({ at: 'RCPT', cut: true })))
    expect(await relays.send(relayAt(relay), mail)).toMatchObject({ is: 'unreachable' })
    expect(relay.mails).toEqual([])
  })

  test('a relay that closes every connection is unreachable', async () => {
    await using relay = await openRelay()
    await using relays = open()
    relay.answer(...Array.from({ length: 10 }, (): RelayReply => ({ at: 'CONNECT', cut: true })))
    expect(await relays.send(relayAt(relay), mail)).toMatchObject({ is: 'unreachable' })
  })

  test('a port without a relay is unreachable', async () => {
    await using relays = open()
    const port = await unusedPort()
    expect(await relays.send(relayAt({ host: '127.0.0.1', port }), mail)).toEqual({
      is: 'unreachable',
      stage: 'CONNECT',
      message: 'The relay refused the connection.',
    })
  })

  test('an email is refused if the main recipient is, even if the recipient of a copy is not', async () => {
    await using relay = await openRelay()
    await using relays = open()
    relay.answer({ at: 'RCPT', code: 550, text: '5.1.1 No such user' })
    expect(
      await relays.send(relayAt(relay), { ...mail, envelope: { ...mail.envelope, to: ['kim@example.org', 'ana@example.org'] } }),
    ).toMatchObject({ is: 'refused', code: 550, stage: 'RCPT' })
  })

  test('an email is uncertain if the relay reads it and then sends nothing', async () => {
    await using relay = await openRelay()
    await using relays = open({ silenceMs: 1500 })
    const held = relay.hold('BODY')
    expect(await relays.send(relayAt(relay), mail)).toMatchObject({ is: 'uncertain' })
    held.release()
  })

  test('an email is uncertain if the relay reads it and does not confirm it in time', async () => {
    await using relay = await openRelay()
    await using relays = open({ totalMs: 1500 })
    const held = relay.hold('BODY')
    expect(await relays.send(relayAt(relay), mail)).toMatchObject({ is: 'uncertain' })
    held.release()
  })

  const pipelining = '250-mx.example\r\n250 PIPELINING'
  const two = { ...mail, envelope: { ...mail.envelope, to: ['kim@example.org', 'ana@example.org'] } }
  test.each<[string, Script, object]>([
    [
      'an email whose recipient was refused before the connection broke is refused',
      { RCPT: '550 5.1.1 No such user', DATA: 'cut' },
      { is: 'refused', code: 550, stage: 'RCPT' },
    ],
    [
      'an email is refused if the relay ends the session at the recipient of a copy',
      { RCPT: '250 ok\r\n421 4.7.0 Later' },
      { is: 'refused', code: 421, stage: 'RCPT' },
    ],
    [
      'an email is uncertain if the relay asks for more after its last byte',
      { BODY: '354 4.0.0 more?' },
      { is: 'uncertain', message: 'The relay neither accepted nor refused the email: 354 4.0.0 more?' },
    ],
    [
      'an email is unreachable if the relay ends each session as soon as it is open',
      { EHLO: `${pipelining}\r\n421 4.3.2 bye` },
      { is: 'unreachable', message: 'The relay closed the connection.' },
    ],
  ])('%s, and is not sent again', async (_, script, expected) => {
    await using relay = await openScriptedSmtp({ EHLO: pipelining, ...script })
    await using relays = open({ totalMs: 5000 })
    expect(await relays.send(relayAt(relay), two)).toMatchObject(expected)
    expect(relay.made()).toBe(1)
  })

  test('a relay that ends the session instead of TLS that is optional is asked once', async () => {
    await using relay = await openScriptedSmtp({ EHLO: '250-mx.example\r\n250 STARTTLS', STARTTLS: '421 4.3.2 Busy' })
    await using relays = open({ totalMs: 5000 })
    const answer = await relays.send(relayAt(relay, { tls: 'opportunistic' }), mail)
    expect(answer).toMatchObject({ is: 'refused', code: 421, stage: 'STARTTLS' })
    expect(relay.made()).toBe(1)
  })

  test('an email goes over another connection if the relay ends the session after those before it', async () => {
    await using relay = await openRelay()
    await using relays = open()
    relay.answer('accepted', { at: 'MAIL', code: 421, text: '4.3.2 Too many emails' })
    for (let at = 0; at < 2; at++) expect(await relays.send(relayAt(relay), mail)).toMatchObject({ is: 'accepted' })
    expect(relay.connections().made).toBe(2)
  })

  test('so it does if the relay does not offer pipelining', async () => {
    await using relay = await openScriptedSmtp({}, { mailsMax: 1 })
    await using relays = open()
    for (let at = 0; at < 2; at++) expect(await relays.send(relayAt(relay), mail)).toMatchObject({ is: 'accepted' })
    expect([relay.made(), relay.received()]).toEqual([2, 2])
  })

  const large = { ...mail, content: Buffer.alloc(LARGER_THAN_SOCKETS_BYTES, `${'x'.repeat(900)}\r\n`) }

  test('an email whose connection breaks within its content goes over another one, and arrives once', async () => {
    await using relay = await openScriptedSmtp({}, { cutsContent: 2 })
    await using relays = open()
    expect(await relays.send(relayAt(relay), large)).toMatchObject({ is: 'accepted' })
    expect([relay.begun(), relay.received()]).toEqual([3, 1])
  })

  test('an email whose connection breaks within its content again and again is unreachable, and was not sent', async () => {
    await using relay = await openScriptedSmtp({}, { cutsContent: 3 })
    await using relays = open()
    expect(await relays.send(relayAt(relay), large)).toMatchObject({ is: 'unreachable', stage: 'DATA' })
    expect(relay.received()).toBe(0)
  })

  test.each<[string, object]>([
    ['552 5.3.4 Too large', { is: 'refused', code: 552, stage: 'DATA' }],
    ['354 go on', { is: 'unreachable', stage: 'DATA' }],
  ])('so is one whose content is answered with %s before its end, or refused', async (reply, expected) => {
    await using relay = await openScriptedSmtp({ DATA: `354 go on\r\n${reply}` })
    await using relays = open()
    expect(await relays.send(relayAt(relay), large)).toMatchObject(expected)
    expect(relay.received()).toBe(0)
  })

  test.each([{ silenceMs: 300 }, { totalMs: 1500 }])('so is one whose content the relay does not take within %j', async (limits) => {
    await using dripping = await openDrippingHost('READING')
    await using relays = open(limits)
    expect(await relays.send(relayAt({ host: '127.0.0.1', port: dripping.port }), large)).toMatchObject({ is: 'unreachable' })
  })

  test('a relay that accepts an email before it has read it is believed when nothing is left to write', async () => {
    await using hasty = await openScriptedSmtp({ DATA: '354 go on\r\n250 2.0.0 OK' })
    await using relay = await openRelay()
    await using relays = open()
    let isAnswered = false
    const sending = relays.send(relayAt(hasty), { ...mail, content: Buffer.alloc(LARGER_THAN_SOCKETS_BYTES, 'x\r\n') })
    void sending.then(() => {
      isAnswered = true
    })
    await expect.poll(hasty.begun).toBe(1)
    // The reply was read before this one arrives.
    await relays.send(relayAt(relay), mail)
    expect(isAnswered).toBe(false)
    await hasty[Symbol.asyncDispose]()
    expect(await sending).toMatchObject({ is: 'accepted' })
  })

  test('an email to an invalid address is not sent', async () => {
    await using relay = await openRelay()
    await using relays = open()
    expect(await relays.send(relayAt(relay), { ...mail, envelope: { ...mail.envelope, to: [''] } })).toMatchObject({
      is: 'unsendable',
    })
    expect(relay.mails).toEqual([])
  })
})

describe('the egress policy applies', () => {
  test.each(['127.0.0.1', '[::1]', '::ffff:127.0.0.1', '10.0.0.1', 'internal.example', 'localhost'])('%s is not allowed', async (host) => {
    await using relay = await openRelay()
    const lookup = async () => [{ address: '127.0.0.1', family: 4 }]
    await using relays = createSmtpRelays({ policy: egressPolicy([]), lookup })
    expect(await relays.send(relayAt({ host, port: relay.port }), mail)).toEqual({
      is: 'unreachable',
      stage: 'CONNECT',
      message: 'The relay has no address that this server may connect to.',
    })
    expect(relay.connections().made).toBe(0)
  })

  const FORBIDDEN = '127.0.0.2'
  const onlyOne = egressPolicy(['127.0.0.1/32'])
  const names =
    (...addresses: string[]) =>
    async () =>
      addresses.map((address) => ({ address, family: 4 }))

  test.each([
    ['that is written as such', FORBIDDEN, names()],
    ['that a name resolves to', 'relay.example', names(FORBIDDEN)],
  ])('no connection is made to a forbidden address %s, neither to send nor to try it out', async (_, host, lookup) => {
    await using forbidden = await openListener(FORBIDDEN)
    await using relays = createSmtpRelays({ policy: onlyOne, lookup })
    const relay = relayAt({ host, port: forbidden.port })
    expect(await relays.send(relay, mail)).toMatchObject({ is: 'unreachable' })
    expect(await relays.verify(relay)).toMatchObject({ works: false })
    expect(await forbidden.connections()).toBe(0)
  })

  test('for a name with one allowed address, only that one is used', async () => {
    await using relay = await openRelay()
    await using forbidden = await openListener(FORBIDDEN, relay.port)
    await using relays = createSmtpRelays({ policy: onlyOne, lookup: names(FORBIDDEN, '127.0.0.1') })
    expect(await relays.send(relayAt({ host: 'relay.example', port: relay.port }), mail)).toMatchObject({ is: 'accepted' })
    expect(await relays.verify(relayAt({ host: 'relay.example', port: relay.port }))).toEqual({ works: true })
    expect(await forbidden.connections()).toBe(0)
  })

  test('nor is the forbidden one dialled when nothing listens at the allowed one', async () => {
    await using forbidden = await openListener(FORBIDDEN)
    await using relays = createSmtpRelays({ policy: onlyOne, lookup: names('127.0.0.1', FORBIDDEN) })
    expect(await relays.send(relayAt({ host: 'relay.example', port: forbidden.port }), mail)).toMatchObject({ is: 'unreachable' })
    expect(await forbidden.connections()).toBe(0)
  })
})

describe('encryption follows the setting', () => {
  const offering = { disabledCommands: ['AUTH'] }
  const plain = { disabledCommands: ['AUTH', 'STARTTLS'] }
  const implicit = { disabledCommands: ['AUTH'], secure: true }
  test.each<[SmtpRelay['tls'], string, object, 'secure' | 'plain' | 'unreachable']>([
    ['implicit', 'uses TLS from the first byte', implicit, 'secure'],
    ['implicit', 'does not', plain, 'unreachable'],
    ['starttls', 'offers it', offering, 'secure'],
    ['starttls', 'does not offer it', plain, 'unreachable'],
    ['opportunistic', 'offers it', offering, 'secure'],
    ['opportunistic', 'does not offer it', plain, 'plain'],
    ['none', 'offers it', offering, 'plain'],
  ])('%s with a relay that %s', async (tls, _, options, expected) => {
    await using relay = await openRelay(options)
    await using relays = open({ greetingMs: 2000, connectMs: 20_000 })
    const answer = await relays.send(relayAt(relay, { tls }), mail)
    const seen =
      answer.is === 'accepted' ? (relay.mails[0]?.isSecure ? 'secure' : 'plain') : answer.is === 'refused' ? 'unreachable' : answer.is
    expect(seen).toBe(expected)
  })

  const insecure = { is: 'unreachable', message: expect.stringContaining('certificate') }
  test.each<[SmtpRelay['tls'], object, object]>([
    ['implicit', implicit, insecure],
    ['starttls', offering, insecure],
    ['opportunistic', offering, { is: 'accepted' }],
  ])('an untrusted certificate is accepted only if encryption is optional: %s', async (tls, options, expected) => {
    await using relay = await openRelay(options)
    await using relays = createSmtpRelays({ policy: loopback })
    expect(await relays.send(relayAt(relay, { tls }), mail)).toMatchObject(expected)
  })
})

describe('logging in', () => {
  const asking = { authOptional: false, disabledCommands: ['STARTTLS'], allowInsecureAuth: true }
  test('an email is sent with the given user name', async () => {
    await using relay = await openRelay(asking)
    await using relays = open()
    expect(await relays.send(relayAt(relay, { username: 'kim', password: 'secret' }), mail)).toMatchObject({ is: 'accepted' })
    expect(relay.mails).toMatchObject([{ user: 'kim' }])
  })

  test('a wrong password is reported with the relay’s reply', async () => {
    await using relay = await openRelay(asking)
    await using relays = open()
    expect(await relays.send(relayAt(relay, { username: 'kim', password: 'wrong' }), mail)).toMatchObject({
      is: 'refused',
      code: 535,
      enhancedCode: '5.7.8',
      stage: 'AUTH',
    })
  })

  test.each<[string, Partial<SmtpRelay>, object]>([
    ['the right password', { username: 'kim', password: 'secret' }, { works: true }],
    ['a wrong password', { username: 'kim', password: 'wrong' }, { works: false, message: 'The relay replied: 535 5.7.8 Wrong password' }],
    ['missing encryption that is required', { tls: 'starttls' }, { works: false, message: expect.any(String) }],
  ])('the settings are verified without an email: %s', async (_, rest, expected) => {
    await using relay = await openRelay(asking)
    await using relays = open()
    expect(await relays.verify(relayAt(relay, rest))).toEqual(expected)
    expect(relay.mails).toEqual([])
  })
})

describe('connections are reused', () => {
  test('many emails share as many connections as the relay allows', async () => {
    await using relay = await openRelay()
    await using relays = open()
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, at) => relays.send(relayAt(relay, { connections: 3 }), mailOf(`<m-${at}@example.com>`))),
    )
    expect(answers.every(({ is }) => is === 'accepted')).toBe(true)
    expect(new Set(relay.mails.map(({ headers }) => headers['message-id'])).size).toBe(40)
    expect(relay.connections().made).toBe(3)
  })

  test('a relay that takes fewer connections than asked for gets all emails over those, and no email fails', async () => {
    await using relay = await openRelay({ disabledCommands: ['AUTH', 'STARTTLS'], maxClients: 2 })
    await using relays = open()
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, at) => relays.send(relayAt(relay, { connections: 5 }), mailOf(`<m-${at}@example.com>`))),
    )
    expect(answers.filter(({ is }) => is !== 'accepted')).toEqual([])
    expect(relay.mails).toHaveLength(40)
    expect(relay.connections().made).toBe(5)
  })

  test('a relay that takes none refuses an email for each connection', async () => {
    await using relay = await openScriptedSmtp({ GREETING: '421 4.3.2 Busy' })
    await using relays = open()
    const answers = await Promise.all(Array.from({ length: 7 }, () => relays.send(relayAt(relay, { connections: 3 }), mail)))
    expect(answers).toEqual(Array(7).fill(expect.objectContaining({ is: 'refused', code: 421, stage: 'GREETING' })))
    expect(relay.made()).toBe(7)
  })

  test('another password uses another pool', async () => {
    await using relay = await openRelay({ authOptional: false, disabledCommands: ['STARTTLS'], allowInsecureAuth: true })
    await using relays = open()
    await relays.send(relayAt(relay, { username: 'kim', password: 'secret' }), mail)
    expect(await relays.send(relayAt(relay, { username: 'kim', password: 'wrong' }), mail)).toMatchObject({ is: 'refused' })
  })

  test('idle connections are closed, and the next email opens another', async () => {
    await using relay = await openRelay()
    await using relays = open({ idleMs: 50 })
    await relays.send(relayAt(relay), mail)
    await expect.poll(() => relay.connections().open).toBe(0)
    expect(await relays.send(relayAt(relay), mail)).toMatchObject({ is: 'accepted' })
  })

  test('a relay keeps its connections while an email is under way, however many others are used', async () => {
    await using slow = await openRelay()
    await using other = await openRelay()
    await using relays = open()
    const held = slow.hold('BODY')
    const sending = relays.send(relayAt(slow), mail)
    await held.reached()
    for (let connections = 1; connections <= 201; connections++) await relays.send(relayAt(other, { connections }), mail)
    // Of those that nothing is sent over, the first ones were closed.
    await expect.poll(() => other.connections().open).toBe(199)
    held.release()
    expect(await sending).toMatchObject({ is: 'accepted' })
    expect(slow.connections()).toMatchObject({ made: 1 })
  })

  test('disposing closes all connections and ends running calls', async () => {
    await using relay = await openRelay()
    const relays = open()
    const held = relay.hold('BODY')
    const sending = relays.send(relayAt(relay), mail)
    await held.reached()
    await relays[Symbol.asyncDispose]()
    expect(['unreachable', 'uncertain']).toContain((await sending).is)
    await expect.poll(() => relay.connections().open).toBe(0)
    held.release()
  })
})
