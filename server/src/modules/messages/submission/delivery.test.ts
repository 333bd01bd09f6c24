/** Submitted email that the server delivers itself: to the mail hosts of its recipients, with what they report later. */
import { Resolver } from 'node:dns/promises'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { createTransport, type SendMailOptions } from 'nodemailer'
import { Type } from 'typebox'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type MailWorld, mailWorld, typesOf } from '../../../../test/mail-queue.ts'
import { bounceMail, complaintMail, smtpSend, smtpTalk } from '../../../../test/reports.ts'
import { authenticator } from '../../../authenticator.ts'
import { sql } from '../../../infra/postgres/db.ts'
import { bodyHashOf } from '../../../lib/dkim/canonical.ts'
import type { KeyId } from '../../../lib/ids.ts'
import { openMailListeners } from '../../../mail-listeners.ts'
import { verifyDomain } from '../../domains/verify.ts'
import { inProject } from '../../projects/index.ts'
import { submitMail } from './submit.ts'

const SENDER = 'shop.example.com'
const REPORTS = 'fbl@reports.example.com'
const CLOSING = new AsyncDisposableStack()
let w: MailWorld
let submission = 0
let inbound = 0
let domain = ''
let domains = 0

const resolver = () => {
  const resolver = new Resolver({ timeout: 1000, tries: 2 })
  resolver.setServers([w.internet.dns.server])
  return resolver
}

/** The complaints that are counted for sites. */
const complaints = async (): Promise<number> => {
  const { sites } = (await w.get('/api/client/mail-site-days')).body as { sites: { days: { complained: number }[] }[] }
  return sites.flatMap(({ days }) => days).reduce((sum, { complained }) => sum + complained, 0)
}

type Published = { type: string; name: string; value: string }

beforeAll(async () => {
  w = CLOSING.use(await mailWorld({ SUBMISSION_PORT: '0', INBOUND_PORT: '0', REPORT_ADDRESSES: REPORTS }))
  const { ports } = CLOSING.use(await openMailListeners(w.ctx, authenticator.authenticate))
  submission = ports.SUBMISSION_PORT ?? 0
  inbound = ports.INBOUND_PORT ?? 0
  const { id, records } = (await w.post('/api/client/domains', { sending_domain: SENDER })).body
  for (const { type, name, value } of records as Published[]) {
    if (type === 'TXT') w.internet.dns.set(name, { txt: [[value.slice(0, 200), value.slice(200)]] })
    if (type === 'MX') w.internet.dns.set(name, { mx: [[10, value.replace('10 ', '')]] })
  }
  expect((await verifyDomain(w.ctx, id, resolver())).sending?.is_verified).toBe(true)
})
afterAll(() => CLOSING.disposeAsync())

beforeEach(async () => {
  domain = `d${++domains}.example.org`
  w.internet.domain(domain, `mx.${domain}`)
  await w.events()
})

const send = (more: SendMailOptions = {}, key = w.keys.smtpproxy) =>
  createTransport({ host: '127.0.0.1', port: submission, auth: { user: 'any', pass: key }, tls: { rejectUnauthorized: false } }).sendMail({
    from: `Shop <hello@${SENDER}>`,
    to: `kim@${domain}`,
    subject: 'Receipt',
    text: 'Thanks',
    ...more,
  })

const mailsAt = (host: string) => w.internet.mx.hosts.get(host)?.mails ?? []
const suppressed = async () => {
  const rows = (await w.get('/api/client/suppressions?limit=100')).body.results as { address: string; reason: string }[]
  return rows.filter(({ address }) => address.endsWith(domain)).map(({ address, reason }) => [address, reason])
}
const queued = async (key = w.keys.smtpproxy, state = 'delivered') => {
  const reply = await w.get(`/api/client/mail-queue?domain=${domain}&state=${state}`, { key })
  expect(reply.status, reply.text).toBe(200)
  const rows = reply.body.results
  return (rows as { recipient: string; state: string; source: string }[]).map(({ recipient, source }) => [recipient, source])
}

