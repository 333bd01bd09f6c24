/** Email that applications submit over SMTP, with nodemailer as a foreign client and by hand. */
import { execFile } from 'node:child_process'
import { createTransport, type SendMailOptions } from 'nodemailer'
import { describe, expect, test, vi } from 'vitest'
import { authenticator } from '../../src/authenticator.ts'
import { openMailListeners } from '../../src/mail-listeners.ts'
import { smtpTalk } from '../reports.ts'
import { SOON } from '../wait.ts'
import { type World, world } from '../world.ts'

/** A world with a port for submission. The project has no provider, so that the sandbox keeps what is submitted. */
async function submitting(env: Record<string, string> = {}) {
  const closing = new AsyncDisposableStack()
  const w = closing.use(await world({ env: { SUBMISSION_PORT: '0', ...env } }))
  const { ports } = closing.use(await openMailListeners(w.ctx, authenticator.authenticate))
  const port = ports.SUBMISSION_PORT ?? 0
  return { w, port, ports, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

const MAIL: SendMailOptions = {
  from: 'Shop <shop@example.com>',
  to: 'kim@example.com',
  subject: 'Your receipt',
  text: 'Thanks',
  html: '<p>Thanks</p>',
}

const send = (port: number, pass: string, mail: SendMailOptions = MAIL, options: object = {}) =>
  createTransport({ host: '127.0.0.1', port, auth: { user: 'any', pass }, tls: { rejectUnauthorized: false }, ...options }).sendMail(mail)

const loggedIn = (key: string) => ['EHLO client', `AUTH PLAIN ${Buffer.from(`\0any\0${key}`).toString('base64')}`]

/** The reply to the last line, after a login. */
async function lastReply(port: number, key: string, lines: string[]): Promise<string> {
  const replies = await smtpTalk(port, [...loggedIn(key), ...lines])
  return replies[lines.length + 1] ?? ''
}

const ENVELOPE = ['MAIL FROM:<shop@example.com>', 'RCPT TO:<kim@example.com>', 'DATA']
const sandbox = async (w: World) => (await w.get('/api/client/sandbox/messages')).body.results as { id: number; recipient: string }[]

describe('a submitted email', () => {
  test('leaves the sandbox when a user with the address of a recipient is erased', async () => {
    await using app = await submitting()
    await app.w.post('/api/client/users/batch', [{ external_id: 'kim', email: 'kim@example.com' }])
    await send(app.port, app.w.keys.smtpproxy, { ...MAIL, to: ['Kim@Example.com', 'lee@example.com'] })
    await send(app.port, app.w.keys.smtpproxy, { ...MAIL, to: 'lee@example.com' })
    await app.w.delete('/api/client/users/kim')
    app.w.advance('1 minute')
    await app.w.drain()
    expect((await sandbox(app.w)).map(({ recipient }) => recipient)).toEqual(['lee@example.com'])
  })

  test('is in the export of the users with the addresses of its recipients, without the other recipients', async () => {
    await using app = await submitting()
    const { w } = app
    await w.post('/api/client/users/batch', [
      { anonymous_id: 'v1', email: 'Old@example.com' },
      { external_id: 'kim', email: 'kim@example.com' },
      { external_id: 'kim', anonymous_id: 'v1' },
    ])
    await send(app.port, w.keys.smtpproxy, { ...MAIL, to: ['Kim@Example.com', 'lee@example.com'] })
    await send(app.port, w.keys.smtpproxy, { ...MAIL, to: ['kim@example.com', 'old@example.com'] })
    await send(app.port, w.keys.smtpproxy, { ...MAIL, to: 'lee@example.com' })
    const { body, text } = await w.get('/api/client/users/kim/export')
    expect(body.sandbox_messages).toMatchObject([
      {
        recipient: 'Kim@example.com',
        summary: 'Your receipt',
        content: { to: 'Kim@example.com', text: expect.stringContaining('Thanks') },
      },
      { recipient: 'kim@example.com, old@example.com' },
    ])
    expect(text).not.toContain('lee@example.com')
    const receipt = (await w.delete('/api/client/users/kim')).headers.location as string
    await w.drain()
    expect((await w.get(receipt)).body.removed.sandbox_messages).toBe(2)
    expect((await sandbox(w)).map(({ recipient }) => recipient)).toEqual(['lee@example.com'])
  })

  test('is found in the sandbox by whether it has files', async () => {
    await using app = await submitting()
    await send(app.port, app.w.keys.smtpproxy, { ...MAIL, subject: 'Invoice', attachments: [{ filename: 'a.pdf', content: 'a' }] })
    await send(app.port, app.w.keys.smtpproxy)
    const found = async (has: boolean) =>
      (await app.w.get(`/api/client/sandbox/messages?has_attachment=${has}`)).body.results.map(({ summary }: any) => summary)
    expect([await found(true), await found(false)]).toEqual([['Invoice'], ['Your receipt']])
  })

  test('is kept in the sandbox of a project without a provider, as it came', async () => {
    await using app = await submitting()
    const receiver = await app.w.receiver()
    await app.w.post('/api/client/webhooks', { name: 'All', url: receiver.url, event_types: ['queue.queue-message-authenticated'] })
    const { response } = await send(app.port, app.w.keys.smtpproxy, { ...MAIL, bcc: 'lee@example.com' })
    const [message] = await sandbox(app.w)
    expect(response).toBe(`250 2.0.0 queued as ${message?.id}`)
    const { body } = await app.w.get(`/api/client/sandbox/messages/${message?.id}`)
    expect(body).toMatchObject({
      channel: 'email',
      user_id: null,
      campaign_id: null,
      recipient: 'kim@example.com, lee@example.com',
      summary: 'Your receipt',
      content: {
        from: 'shop@example.com',
        subject: 'Your receipt',
        text: expect.stringContaining('Thanks'),
        html: expect.stringContaining('<p>Thanks</p>'),
      },
    })
    expect(body.source).toMatch(/^Subject: Your receipt$/im)
    expect(body.source).not.toMatch(/^Bcc:/im)
    await app.w.drain()
    expect(receiver.requests.map(({ json }) => json)).toMatchObject([
      {
        type: 'queue.queue-message-authenticated',
        data: {
          message_id: message?.id,
          channel: 'email',
          from: 'shop@example.com',
          to: ['kim@example.com', 'lee@example.com'],
          queue_id: String(message?.id),
        },
      },
    ])
  })

  test('is kept in the sandbox also if its encoded text has U+0000', async () => {
    await using app = await submitting()
    const content = 'From: shop@example.com\r\nSubject: =?utf-8?Q?a=00b?=\r\nContent-Transfer-Encoding: base64\r\n\r\nYQBi'
    expect(await lastReply(app.port, app.w.keys.smtpproxy, [...ENVELOPE, `${content}\r\n.`])).toMatch(/^250 /)
    const [message] = await sandbox(app.w)
    const { body } = await app.w.get(`/api/client/sandbox/messages/${message?.id}`)
    expect(body).toMatchObject({ summary: 'a\ufffdb', content: { subject: 'a\ufffdb', text: expect.stringContaining('a\ufffdb') } })
  })

  test('gets a Message-ID and a Date if it has none', async () => {
    await using app = await submitting()
    await lastReply(app.port, app.w.keys.smtpproxy, [...ENVELOPE, 'From: shop@example.com\r\n\r\nx\r\n.'])
    const [message] = await sandbox(app.w)
    const { source } = (await app.w.get(`/api/client/sandbox/messages/${message?.id}`)).body
    expect(source).toMatch(/^Message-ID: <[\w-]{22}@example\.com>\r\nDate: Mon, 23 Nov 2026 09:00:00 \+0000\r\nFrom: /)
  })

  test.each([
    ['no From header', 'Subject: x\r\n\r\nx', /^554 5\.6\.0 /],
    ['two From headers', 'From: a@example.com\r\nFrom: b@example.com\r\n\r\nx', /^554 5\.6\.0 /],
    ['two Message-IDs', 'From: a@example.com\r\nMessage-ID: <a@b>\r\nMessage-ID: <c@d>\r\n\r\nx', /^554 5\.6\.0 /],
    ['no headers', 'x', /^554 5\.6\.0 /],
  ])('with %s is refused', async (_, content, reply) => {
    await using app = await submitting()
    expect(await lastReply(app.port, app.w.keys.smtpproxy, [...ENVELOPE, `${content}\r\n.`])).toMatch(reply)
    expect(await sandbox(app.w)).toEqual([])
  })

  test('is refused if the project sends over another provider', async () => {
    await using app = await submitting()
    await app.w.post('/api/client/providers', { name: 'Discard', kind: 'discard', channel: 'email', settings: {} })
    await expect(send(app.port, app.w.keys.smtpproxy)).rejects.toMatchObject({ response: expect.stringMatching(/^550 5\.7\.1 /) })
  })

  test('may have a thousand recipients and no more', async () => {
    await using app = await submitting()
    const recipients = Array.from({ length: 1001 }, (_, at) => `RCPT TO:<k${at}@example.com>`)
    expect(await lastReply(app.port, app.w.keys.smtpproxy, [ENVELOPE[0] ?? '', ...recipients])).toMatch(/^452 /)
  })

  test('is submitted by smtplib of Python too', async () => {
    await using app = await submitting()
    const script = `
import smtplib, ssl, sys
from email.message import EmailMessage
m = EmailMessage(); m['From'] = 'shop@example.com'; m['To'] = 'kim@example.com'; m['Subject'] = 'Python'; m.set_content('Grüße')
context = ssl._create_unverified_context()
with smtplib.SMTP('127.0.0.1', int(sys.argv[1])) as s:
    s.starttls(context=context); s.login('any', sys.argv[2]); s.send_message(m)
`
    const result = await new Promise<string>((resolve) =>
      execFile('python3', ['-c', script, String(app.port), app.w.keys.smtpproxy], (error, _, err) =>
        resolve(error ? String(error.code) + err : 'sent'),
      ),
    )
    // Python is not on every machine.
    if (result.startsWith('ENOENT')) return
    expect(result).toBe('sent')
    expect(await sandbox(app.w)).toMatchObject([{ recipient: 'kim@example.com', summary: 'Python' }])
  })
})

describe('a login', () => {
  test('is with a key whose stored scope is secret, whatever its prefix', async () => {
    await using app = await submitting()
    const { id, value } = (await app.w.post('/api/client/keys', { name: 'App', scope: 'public', role: 'smtpproxy' })).body
    await app.w.patch(`/api/client/keys/${id}`, { scope: 'secret' })
    await woken(app.w, expect(send(app.port, value)).resolves.toMatchObject({ response: expect.stringMatching(/^250 2\.0\.0 queued/) }))
  })

  test.each(['secret', 'smtpproxy'] as const)('works with the key %s, over TLS from the start too', async (name) => {
    await using app = await submitting({ SUBMISSION_TLS_PORT: '0' })
    await send(app.port, app.w.keys[name], MAIL, { requireTLS: true })
    await send(app.ports.SUBMISSION_TLS_PORT ?? 0, app.w.keys[name], MAIL, { secure: true })
    expect(await sandbox(app.w)).toHaveLength(2)
  })

  test.each(['support', 'editor', 'publisher', 'public', 'organisation'] as const)(
    'is refused with the key %s, after a second',
    async (name) => {
      await using app = await submitting()
      const sending = expect(send(app.port, app.w.keys[name])).rejects.toMatchObject({ response: expect.stringMatching(/^535 5\.7\.8 /) })
      await woken(app.w, sending)
    },
  )

  test('is refused when there were too many that failed', async () => {
    await using app = await submitting({ RATE_AUTH_FAIL_PER_MIN: '1' })
    for (const reply of [/^535 5\.7\.8 /, /^421 4\.7\.0 /])
      await woken(app.w, expect(send(app.port, 'sk_wrong')).rejects.toMatchObject({ response: expect.stringMatching(reply) }))
  })

  test('with an archived key is refused', async () => {
    await using app = await submitting()
    const { body } = await app.w.post('/api/client/keys', { name: 'App', role: 'smtpproxy' })
    await send(app.port, body.value)
    await app.w.delete(`/api/client/keys/${body.id}`)
    await woken(app.w, expect(send(app.port, body.value)).rejects.toMatchObject({ response: expect.stringMatching(/^535 /) }))
  })
})

test.each([
  ['after another email', [...ENVELOPE, 'From: shop@example.com\r\n\r\nx\r\n.'], ENVELOPE.slice(0, 1), 1],
  ['before its content', ENVELOPE, ['From: shop@example.com\r\n\r\nx\r\n.'], 0],
])('an open connection ends when its key is archived: an email that comes %s is not accepted', async (_, before, then, accepted) => {
  await using app = await submitting()
  const { body } = await app.w.post('/api/client/keys', { name: 'App', role: 'smtpproxy' })
  const [next = ''] = then
  const archived = async () => {
    await app.w.delete(`/api/client/keys/${body.id}`)
    return next
  }
  const replies = await smtpTalk(app.port, [...loggedIn(body.value), ...before, archived])
  expect(replies.at(-1)).toMatch(/^421 4\.7\.0 /)
  expect(await sandbox(app.w)).toHaveLength(accepted)
})

/** Moves the clock until something happened: a failed login waits. */
async function woken(w: World, happening: Promise<unknown>): Promise<void> {
  let isOver = false
  const over = happening.finally(() => {
    isOver = true
  })
  const wait = () => {
    w.advance('1 second')
    if (!isOver) throw new Error('It has not happened yet.')
  }
  await vi.waitFor(wait, SOON)
  await over
}

describe('limits', () => {
  test('of a key are answered 450, and end after a second', async () => {
    await using app = await submitting({ RATE_SUBMISSION: '0.1' })
    await send(app.port, app.w.keys.smtpproxy)
    await expect(send(app.port, app.w.keys.smtpproxy)).rejects.toMatchObject({ response: expect.stringMatching(/^450 4\.7\.1 /) })
    await send(app.port, app.w.keys.secret)
    app.w.advance('10 seconds')
    await send(app.port, app.w.keys.smtpproxy)
  })

  test('of a day are answered 452, with one event a minute that counts', async () => {
    await using app = await submitting({ QUOTA_SUBMISSIONS_DAY: '3' })
    const receiver = await app.w.receiver()
    await app.w.post('/api/client/webhooks', { name: 'All', url: receiver.url, event_types: ['queue.quota-exceeded'] })
    const refused = () =>
      expect(send(app.port, app.w.keys.smtpproxy, { ...MAIL, to: ['a@example.com', 'b@example.com'] })).rejects.toMatchObject({
        response: expect.stringMatching(/^452 4\.3\.1 /),
      })
    await send(app.port, app.w.keys.smtpproxy, { ...MAIL, to: ['a@example.com', 'b@example.com'] })
    for (let at = 0; at < 3; at++) await refused()
    app.w.advance('1 minute')
    await refused()
    expect(await sandbox(app.w)).toHaveLength(1)
    // There is room for one recipient.
    await send(app.port, app.w.keys.smtpproxy)
    await app.w.drain()
    const data = receiver.requests.map(({ json }) => (json as { data: object }).data)
    const about = {
      quota: 'submitted-messages-per-day',
      limit: 3,
      used: 2,
      unit: 'messages',
      from: 'shop@example.com',
      to: ['a@example.com', 'b@example.com'],
    }
    expect(data).toMatchObject([
      { ...about, count: 1 },
      { ...about, count: 3 },
    ])
    app.w.advance('1 day')
    await send(app.port, app.w.keys.smtpproxy, { ...MAIL, to: ['a@example.com', 'b@example.com'] })
  })
})

test('nothing is accepted without a login', async () => {
  await using app = await submitting()
  const replies = await smtpTalk(app.port, ['EHLO client', ...ENVELOPE.slice(0, 2)])
  expect(replies[1]).toMatch(/^530 /)
})
