/** Bounces and complaints that come by email, from the SMTP port to the suppressed address. */
import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { authenticator } from '../../src/authenticator.ts'
import { sql } from '../../src/infra/postgres/db.ts'
import type { MessageId } from '../../src/lib/ids.ts'
import { openMailListeners } from '../../src/mail-listeners.ts'
import { returnPathFor } from '../../src/modules/mta/index.ts'
import { mailWorld } from '../mail-queue.ts'
import { answerOrders, order, sendOver } from '../mailing.ts'
import { openRelay } from '../relay.ts'
import { bounceMail, complaintMail, smtpSend, smtpTalk } from '../reports.ts'
import { type World, world } from '../world.ts'

const REPORTS = 'fbl@reports.example.com'
const TYPES = [
  'delivery.dsn-perm-fail',
  'delivery.dsn-temp-fail',
  'incoming-report.abuse-report',
  'incoming-report.fraud-report',
  'incoming-report.virus-report',
]

const Row = Type.Object({
  id: Type.Unsafe<MessageId>({ type: 'integer' }),
  state: Type.String(),
  reason: Type.Unsafe<string | null>({}),
  provider_message_id: Type.Unsafe<string | null>({}),
})

/** An email to kim that a relay accepted, and an open port for reports on it. */
async function sentToKim(env: Record<string, string> = {}, bcc = '') {
  const closing = new AsyncDisposableStack()
  const w = closing.use(await world({ env: { INBOUND_PORT: '0', REPORT_ADDRESSES: REPORTS, ...env } }))
  const relay = closing.use(await openRelay())
  const receiver = await w.receiver()
  expect((await w.post('/api/client/webhooks', { name: 'All', url: receiver.url, event_types: TYPES })).status).toBe(201)
  await sendOver(w, relay)
  const campaign = await answerOrders(w, 'email', bcc === '' ? {} : { bcc })
  await w.users('kim')
  await order(w, 'kim')
  await w.drain()
  const { ports } = closing.use(await openMailListeners(w.ctx, authenticator.authenticate))
  const { id, provider_message_id } = await messageOf(w)
  const port = ports.INBOUND_PORT ?? 0
  const returnPath = (no = 0) => returnPathFor(w.ctx, { project_id: w.projectId, mail_id: id, recipient_no: no }, 'bounces.example.com')
  return {
    w,
    id,
    port,
    campaign,
    messageId: provider_message_id ?? '',
    returnPath,
    report: (content: Buffer, to = returnPath()) => smtpSend(port, to, content),
    async events() {
      await w.drain()
      return receiver.requests.map(({ json }) => json as { type: string; data: Record<string, unknown> })
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

async function messageOf(w: World) {
  const row = await w.db.first(Row, sql`select id, state, reason, provider_message_id from messages where project_id = ${w.projectId}`)
  if (!row) throw new Error('There is no message.')
  return row
}

const suppressed = async (w: World) =>
  (await w.get('/api/client/suppressions')).body.results.map(({ address, reason }: { address: string; reason: string }) => [
    address,
    reason,
  ])

const nothingChanged = async (w: World) => {
  expect(await messageOf(w)).toMatchObject({ state: 'sent' })
  expect(await suppressed(w)).toEqual([])
}

describe('a bounce', () => {
  test('that says that the address is invalid suppresses it, and changes the message', async () => {
    await using kim = await sentToKim()
    expect(await kim.report(bounceMail({}))).toEqual({ to: expect.stringMatching(/^250 /), content: '250 2.0.0 received' })
    expect(await messageOf(kim.w)).toMatchObject({ state: 'bounced', reason: 'hard_bounce' })
    expect(await suppressed(kim.w)).toEqual([['kim@example.com', 'hard_bounce']])
    expect(await kim.events()).toMatchObject([
      {
        type: 'delivery.dsn-perm-fail',
        data: {
          message_id: kim.id,
          to: 'kim@example.com',
          diagnostic: '550 5.1.1 No such user here',
          smtp_code: 550,
          enhanced_code: '5.1.1',
          classification: 'invalid-recipient',
          suppressed: true,
          asynchronous: true,
        },
      },
    ])
  })

  test('that returns a large email whole is read', async () => {
    await using kim = await sentToKim()
    const returned = [`Message-ID: ${kim.messageId}`, '', ...new Array(20_000).fill('x'.repeat(76))]
    expect((await kim.report(bounceMail({ returned }), REPORTS)).content).toBe('250 2.0.0 received')
    expect(await suppressed(kim.w)).toEqual([['kim@example.com', 'hard_bounce']])
  })

  test('that names an address of this server suppresses nothing', async () => {
    await using kim = await sentToKim({ MTA_ADDRESSES: '203.0.113.9' })
    await kim.report(bounceMail({ status: '5.1.0', diagnostic: '550 5.1.0 Rejected [203.0.113.9]' }))
    expect(await suppressed(kim.w)).toEqual([])
    expect(await kim.events()).toMatchObject([{ data: { classification: 'sender-reputation', suppressed: false } }])
  })

  test('whose text has an address of the Internet that looks like a status code suppresses nothing', async () => {
    await using kim = await sentToKim()
    await kim.report(bounceMail({ status: '5.7.1', diagnostic: '550 Message from 198.5.1.1 refused' }))
    expect(await suppressed(kim.w)).toEqual([])
    expect(await kim.events()).toMatchObject([{ data: { enhanced_code: '5.7.1', suppressed: false } }])
  })

  test('that comes twice counts once', async () => {
    await using kim = await sentToKim()
    await kim.report(bounceMail({}))
    expect((await kim.report(bounceMail({}))).content).toBe('250 2.0.0 received')
    expect(await kim.events()).toHaveLength(1)
    await kim.w.drain()
    expect((await kim.w.get(`/api/client/campaigns/${kim.campaign.id}`)).body.delivery).toMatchObject({ bounced: 1 })
  })

  test('of a full mailbox suppresses nothing at first', async () => {
    await using kim = await sentToKim()
    await kim.report(bounceMail({ status: '5.2.2', diagnostic: '552 5.2.2 Mailbox full' }))
    expect(await messageOf(kim.w)).toMatchObject({ state: 'bounced', reason: 'soft_bounce' })
    expect(await suppressed(kim.w)).toEqual([])
    expect(await kim.events()).toMatchObject([{ data: { classification: 'mailbox-full', suppressed: false } }])
  })

  test('of a host that gave up after temporary failures suppresses nothing at first', async () => {
    await using kim = await sentToKim()
    await kim.report(bounceMail({ status: '4.4.1', diagnostic: '421 4.4.1 No route to host' }))
    expect(await messageOf(kim.w)).toMatchObject({ state: 'bounced', reason: 'soft_bounce' })
    expect(await kim.events()).toMatchObject([{ data: { classification: 'expired', suppressed: false } }])
  })

  test('that announces a delay is an event, and nothing else', async () => {
    await using kim = await sentToKim()
    await kim.report(bounceMail({ action: 'delayed', status: '4.4.1', diagnostic: '451 4.4.1 Try again' }))
    await nothingChanged(kim.w)
    expect(await kim.events()).toMatchObject([
      { type: 'delivery.dsn-temp-fail', data: { diagnostic: '451 4.4.1 Try again', asynchronous: true } },
    ])
  })

  test('that reports a delivery changes nothing', async () => {
    await using kim = await sentToKim()
    await kim.report(bounceMail({ action: 'delivered', status: '2.1.5', diagnostic: '250 2.1.5 ok' }))
    await nothingChanged(kim.w)
    expect(await kim.events()).toEqual([])
  })

  test('suppresses the address that was written to, whichever the report names', async () => {
    await using kim = await sentToKim()
    await kim.report(bounceMail({ recipient: 'victim@example.com' }))
    expect(await suppressed(kim.w)).toEqual([['kim@example.com', 'hard_bounce']])
  })

  test('of a message of an erased user stores nothing about the user', async () => {
    await using kim = await sentToKim()
    await kim.w.delete('/api/client/users/kim')
    await kim.w.drain()
    await kim.report(bounceMail({ diagnostic: '550 5.1.1 <kim@example.com> unknown' }))
    const stored = await kim.w.db.value(
      Type.Integer(),
      sql`select count(*)::int from messages where project_id = ${kim.w.projectId} and (detail is not null or recipient is not null)`,
    )
    expect(stored).toBe(0)
    expect((await suppressed(kim.w)).map(([address]: [string]) => address)).toEqual([null])
    const events = await kim.events()
    expect(events).toMatchObject([{ type: 'delivery.dsn-perm-fail', data: { message_id: kim.id } }])
    expect(JSON.stringify(events)).not.toContain('kim@')
  })

  test.each<[string, (messageId: string) => Buffer]>([
    ['one that names the user', (messageId) => bounceMail({ returned: [`Message-ID: ${messageId}`] })],
    [
      'a complaint that names the user',
      (messageId) =>
        complaintMail(
          'abuse',
          ['Original-Rcpt-To: kim@example.com', 'Reported-Uri: https://shop.example.com/?for=kim@example.com'],
          [`Message-ID: ${messageId}`],
        ),
    ],
  ])('after the erasure is a webhook event without the address, as is %s', async (_, made) => {
    await using kim = await sentToKim()
    await kim.w.delete('/api/client/users/kim')
    await kim.w.drain()
    await kim.report(made(kim.messageId), REPORTS)
    const events = await kim.events()
    expect(events).toMatchObject([{ data: { message_id: kim.id } }])
    expect(JSON.stringify(events)).not.toContain('kim@')
  })

  test('of a message that was never sent changes nothing', async () => {
    await using kim = await sentToKim()
    await kim.w.db.run(sql`update messages set state = 'skipped', recipient = null where project_id = ${kim.w.projectId}`)
    await kim.report(bounceMail({}))
    expect(await messageOf(kim.w)).toMatchObject({ state: 'skipped' })
    expect(await suppressed(kim.w)).toEqual([])
    expect(await kim.events()).toEqual([])
  })
})

describe('a bounce of an email with a copy', () => {
  const BOSS = 'boss@example.net'
  const subscribed = async (w: World) => JSON.stringify((await w.get('/api/client/users/kim/subscriptions')).body)

  test.each<[string, string | undefined]>([
    ['the copy', BOSS],
    ['another address', 'victim@example.org'],
  ])('that has its Message-ID alone and names %s is an event, and suppresses nobody', async (_, recipient) => {
    await using kim = await sentToKim({}, BOSS)
    await kim.report(bounceMail({ ...(recipient && { recipient }), returned: [`Message-ID: ${kim.messageId}`] }), REPORTS)
    await nothingChanged(kim.w)
    expect(await kim.events()).toMatchObject([
      { type: 'delivery.dsn-perm-fail', data: { message_id: kim.id, to: recipient, suppressed: false, asynchronous: true } },
    ])
  })

  test('of a relay that names the copy suppresses nobody', async () => {
    await using kim = await sentToKim({}, BOSS)
    await kim.report(bounceMail({ recipient: 'Boss@example.net' }))
    await nothingChanged(kim.w)
    expect(await kim.events()).toMatchObject([{ data: { to: 'boss@example.net', suppressed: false } }])
  })

  test('that names the recipient beside the copy is of the recipient, as it says of that one', async () => {
    await using kim = await sentToKim({}, BOSS)
    const copy = ['Final-Recipient: rfc822; boss@example.net', 'Action: failed', 'Status: 5.1.1', '']
    const full = { status: '5.2.2', diagnostic: '552 5.2.2 Mailbox full' }
    await kim.report(bounceMail({ ...full, recipient: 'forward@example.org', original: 'KIM@example.com', more: copy }))
    expect(await messageOf(kim.w)).toMatchObject({ state: 'bounced', reason: 'soft_bounce' })
    expect(await suppressed(kim.w)).toEqual([])
  })

  test('that has its Message-ID alone suppresses the recipient that it names', async () => {
    await using kim = await sentToKim({}, BOSS)
    await kim.report(bounceMail({ returned: [`Message-ID: ${kim.messageId}`] }), REPORTS)
    expect(await suppressed(kim.w)).toEqual([['kim@example.com', 'hard_bounce']])
  })

  test('is a complaint that names the copy, which ends no subscription', async () => {
    await using kim = await sentToKim({}, BOSS)
    await kim.report(complaintMail('abuse', [`Original-Rcpt-To: ${BOSS}`], [`Message-ID: ${kim.messageId}`]), REPORTS)
    await nothingChanged(kim.w)
    expect(await subscribed(kim.w)).not.toContain('"complaint"')
  })
})

describe('what is no bounce of this server', () => {
  test('is refused at an address with another signature', async () => {
    await using kim = await sentToKim()
    const forged = kim.returnPath().replace(/(.)@/, (_, last) => `${last === 'a' ? 'b' : 'a'}@`)
    expect((await kim.report(bounceMail({}), forged)).to).toMatch(/^550 5\.1\.1 /)
    await nothingChanged(kim.w)
  })

  test.each([
    [
      'a forged return path',
      (path: string, id: string) => [`Return-Path: <${path.replace(/.@/, '2@')}>`, `Message-ID: ${id.replace('<', '<x')}`],
    ],
    ['no reference', () => ['Subject: Hello']],
    ['the Message-ID of another message', () => ['Message-ID: <other@example.com>']],
  ])('changes nothing if it has %s', async (_, returned) => {
    await using kim = await sentToKim()
    const headers = returned(kim.returnPath(), kim.messageId)
    expect((await kim.report(bounceMail({ returned: headers }), REPORTS)).content).toBe('250 2.0.0 received')
    expect((await kim.report(complaintMail('abuse', [], headers), REPORTS)).content).toBe('250 2.0.0 received')
    await nothingChanged(kim.w)
    expect(await kim.events()).toEqual([])
  })

  test('changes nothing if its Message-ID is one that this server did not make', async () => {
    await using kim = await sentToKim()
    await kim.w.db.run(sql`update messages set provider_message_id = '<guessed@example.com>' where project_id = ${kim.w.projectId}`)
    await kim.report(complaintMail('abuse', [], ['Message-ID: <guessed@example.com>']), REPORTS)
    await nothingChanged(kim.w)
  })

  test.each(['kim@example.com', 'postmaster@example.com', '@relay.example.com:kim@example.com', 'kim%example.com@reports.example.com'])(
    'is not passed on to %s',
    async (to) => {
      await using kim = await sentToKim()
      const replies = await smtpTalk(kim.port, ['EHLO mx', 'MAIL FROM:<>', `RCPT TO:<${to}>`, 'DATA'])
      expect(replies[2]).toMatch(/^550 5\.1\.1 /)
      expect(replies[3]).toMatch(/^503 /)
    },
  )

  test('is accepted, and changes nothing, if its Message-ID has U+0000', async () => {
    await using kim = await sentToKim()
    const returned = Buffer.from('Message-ID: <a\0b@example.com>\r\n').toString('base64')
    const encoded = `Content-Type: text/rfc822-headers\r\nContent-Transfer-Encoding: base64\r\n\r\n${returned}`
    const report = String(bounceMail({ returned: ['X'] })).replace('Content-Type: text/rfc822-headers\r\n\r\nX', encoded)
    expect((await kim.report(Buffer.from(report), REPORTS)).content).toBe('250 2.0.0 received')
    await nothingChanged(kim.w)
  })

  test('is an automatic reply, which changes nothing', async () => {
    await using kim = await sentToKim()
    const reply = 'From: kim@example.com\r\nSubject: Away\r\nAuto-Submitted: auto-replied\r\n\r\nBack on Monday. 550 5.1.1\r\n'
    expect((await kim.report(Buffer.from(reply))).content).toBe('250 2.0.0 received')
    await nothingChanged(kim.w)
  })
})

describe('a complaint', () => {
  test('is found by its Message-ID alone, suppresses the address and unsubscribes the user', async () => {
    await using kim = await sentToKim()
    const fields = [
      'Original-Rcpt-To: redacted',
      'Source-IP: 192.0.2.10',
      'Reporting-MTA: dns; fbl.example.org',
      'Reported-Domain: example.com',
    ]
    await kim.report(complaintMail('abuse', fields, [`Message-ID: ${kim.messageId}`]), REPORTS)
    expect(await messageOf(kim.w)).toMatchObject({ state: 'complained' })
    expect(await suppressed(kim.w)).toEqual([['kim@example.com', 'complaint']])
    const states = (await kim.w.get('/api/client/users/kim/subscriptions')).body
    expect(JSON.stringify(states)).toContain('"complaint"')
    expect(await kim.events()).toMatchObject([
      {
        type: 'incoming-report.abuse-report',
        data: {
          message_id: kim.id,
          incidents: 1,
          reporter: 'fbl.example.org',
          source_ip: '192.0.2.10',
          reported_domain: ['example.com'],
          user_agent: 'Test/1',
          suppressed: true,
          unsubscribed: true,
        },
      },
    ])
  })

  test.each([
    ['fraud', true],
    ['virus', false],
  ])('of type %s is an event; that it suppresses the address is %s', async (type, isSuppressed) => {
    await using kim = await sentToKim()
    await kim.report(complaintMail(type))
    expect(await messageOf(kim.w)).toMatchObject({ state: 'sent' })
    expect(await suppressed(kim.w)).toEqual(isSuppressed ? [['kim@example.com', 'complaint']] : [])
    expect(await kim.events()).toMatchObject([
      {
        type: `incoming-report.${type}-report`,
        data: { message_id: kim.id, to: 'kim@example.com', suppressed: isSuppressed, unsubscribed: false },
      },
    ])
  })

  test.each<[string, string[], string]>([
    ['hides its recipient is of the user', [], 'user'],
    ['names the copy is of the copy', ['Original-Rcpt-To: archive@both.example.org'], 'archive'],
    ['names another address is of the user, whose mailbox forwards', ['Original-Rcpt-To: forward@example.net'], 'user'],
  ])('about an email that had a copy at the same domain, and %s', async (_, fields, whose) => {
    await using w = await mailWorld({ INBOUND_PORT: '0' })
    await using listeners = await openMailListeners(w.ctx, authenticator.authenticate)
    w.internet.domain('both.example.org', 'mx.both.example.org')
    const template = { from: 'Shop <shop@example.com>', subject: 'Thanks', html: '<p>Thanks</p>', bcc: 'archive@both.example.org' }
    expect((await w.put(`/api/client/campaigns/${w.campaign.id}/templates/en`, template)).status).toBe(200)
    const user = await w.mailTo('both.example.org')
    await w.events()
    const returnPath = w.internet.mx.hosts.get('mx.both.example.org')?.mails[0]?.from ?? ''
    await smtpSend(listeners.ports.INBOUND_PORT ?? 0, returnPath, complaintMail('abuse', fields))
    const to = whose === 'user' ? user : 'archive@both.example.org'
    expect(await suppressed(w)).toEqual([[to, 'complaint']])
    expect(await w.events()).toMatchObject([{ type: 'incoming-report.abuse-report', data: { to, unsubscribed: whose === 'user' } }])
  })

  test.each(['not-spam', 'auth-failure'])('is not what has the type %s', async (type) => {
    await using kim = await sentToKim()
    await kim.report(complaintMail(type))
    await nothingChanged(kim.w)
    expect(await kim.events()).toEqual([])
  })
})

test('without a port, nothing listens', async () => {
  await using w = await world()
  await using listeners = await openMailListeners(w.ctx, authenticator.authenticate)
  expect(listeners.ports).toEqual({})
})
