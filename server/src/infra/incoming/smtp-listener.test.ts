import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { connect as connectTls } from 'node:tls'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import { describe, expect, inject, test } from 'vitest'
import { createTestClock } from '../../../test/test-clock.ts'
import { SOON } from '../../../test/wait.ts'
import { issueCertificate, loadOrCreateAuthority } from '../outgoing/dev-authority.ts'
import { systemClock } from '../runtime/clock.ts'
import { createLog } from '../runtime/log.ts'
import { createContentMemory } from './content.ts'
import { openSmtpListener, type ReceivedMail, type SmtpListenerOptions, type SmtpProtocol } from './smtp-listener.ts'

const PASSWORD = 'secret'

/** A listener that accepts what comes, and keeps it. */
async function listening(options: Partial<SmtpListenerOptions<string>> = {}, protocol: Partial<SmtpProtocol<string>> = {}) {
  const authority = await loadOrCreateAuthority(inject('authorityDir'), systemClock.now())
  const mails: ReceivedMail[] = []
  const listener = await openSmtpListener<string>({
    host: '127.0.0.1',
    port: 0,
    name: 'mail.example.com',
    tls: await issueCertificate(authority, ['127.0.0.1'], systemClock.now()),
    bytesMax: 10_000,
    recipientsMax: 3,
    connectionsMax: 10,
    connectionsPerAddressMax: 10,
    memory: createContentMemory(1_000_000),
    clock: systemClock,
    log: createLog('silent'),
    protocol: {
      async checkSender() {
        return undefined
      },
      async checkRecipient() {
        return undefined
      },
      async receive(mail) {
        mails.push(mail)
        return { accepted: `2.0.0 queued as ${mails.length}` }
      },
      ...protocol,
    },
    ...options,
  })
  return { ...listener, mails, ca: authority.cert }
}

/** Sends text as it is, and returns the replies once the connection is closed or a reply matches. */
async function talk(port: number, texts: string[], until: RegExp): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let heard = ''
  socket.setEncoding('latin1').on('data', (text: string) => {
    heard += text
    const next = texts.length > 0 && heard.endsWith('\r\n') ? texts.shift() : undefined
    if (next !== undefined) socket.write(next, 'latin1')
    else if (texts.length === 0 && until.test(heard)) socket.destroy()
  })
  socket.on('error', () => undefined)
  await once(socket, 'close')
  return heard
}

const ENVELOPE = ['EHLO client\r\n', 'MAIL FROM:<a@example.com>\r\n', 'RCPT TO:<b@example.org>\r\n', 'DATA\r\n']