/** Submits an email to kim, delivers it, and returns the address that bounces go to. */
async function delivered(more: SendMailOptions = {}): Promise<string> {
  await send(more)
  await w.events()
  return mailsAt(`mx.${domain}`)[0]?.from ?? ''
}

describe('a submitted email', () => {
  test('is signed and delivered, and its key reads what became of it', async () => {
    const { response } = await send({ bcc: `lee@${domain}` })
    const id = Number(/queued as (\d+)/.exec(response)?.[1])
    const events = await w.events()
    expect(typesOf(events)).toEqual(['attempt-start', 'delivered', 'delivered', 'completed', 'attempt-end'])
    expect(events[1]?.data).toMatchObject({ message_id: id, channel: 'email', from: `hello@${SENDER}`, to: `kim@${domain}` })
    const [mail] = mailsAt(`mx.${domain}`)
    expect(mail).toMatchObject({
      from: expect.stringMatching(new RegExp(`^b\\.[0-9a-z.-]+@bounce\\.${SENDER}$`)),
      to: [`kim@${domain}`, `lee@${domain}`],
    })
    expect(String(mail?.content)).not.toContain('lee@')
    const { results } = await dkimVerify(mail?.content ?? '', {
      resolver: ((name: string) => resolver().resolveTxt(name)) as never,
      curTime: w.clock.now(),
    })
    expect(results.map(({ status }) => status.result)).toEqual(['pass', 'pass'])
    const recipients = [
      [`lee@${domain}`, 'submission'],
      [`kim@${domain}`, 'submission'],
    ]
    expect(await queued()).toEqual(recipients)
    expect(await queued(w.keys.secret)).toEqual(recipients)
  })

  test('is stored deflated; one that was stored as it is, by an earlier release, is delivered too', async () => {
    const text = 'Thanks for the order. '.repeat(500)
    await send({ text })
    const Stored = Type.Object({ id: Type.Integer(), stored: Type.Integer(), size: Type.Integer(), is_deflated: Type.Boolean() })
    const stored = sql`select m.id, octet_length(content) as stored, m.size, is_deflated from mail_messages m
                       join mail_recipients r on r.project_id = m.project_id and r.mail_id = m.id
                       where m.project_id = ${w.projectId} and r.domain = ${domain} order by m.id desc limit 1`
    const first = await w.db.one(Stored, stored)
    expect([first.is_deflated, first.stored < first.size / 5]).toEqual([true, true])
    await w.events()
    const [mail] = mailsAt(`mx.${domain}`)
    expect(mail?.content).toHaveLength(first.size)

    await send({ text })
    const second = await w.db.one(Stored, stored)
    await w.db.run(
      sql`update mail_messages set is_deflated = false, content = ${mail?.content ?? null}::bytea where project_id = ${w.projectId} and id = ${second.id}`,
    )
    await w.events()
    expect(mailsAt(`mx.${domain}`)[1]?.content.equals(mail?.content as Buffer)).toBe(true)
  })

  test('asks the mail host for the reports that its client asks for, and its events have the id that the client gave it', async () => {
    const { response } = await send({
      envelope: { from: `hello@${SENDER}`, to: `kim@${domain}` },
      dsn: { id: 'order 7', return: 'full', notify: ['success', 'delay'], recipient: `rfc822;old+kim@${domain}` },
    } as SendMailOptions)
    expect(response).toMatch(/^250 /)
    const events = await w.events()
    expect(events.map(({ data }) => data.envelope_id)).toEqual(events.map(() => 'order 7'))
    const [mail] = mailsAt(`mx.${domain}`)
    expect(mail?.parameters).toEqual({
      mail: expect.stringMatching(/ RET=FULL ENVID=b\.[0-9a-z.-]+$/),
      rcpt: [`NOTIFY=SUCCESS,FAILURE,DELAY ORCPT=rfc822;old+2Bkim@${domain}`],
    })
    await smtpSend(inbound, mail?.from ?? '', bounceMail({}))
    expect(await w.events()).toMatchObject([{ type: 'delivery.dsn-perm-fail', data: { envelope_id: 'order 7' } }])
  })

  test('of another key is not shown to a key that submits', async () => {
    await send({}, w.keys.secret)
    await w.events()
    expect(await queued()).toEqual([])
  })

  test('is refused from a domain that is not verified', async () => {
    await expect(send({ from: 'hello@other.example.net' })).rejects.toMatchObject({
      response: expect.stringMatching(/^550 5\.7\.1 other\.example\.net /),
    })
  })

  test('is not delivered to a suppressed recipient, which is told', async () => {
    await w.post('/api/client/suppressions', [{ channel: 'email', address: `kim@${domain}` }])
    await send({ to: [`kim@${domain}`, `lee@${domain}`] })
    const events = await w.events()
    const failed = events.filter(({ type }) => type === 'delivery.dsn-perm-fail')
    expect(failed).toMatchObject([{ data: { to: `kim@${domain}`, classification: 'suppressed' } }])
    expect(mailsAt(`mx.${domain}`).map(({ to }) => to)).toEqual([[`lee@${domain}`]])
  })
})

