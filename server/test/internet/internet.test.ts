import { promises as nodeDns } from 'node:dns'
import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { TlsVariant } from './certificates.ts'
import { type Internet, openInternet, REFUSING_ADDRESS } from './internet.ts'

let internet: Internet
beforeAll(async () => {
  internet = await openInternet(inject('authorityDir'))
})
afterAll(() => internet[Symbol.asyncDispose]())

const RESOLVER_TIMEOUT_MS = 200
const resolver = () => {
  const made = new nodeDns.Resolver({ timeout: RESOLVER_TIMEOUT_MS, tries: 1 })
  made.setServers([internet.dns.server])
  return made
}

/** Sends lines to a host, one after the other, and returns the replies with what was said when the connection ended. */
async function talk(ip: string, lines: string[]): Promise<string[]> {
  const socket = connectTcp(internet.mx.port, ip)
  const replies: string[] = []
  try {
    replies.push(await replyOf(socket))
    for (const line of lines) {
      socket.write(`${line}\r\n`)
      replies.push(await replyOf(socket))
    }
  } finally {
    socket.destroy()
  }
  return replies
}

/** The next reply, or how the connection ended. */
const replyOf = (socket: Socket): Promise<string> =>
  new Promise((resolve) => {
    let text = ''
    socket.removeAllListeners()
    socket.setEncoding('utf8')
    socket.on('data', (more) => {
      text += more
      if (/(^|\n)\d{3} .*\r\n$/.test(text)) resolve(text.trim())
    })
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'))
    socket.on('end', () => resolve(text === '' ? 'end' : text))
  })

const send = (name: string, mail: { to: string | string[]; from?: string; text?: string }) => {
  const host = internet.mx.hosts.get(name)
  const transport = createTransport({
    host: host?.ip ?? '',
    port: internet.mx.port,
    tls: { servername: name, ca: internet.certificates.ca },
  })
  return transport.sendMail({ from: 'sender@example.com', subject: 'Hello', text: 'Hello', ...mail })
}

describe('the fake DNS', () => {
  test('answers from its zone, and follows aliases', async () => {
    internet.domain('zone.test', 'mx1.zone.test', 'mx2.zone.test')
    internet.dns.set('alias.test', { cname: 'mx1.zone.test' })
    internet.dns.set('text.test', { txt: ['one', ['two', 'parts']] })
    expect(await resolver().resolveMx('zone.test')).toMatchObject([
      { exchange: 'mx1.zone.test', priority: 10 },
      { exchange: 'mx2.zone.test', priority: 20 },
    ])
    expect(await resolver().resolve4('alias.test')).toEqual([internet.mx.hosts.get('mx1.zone.test')?.ip])
    expect(await resolver().resolveTxt('text.test')).toEqual([['one'], ['two', 'parts']])
  })

  test.each([
    ['nxdomain', 'ENOTFOUND'],
    ['nodata', 'ENODATA'],
    ['servfail', 'ESERVFAIL'],
    ['refused', 'EREFUSED'],
    ['timeout', 'ETIMEOUT'],
  ] as const)('answers with the fault %s', async (fault, code) => {
    internet.dns.set(`${fault}.test`, { a: ['127.0.0.1'] })
    internet.dns.fault(`${fault}.test`, fault)
    await expect(resolver().resolve4(`${fault}.test`)).rejects.toMatchObject({ code })
  })

  test('answers over TCP what was truncated over UDP', async () => {
    internet.dns.set('long.test', { a: ['127.0.0.1'] })
    internet.dns.fault('long.test', 'truncated')
    expect(await resolver().resolve4('long.test')).toEqual(['127.0.0.1'])
    expect(internet.dns.queries.filter(({ name }) => name === 'long.test').map(({ transport }) => transport)).toEqual(['udp', 'tcp'])
  })

  test('a name that only longer names end with has no records; others do not exist', async () => {
    internet.dns.set('a.b.below.test', { a: ['127.0.0.1'] })
    await expect(resolver().resolve4('b.below.test')).rejects.toMatchObject({ code: 'ENODATA' })
    await expect(resolver().resolve4('absent.test')).rejects.toMatchObject({ code: 'ENOTFOUND' })
  })
})