describe('an email over SMTP', () => {
  test('is received with its envelope and its parameters', async () => {
    await using server = await listening()
    const heard = await talk(
      server.port,
      [
        'EHLO client\r\n',
        'MAIL FROM:<a@example.com> SIZE=100 BODY=8BITMIME SMTPUTF8 RET=HDRS ENVID=Q+2B1\r\n',
        'RCPT TO:<k\xc3\xa4the@xn--mnchen-3ya.example> NOTIFY=FAILURE,DELAY ORCPT=rfc822;b@example.org\r\n',
        'DATA\r\n',
        'Subject: x\r\n\r\n..dot\r\n.\r\n',
      ],
      /queued/,
    )
    expect(heard).toContain('250 2.0.0 queued as 1')
    expect(server.mails).toEqual([
      {
        from: 'a@example.com',
        recipients: [{ address: 'käthe@xn--mnchen-3ya.example', notify: ['FAILURE', 'DELAY'], orcpt: 'rfc822;b@example.org' }],
        content: Buffer.from('Subject: x\r\n\r\n.dot\r\n'),
        is8Bit: true,
        isUtf8: true,
        ret: 'HDRS',
        envid: 'Q+1',
      },
    ])
  })

  test('may be pipelined, and is answered command by command', async () => {
    await using server = await listening()
    const heard = await talk(
      server.port,
      ['EHLO client\r\n', `${ENVELOPE.slice(1).join('')}`, 'Subject: x\r\n\r\nx\r\n.\r\nQUIT\r\n'],
      /221/,
    )
    expect(heard).toMatch(/PIPELINING[\s\S]*250 .*\r\n250 .*\r\n354 .*\r\n250 2\.0\.0 queued as 1\r\n221/)
  })

  test.each([
    ['announced', ['EHLO client\r\n', 'MAIL FROM:<a@example.com> SIZE=10001\r\n']],
    ['sent', [...ENVELOPE, `${'x'.repeat(10_001)}\r\n.\r\n`]],
  ])('that is too large is refused when it is %s', async (_, texts) => {
    await using server = await listening()
    expect(await talk(server.port, texts, /^552 /m)).toMatch(/^552 5\.3\.4 /m)
    expect(server.mails).toEqual([])
  })

  test('has a highest number of recipients', async () => {
    await using server = await listening()
    const recipients = [1, 2, 3, 4].map((n) => `RCPT TO:<b${n}@example.org>\r\n`)
    expect(await talk(server.port, [...ENVELOPE.slice(0, 2), ...recipients], /^452 /m)).toMatch(/^452 /m)
  })

  test('for an address outside ASCII needs SMTPUTF8', async () => {
    await using server = await listening()
    expect(await talk(server.port, [...ENVELOPE.slice(0, 2), 'RCPT TO:<k\xc3\xa4the@example.org>\r\n'], /^553 /m)).toContain('553 5.6.7 ')
  })

  test('is not accepted if storing it failed', async () => {
    await using server = await listening(
      {},
      {
        async receive() {
          throw new Error('The database is away.')
        },
      },
    )
    expect(await talk(server.port, [...ENVELOPE, 'x\r\n.\r\n'], /^451 /m)).toContain('451 4.3.0 ')
  })
})

describe('the memory for emails that come in', () => {
  const LARGE = `${'x'.repeat(150_000)}\r\n`
  const little = () => ({ bytesMax: 1_000_000, memory: createContentMemory(200_000) })
  const submit = (port: number, text: string) => talk(port, [...ENVELOPE, `${text}.\r\n`], /^(452|250 2\.0\.0 queued)/m)

  /** A client that sends most of an email, and then nothing. */
  async function stalled(port: number): Promise<Socket> {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'data')
    for (const text of ENVELOPE) {
      socket.write(text)
      await once(socket, 'data')
    }
    socket.write(LARGE)
    return socket
  }

  test('is shared by all connections: while it is full, large emails are refused for now, and small ones are accepted', async () => {
    await using server = await listening(little())
    const client = await stalled(server.port)
    await expect.poll(() => submit(server.port, LARGE), SOON).toMatch(/^452 4\.3\.1 /m)
    expect(await submit(server.port, 'x\r\n')).toContain('queued')
    client.destroy()
    await expect.poll(() => submit(server.port, LARGE), SOON).toContain('queued')
    expect(String(server.mails.at(-1)?.content)).toBe(LARGE)
  })

  test('is free again after each email, also after one that was refused', async () => {
    await using server = await listening(little())
    for (let at = 0; at < 3; at++) expect(await submit(server.port, LARGE)).toContain('queued')
    expect(await submit(server.port, LARGE + LARGE)).toContain('452 4.3.1 ')
    expect(await submit(server.port, LARGE)).toContain('queued')
  })

  test('is taken until the email is stored', async () => {
    const storing = Promise.withResolvers<void>()
    const receive = async (mail: ReceivedMail) => {
      if (mail.content.length > LARGE.length) await storing.promise
      return { accepted: '2.0.0 queued' }
    }
    await using server = await listening(little(), { receive })
    const first = submit(server.port, `${LARGE}x\r\n`)
    await expect.poll(() => submit(server.port, LARGE), SOON).toMatch(/^452 4\.3\.1 /m)
    storing.resolve()
    expect(await first).toContain('queued')
    expect(await submit(server.port, LARGE)).toContain('queued')
  })

  test('is not taken by what the protocol does not read', async () => {
    await using server = await listening({ ...little(), bytesKept: 70_000 })
    const client = await stalled(server.port)
    expect(await submit(server.port, LARGE + LARGE)).toContain('queued')
    client.destroy()
    expect(String(server.mails[0]?.content)).toBe('x'.repeat(70_000))
  })

  test('is not taken for ever by a client that keeps sending: after ten minutes it is disconnected', async () => {
    const clock = createTestClock()
    await using server = await listening({ ...little(), clock })
    const client = await stalled(server.port)
    let heard = ''
    client.setEncoding('latin1').on('data', (text: string) => (heard += text))
    client.write('x\r\n')
    clock.advance('9 minutes')
    await expect.poll(() => submit(server.port, LARGE), SOON).toMatch(/^452 4\.3\.1 /m)
    clock.advance('1 minute')
    await once(client, 'close')
    expect(heard).toMatch(/^421 4\.4\.2 /)
    expect(await submit(server.port, LARGE)).toContain('queued')
  })
})