describe('a large submitted email', () => {
  /** White space takes the longest to hash. */
  const body = 'a\t'.repeat(3_000_000)

  /** The processor time of the main thread alone: the event loop cannot do anything else in it. */
  async function mainThreadTime(work: () => unknown): Promise<number> {
    const began = process.threadCpuUsage()
    await work()
    const { user, system } = process.threadCpuUsage(began)
    return user + system
  }

  const leastOf = async (work: () => unknown) => {
    const times: number[] = []
    for (let at = 0; at < 5; at++) times.push(await mainThreadTime(work))
    return Math.min(...times)
  }

  test('takes the event loop less time than hashing a copy of it', async () => {
    const content = Buffer.from(`From: hello@${SENDER}\r\n\r\n${body}\r\n`)
    const envelope = { from: '', recipients: [{ address: `kim@${domain}` }], is8Bit: false, isUtf8: false, ret: null, envid: null }
    const submitted = await leastOf(() =>
      inProject(w.ctx, w.projectId, async (ctx) => {
        expect(await submitMail(ctx, 1 as KeyId, { ...envelope, content })).toEqual(expect.any(Number))
      }),
    )
    expect(submitted).toBeLessThan(await leastOf(() => bodyHashOf(Buffer.concat([content]))))
    expect((await w.post('/api/client/mail-queue/cancel', { domain })).status).toBe(200)
  })

  test('is signed', async () => {
    await send({ text: 'Thanks for the order. \r\n'.repeat(10_000) })
    await w.events()
    const { results } = await dkimVerify(mailsAt(`mx.${domain}`)[0]?.content ?? '', {
      resolver: ((name: string) => resolver().resolveTxt(name)) as never,
      curTime: w.clock.now(),
    })
    expect(results.map(({ status }) => status.result)).toEqual(['pass', 'pass'])
  })
})