describe('a fake MX host', () => {
  test('takes mail over TLS with a valid certificate, as a foreign client sends it', async () => {
    const host = internet.host('healthy.test')
    await send('healthy.test', { to: ['a@healthy.test', 'b@healthy.test'], text: '.begins with a dot' })
    expect(host.mails).toHaveLength(1)
    expect(host.mails[0]).toMatchObject({
      from: 'sender@example.com',
      to: ['a@healthy.test', 'b@healthy.test'],
      tls: { protocol: 'TLSv1.3', servername: 'healthy.test' },
    })
    expect(host.mails[0]?.content.toString()).toContain('\r\n\r\n.begins with a dot')
    expect(host.counts).toMatchObject({ made: 1, mostOpen: 1, mailsPerConnection: [1], recipients: { accepted: 2, refused: 0 } })
  })

  test('has an address of its own', () => {
    const [one, other] = [internet.host('one.test'), internet.host('other.test')]
    expect(one.ip).toMatch(/^127\./)
    expect(other.ip).not.toBe(one.ip)
  })

  test('answers by its script, also by what it knows of the mail', async () => {
    internet.host('scripted.test', {
      tls: 'none',
      script: { RCPT: ({ line }) => (line.includes('<gone@') ? '550 5.1.1 No such user' : undefined), DATA: '451 4.3.0 Later' },
    })
    const { ip } = internet.mx.hosts.get('scripted.test') as { ip: string }
    const replies = await talk(ip, ['EHLO me', 'MAIL FROM:<a@b.test>', 'RCPT TO:<gone@c.test>', 'DATA', 'RCPT TO:<x@c.test>', 'DATA'])
    expect(replies.map((reply) => reply.slice(0, 3))).toEqual(['220', '250', '250', '550', '554', '250', '451'])
  })

  test.each([
    ['close', 'end'],
    ['reset', 'ECONNRESET'],
    ['half-close', 'end'],
  ] as const)('can %s at a stage', async (then, ended) => {
    const { ip } = internet.host(`${then}.test`, { tls: 'none', script: { MAIL: { then } } })
    expect((await talk(ip, ['EHLO me', 'MAIL FROM:<a@b.test>'])).at(-1)).toBe(ended)
  })

  test('answers commands that came together, one after the other, also with delays', async () => {
    const { ip, mails } = internet.host('piped.test', { tls: 'none', latencyMs: 3 })
    const socket = connectTcp(internet.mx.port, ip)
    let text = ''
    socket.setEncoding('utf8').on('data', (more) => {
      text += more
    })
    socket.write(
      'EHLO me\r\nMAIL FROM:<a@b.test> SIZE=5\r\nRCPT TO:<c@d.test>\r\nDATA\r\nSubject: x\r\n\r\n..\r\n.\r\nMAIL FROM:<a@b.test>\r\nQUIT\r\n',
    )
    await once(socket, 'close')
    expect(text.match(/^\d{3} /gm)).toEqual(['220 ', '250 ', '250 ', '250 ', '354 ', '250 ', '250 ', '221 '])
    expect(mails.map(({ content, parameters }) => [content.toString(), parameters.mail])).toEqual([['Subject: x\r\n\r\n.\r\n', 'SIZE=5']])
  })

  test.each([
    ['connections', { connectionsMax: 0 }, 0],
    ['mails of a connection', { mailsPerConnectionMax: 0 }, 2],
    ['mails within a second', { mailsPerSecondMax: 0 }, 2],
  ] as const)('answers 421 beyond its cap of %s', async (what, cap, at) => {
    const host = internet.host(`${what.replaceAll(' ', '-')}.test`, { tls: 'none', ...cap })
    expect((await talk(host.ip, ['EHLO me', 'MAIL FROM:<a@b.test>'].slice(0, at)))[at]).toMatch(/^421 /)
    expect(host.counts.capped).toBe(1)
  })

  test.each<[TlsVariant, string]>([
    ['valid', ''],
    ['wrong-name', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['expired', 'CERT_HAS_EXPIRED'],
    ['self-signed', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['no-common-version', 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'],
    ['garbage', 'ERR_SSL_WRONG_VERSION_NUMBER'],
    ['closes', 'ECONNRESET'],
  ])('does TLS that is %s', async (variant, code) => {
    const name = `tls-${variant}.test`
    const { ip } = internet.host(name, { tls: variant })
    const socket = connectTcp(internet.mx.port, ip)
    for (const line of ['EHLO me', 'STARTTLS']) {
      await replyOf(socket)
      socket.write(`${line}\r\n`)
    }
    await replyOf(socket)
    socket.removeAllListeners()
    const tls = connectTls({ socket, servername: name, ca: internet.certificates.ca })
    const outcome = await new Promise((resolve) => {
      tls.once('secureConnect', () => resolve(''))
      tls.once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
    })
    tls.destroy()
    expect(outcome).toBe(code)
  })

  test('refuses connections at the refusing address', async () => {
    const socket = connectTcp(internet.mx.port, REFUSING_ADDRESS)
    const [error] = await once(socket, 'error')
    expect(error.code).toMatch(/ECONNREFUSED|EADDRNOTAVAIL/)
  })
})