describe('another email inside an email', () => {
  const INNER = 'MAIL FROM:<admin@example.com>\r\nRCPT TO:<victim@example.org>\r\nDATA\r\nSubject: smuggled\r\n\r\nx\r\n.\r\n'

  test.each([
    ['<LF>.<LF>', '\n.\n'],
    ['<LF>.<CR><LF>', '\n.\r\n'],
    ['<CR>.<CR>', '\r.\r'],
    ['<CR>.<LF>', '\r.\n'],
    ['<LF>.<CR>', '\n.\r'],
    ['<CR>.<CR><LF>', '\r.\r\n'],
    ['<CR><LF>.<LF>', '\r\n.\n'],
    ['<CR><LF>.<CR>', '\r\n.\r'],
    ['<CR><CR><LF>.<CR><CR><LF>', '\r\r\n.\r\r\n'],
    ['<CR><LF>.<CR><CR><LF>', '\r\n.\r\r\n'],
    ['<CR><LF>NUL.<CR><LF>', '\r\n\0.\r\n'],
    ['<CR><LF>.NUL<CR><LF>', '\r\n.\0\r\n'],
    ['<LF><LF>.<CR><LF>', '\n\n.\r\n'],
  ])('after %s is refused, and neither is accepted', async (_, end) => {
    await using server = await listening()
    const heard = await talk(server.port, [...ENVELOPE, `Subject: outer\r\n\r\nx${end}${INNER}`], /^(521|250 2\.0\.0 queued)/m)
    expect(heard).toContain('521 5.5.2 ')
    expect(heard).not.toContain('queued')
    expect(server.mails).toEqual([])
  })

  test.each([...'\n\r'])('is found when %j is the last byte of a packet', async (byte) => {
    await using server = await listening()
    const socket = connect(server.port, '127.0.0.1')
    const heard = await through(socket, async (send) => {
      for (const text of ENVELOPE) await send(text)
      socket.write(`x${byte}`)
      await new Promise((resolve) => setImmediate(resolve))
      socket.write('.\r\n')
    })
    expect(heard).toContain('521 5.5.2 ')
    expect(server.mails).toEqual([])
  })

  test.each(['EHLO client\n', 'EHLO client\rNOOP\r\n', 'EHLO cl\0ient\r\n'])('is not prepared by the command %j', async (command) => {
    await using server = await listening()
    expect(await talk(server.port, [command], /^(250|521)/m)).toContain('521 5.5.2 ')
  })

  test('that has its dots doubled is text', async () => {
    await using server = await listening()
    await talk(server.port, [...ENVELOPE, `x\r\n..\r\n${INNER.replace('\r\n.\r\n', '\r\n..\r\n')}.\r\n`], /queued/)
    expect(server.mails).toHaveLength(1)
    expect(server.mails[0]?.content.toString()).toContain('victim@example.org')
  })
})

/** Runs a conversation on a socket, and returns what was heard when it is closed. */
async function through(socket: Socket, talk: (send: (text: string) => Promise<void>) => Promise<void>): Promise<string> {
  let heard = ''
  let onReply = () => {}
  socket.setEncoding('latin1').on('data', (text: string) => {
    heard += text
    onReply()
  })
  const replied = () => new Promise<void>((resolve) => (onReply = resolve))
  await replied()
  await talk(async (text) => {
    const reply = replied()
    socket.write(text)
    await reply
  })
  await once(socket, 'close')
  return heard
}