describe('a report on a submitted email', () => {
  test('that the address is invalid suppresses it, once', async () => {
    const to = await delivered()
    for (let at = 0; at < 2; at++)
      expect((await smtpSend(inbound, to, bounceMail({ recipient: 'victim@example.com' }))).content).toBe('250 2.0.0 received')
    expect(await suppressed()).toEqual([[`kim@${domain}`, 'hard_bounce']])
    expect(await w.events()).toMatchObject([
      {
        type: 'delivery.dsn-perm-fail',
        data: {
          to: `kim@${domain}`,
          from: `hello@${SENDER}`,
          classification: 'invalid-recipient',
          smtp_code: 550,
          suppressed: true,
          asynchronous: true,
        },
      },
    ])
    expect(await queued(w.keys.smtpproxy, 'failed')).toEqual([[`kim@${domain}`, 'submission']])
  })

  test('is matched by the envelope id that the host returns, wherever the report comes to', async () => {
    await delivered()
    const envelopeId = /ENVID=(\S+)/.exec(mailsAt(`mx.${domain}`)[0]?.parameters.mail ?? '')?.[1] ?? ''
    await smtpSend(inbound, REPORTS, bounceMail({ envelopeId: `${envelopeId}x` }))
    expect(await suppressed()).toEqual([])
    await smtpSend(inbound, REPORTS, bounceMail({ envelopeId }))
    expect(await suppressed()).toEqual([[`kim@${domain}`, 'hard_bounce']])
  })

  test('of several recipients of a domain concerns the one that it names, and none if it names another', async () => {
    const to = await delivered({ to: [`kim@${domain}`, `lee@${domain}`] })
    await smtpSend(inbound, to, bounceMail({ recipient: 'victim@example.com' }))
    expect(await suppressed()).toEqual([])
    await smtpSend(inbound, to, bounceMail({ recipient: `LEE@${domain}` }))
    expect(await suppressed()).toEqual([[`lee@${domain}`, 'hard_bounce']])
  })

  test('of several recipients concerns each that it names, as it says of each, once', async () => {
    const to = await delivered({ to: ['kim', 'lee', 'max', 'bo'].map((name) => `${name}@${domain}`) })
    const more = [
      ...[`Final-Recipient: rfc822; max@${domain}`, 'Action: delayed', 'Status: 4.2.2', 'Diagnostic-Code: smtp; 452 4.2.2 Full', ''],
      ...[`Final-Recipient: rfc822; bo@${domain}`, 'Action: relayed', 'Status: 2.0.0', ''],
      ...[`Final-Recipient: rfc822; lee@${domain}`, 'Action: failed', 'Status: 5.2.1', 'Diagnostic-Code: smtp; 550 5.2.1 Disabled', ''],
    ]
    for (let at = 0; at < 2; at++) await smtpSend(inbound, to, bounceMail({ recipient: `kim@${domain}`, more }))
    expect((await suppressed()).sort()).toEqual(['kim', 'lee'].map((name) => [`${name}@${domain}`, 'hard_bounce']))
    const events = (await w.events()).map(({ type, data: { to, enhanced_code, diagnostic } }) => [type, to, enhanced_code ?? diagnostic])
    const delay = ['delivery.dsn-temp-fail', `max@${domain}`, '452 4.2.2 Full']
    expect(events.sort()).toEqual([
      ['delivery.dsn-perm-fail', `kim@${domain}`, '5.1.1'],
      ['delivery.dsn-perm-fail', `lee@${domain}`, '5.2.1'],
      ...[delay, delay],
    ])
    expect((await queued(w.keys.smtpproxy, 'failed')).map(([to]) => to).sort()).toEqual([`kim@${domain}`, `lee@${domain}`])
  })

  test.each([
    ['by the address that its client gave', { original: 'OLD-LEE@example.net', recipient: 'forwarded@example.net' }],
    ['by the address that it was delivered to', { original: 'other@example.net', recipient: 'lee@' }],
    ['by the address that its client gave, whatever other recipient it ended at', { original: 'old-lee@example.net', recipient: 'kim@' }],
  ])('of several recipients finds its own %s', async (_, names) => {
    const to = ['kim', 'lee'].map((name) => `RCPT TO:<${name}@${domain}> ORCPT=rfc822;old-${name}@example.net`)
    const login = Buffer.from(`\0any\0${w.keys.smtpproxy}`).toString('base64')
    const mail = ['From: hello@shop.example.com', 'Subject: Receipt', '', 'Thanks', '.'].join('\r\n')
    const replies = await smtpTalk(submission, [
      'EHLO app',
      `AUTH PLAIN ${login}`,
      'MAIL FROM:<hello@shop.example.com>',
      ...to,
      'DATA',
      mail,
    ])
    expect(replies.at(-2)).toMatch(/^250 /)
    await w.events()
    const recipient = names.recipient.replace(/@$/, `@${domain}`)
    await smtpSend(inbound, mailsAt(`mx.${domain}`)[0]?.from ?? '', bounceMail({ ...names, recipient }))
    expect(await suppressed()).toEqual([[`lee@${domain}`, 'hard_bounce']])
  })

  test('of a full mailbox suppresses the address at the fifth', async () => {
    for (let at = 0; at < 5; at++) {
      expect(await suppressed()).toEqual([])
      await send()
      await w.events()
      const to = mailsAt(`mx.${domain}`)[at]?.from ?? ''
      await smtpSend(inbound, to, bounceMail({ status: '5.2.2', diagnostic: '552 5.2.2 Mailbox full' }))
    }
    expect(await suppressed()).toEqual([[`kim@${domain}`, 'hard_bounce']])
  })

  test.each([
    ['abuse', true],
    ['fraud', true],
    ['virus', false],
  ])('that is a complaint of type %s has its event; that it suppresses is %s', async (type, isSuppressed) => {
    const to = await delivered()
    const before = await complaints()
    await smtpSend(inbound, to, complaintMail(type))
    expect((await complaints()) - before).toBe(isSuppressed ? 1 : 0)
    expect(await suppressed()).toEqual(isSuppressed ? [[`kim@${domain}`, 'complaint']] : [])
    expect(await w.events()).toMatchObject([
      { type: `incoming-report.${type}-report`, data: { to: `kim@${domain}`, suppressed: isSuppressed, unsubscribed: false } },
    ])
  })

  test('that announces a delay is an event', async () => {
    const to = await delivered()
    await smtpSend(inbound, to, bounceMail({ action: 'delayed', status: '4.2.2', diagnostic: '452 4.2.2 Full' }))
    expect(await w.events()).toMatchObject([{ type: 'delivery.dsn-temp-fail', data: { to: `kim@${domain}`, asynchronous: true } }])
    expect(await queued()).toEqual([[`kim@${domain}`, 'submission']])
  })
})

describe('the user with the address of a submitted email', () => {
  test('has it in the export, and an erasure removes the user from it, and its content when no other recipient waits', async () => {
    w.internet.host(`mx.busy-${domain}`, { script: { RCPT: '451 4.2.1 Later' } })
    w.internet.domain(domain, `mx.busy-${domain}`)
    await w.post('/api/client/users/batch', [{ external_id: 'kim', email: `kim@${domain}` }])
    await send({ to: `Kim@${domain}`, dsn: { id: 'x', return: 'headers', notify: 'failure', recipient: `rfc822;old-kim@${domain}` } })
    await send({ to: [`kim@${domain}`, `lee@${domain}`] })
    await w.events()
    const { emails } = (await w.get('/api/client/users/kim/export')).body
    expect(emails).toMatchObject([
      { recipient: `Kim@${domain}`, from: `hello@${SENDER}`, state: 'queued', attempts: [{ outcome: 'deferred' }] },
      { recipient: `kim@${domain}`, state: 'queued' },
    ])
    await w.delete('/api/client/users/kim')
    w.advance('1 minute')
    await w.drain()
    const rows = await w.db.many(
      Type.Object({ address: Type.String(), original_recipient: Type.Null(), state: Type.String(), is_kept: Type.Boolean() }),
      sql`select r.address, r.original_recipient, r.state, m.content is not null as is_kept from mail_recipients r
          join mail_messages m on m.project_id = r.project_id and m.id = r.mail_id
          where r.project_id = ${w.projectId} and r.domain = ${domain} order by r.mail_id, r.no`,
    )
    expect(rows).toEqual([
      { address: '', original_recipient: null, state: 'cancelled', is_kept: false },
      { address: '', original_recipient: null, state: 'cancelled', is_kept: true },
      { address: `lee@${domain}`, original_recipient: null, state: 'queued', is_kept: true },
    ])
  })

  test('gets what is submitted after the user has signed up again, also before the erasure is done', async () => {
    const kim = { external_id: `kim-${domain}`, email: `kim@${domain}` }
    await w.post('/api/client/users/batch', [kim])
    await send({ subject: 'Before' })
    await w.delete(`/api/client/users/${kim.external_id}`)
    w.advance('1 second')
    await w.post('/api/client/users/batch', [kim])
    await send({ subject: 'After' })
    await w.events()
    expect(mailsAt(`mx.${domain}`).map(({ content }) => /^Subject: (.*)$/m.exec(String(content))?.[1]?.trim())).toContain('After')
    expect(await queued()).toContainEqual([`kim@${domain}`, 'submission'])
  })
})