describe('a login', () => {
  const logIn: SmtpProtocol<string>['logIn'] = async (user, password) =>
    password === PASSWORD ? { login: user } : { code: 535, text: '5.7.8 Wrong key.' }

  const options = (server: { port: number; ca: string }, more: object = {}) => ({
    host: '127.0.0.1',
    port: server.port,
    tls: { ca: server.ca },
    ...more,
  })

  const connected = async (settings: object) => {
    const client = new SMTPConnection(settings as never)
    await new Promise<void>((resolve, reject) => {
      client.once('error', reject)
      client.connect(() => resolve())
    })
    return client
  }

  const login = (client: SMTPConnection, pass: string) =>
    new Promise<Error | null>((resolve) => client.login({ user: 'any', pass } as never, (error) => resolve(error ?? null)))

  test.each([
    ['STARTTLS', { requireTLS: true }, false],
    ['TLS from the first byte', { secure: true }, true],
    ['no encryption, on this machine', { ignoreTLS: true }, false],
  ])('works with %s', async (_, more, isImplicit) => {
    await using server = await listening({ isImplicit }, { logIn })
    const client = await connected(options(server, more))
    expect(await login(client, PASSWORD)).toBeNull()
    client.quit()
  })

  test('that fails is answered 535 5.7.8', async () => {
    await using server = await listening({}, { logIn })
    const client = await connected(options(server))
    expect(await login(client, 'wrong')).toMatchObject({ responseCode: 535, message: expect.stringContaining('5.7.8 Wrong key.') })
    client.close()
  })

  test('is needed before an email', async () => {
    await using server = await listening({}, { logIn })
    expect(await talk(server.port, ENVELOPE.slice(0, 2), /^530 /m)).toContain('530 ')
  })

  test('is not offered to clients elsewhere before encryption, and nothing goes without it', async () => {
    await using server = await listening({ host: '0.0.0.0' }, { logIn })
    const address = elsewhere()
    if (!address) return
    const socket = connect(server.port, address)
    const heard = await through(socket, async (send) => {
      await send('EHLO client\r\n')
      await send('AUTH PLAIN AGEAc2VjcmV0\r\n')
      await send('MAIL FROM:<a@example.com>\r\n')
      await send('QUIT\r\n')
    })
    expect(heard).not.toMatch(/^250[- ]AUTH/m)
    expect(heard).toMatch(/^500 [\s\S]*^530 5\.7\.0 Use STARTTLS/m)
  })

  test('cannot be prepared in the clear before STARTTLS', async () => {
    await using server = await listening({}, { logIn })
    const socket = connect(server.port, '127.0.0.1')
    await once(socket, 'data')
    socket.write('EHLO client\r\n')
    await once(socket, 'data')
    socket.write('STARTTLS\r\nNOOP\r\n')
    await once(socket, 'data')
    const secured = connectTls({ socket, host: '127.0.0.1', ca: server.ca, servername: '' })
    await once(secured, 'secureConnect')
    let heard = ''
    secured.setEncoding('latin1').on('data', (text: string) => (heard += text))
    secured.write('EHLO client\r\n')
    while (!heard.includes('250 ')) await new Promise((resolve) => setImmediate(resolve))
    // The NOOP in the clear is not answered inside the encrypted connection.
    expect(heard.startsWith('250-mail.example.com')).toBe(true)
    secured.destroy()
  })
})

test('connections have a highest number, and one for each address', async () => {
  await using server = await listening({ connectionsPerAddressMax: 1 })
  const first = connect(server.port, '127.0.0.1')
  await once(first, 'data')
  expect(await talk(server.port, [], /^421 /m)).toContain('421 4.7.0 ')
  first.destroy()
  await once(first, 'close')
  await expect.poll(() => talk(server.port, ['QUIT\r\n'], /^(221|421) /m)).toContain('221 ')
})

/** An address of this machine that is not loopback. */
function elsewhere(): string | undefined {
  return Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')?.address
}
