import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { createSecureServer } from 'node:http2'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openListener } from '../../../test/listener.ts'
import { egressPolicy, type HostLookup } from '../../lib/egress.ts'
import { type Authority, issueCertificate, loadOrCreateAuthority } from './dev-authority.ts'
import { createSafeFetch, type SafeRequest } from './safe-fetch.ts'

const closed = egressPolicy([])
const open = egressPolicy(['127.0.0.0/8', '::1/128'])
const now = new Date(performance.timeOrigin)

let dir = ''
let authority: Authority
let stranger: Authority
let cert: { cert: string; key: string }
const disposables: AsyncDisposable[] = []

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'safe-fetch-'))
  authority = await loadOrCreateAuthority(join(dir, 'trusted'), now)
  stranger = await loadOrCreateAuthority(join(dir, 'stranger'), now)
  cert = await issueCertificate(authority, ['localhost', '127.0.0.1', '::1'], now)
})
afterEach(async () => {
  for (const one of disposables.splice(0).reverse()) await one[Symbol.asyncDispose]()
})
afterAll(() => rm(dir, { recursive: true }))

/** Listens on loopback until the end of the test. Returns the port. */
async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  disposables.push({
    async [Symbol.asyncDispose]() {
      server.close()
    },
  })
  return (server.address() as AddressInfo).port
}
const web = (answer: RequestListener) => listen(createServer(answer))
const secureWeb = (answer: RequestListener) => listen(createTlsServer(cert, answer))

type Options = Partial<Parameters<typeof createSafeFetch>[0]>

function safeFetch(options: Options = {}) {
  const fetch = createSafeFetch({ policy: open, ca: [authority.cert], userAgent: 'Carillon/1.0', ...options })
  disposables.push(fetch)
  return (url: string, request: Partial<SafeRequest> = {}) =>
    fetch.request({
      method: 'POST',
      url,
      body: '{}',
      timeoutMs: 20_000,
      connectTimeoutMs: 20_000,
      responseBytesMax: 20_000,
      ...request,
    })
}

const names =
  (...addresses: string[]): HostLookup =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

describe('a response', () => {
  test('has status, headers, body and the elapsed time', async () => {
    const port = await secureWeb((request, reply) => {
      const { method, url, headers } = request
      request.on('data', (body) => {
        reply.writeHead(201, { 'retry-after': '7', 'set-cookie': ['a=1', 'b=2'] })
        reply.end(JSON.stringify({ method, url, agent: headers['user-agent'], type: headers['content-type'], body: String(body) }))
      })
    })
    const url = `https://localhost:${port}/hooks?key=1`
    const answer = await safeFetch()(url, { headers: { 'content-type': 'application/json' }, body: Buffer.from('{"a":1}') })
    expect(answer).toMatchObject({ is: 'answered', status: 201, headers: { 'retry-after': '7', 'set-cookie': ['a=1', 'b=2'] } })
    expect(JSON.parse(answer.is === 'answered' ? answer.body : '')).toEqual({
      method: 'POST',
      url: '/hooks?key=1',
      agent: 'Carillon/1.0',
      type: 'application/json',
      body: '{"a":1}',
    })
    expect(answer.elapsedMs).toBeGreaterThan(0)
  })

  test('that is a redirect is not followed', async () => {
    let requests = 0
    const port = await web((_, reply) => {
      requests++
      reply.writeHead(302, { location: '/elsewhere' }).end('moved')
    })
    expect(await safeFetch()(`http://127.0.0.1:${port}/`)).toMatchObject({ is: 'answered', status: 302, body: 'moved' })
    expect(requests).toBe(1)
  })

  test('is the final one, not an interim response', async () => {
    const port = await web((_, reply) => {
      reply.writeProcessing()
      reply.writeHead(204).end()
    })
    expect(await safeFetch()(`http://127.0.0.1:${port}/`)).toMatchObject({ is: 'answered', status: 204, body: '' })
  })

  test('with a huge body is cut between characters and does not affect the next one', async () => {
    const port = await web((request, reply) => {
      reply.end(request.url === '/huge' ? 'é'.repeat(5_000_000) : 'small')
    })
    const fetch = safeFetch()
    const huge = await fetch(`http://127.0.0.1:${port}/huge`, { responseBytesMax: 2001 })
    expect(huge).toMatchObject({ is: 'answered', status: 200, body: 'é'.repeat(1000) })
    expect(await fetch(`http://127.0.0.1:${port}/`)).toMatchObject({ is: 'answered', body: 'small' })
  })

  test('of exactly the maximum size is complete', async () => {
    const port = await web((_, reply) => reply.end('x'.repeat(100)))
    expect(await safeFetch()(`http://127.0.0.1:${port}/`, { responseBytesMax: 100 })).toMatchObject({ body: 'x'.repeat(100) })
  })

  test('uses an existing connection', async () => {
    let connections = 0
    const server = createTlsServer(cert, (_, reply) => reply.end())
    server.on('secureConnection', () => connections++)
    const port = await listen(server)
    const fetch = safeFetch()
    for (let n = 0; n < 6; n++) await fetch(`https://127.0.0.1:${port}/`)
    // A connection is not reused in the same turn of the event loop, so a second one may be opened.
    expect(connections).toBeLessThanOrEqual(2)
  })
})

describe('HTTP/2', () => {
  test('is used on request, and many requests share a connection', async () => {
    let connections = 0
    const server = createSecureServer(cert, async (request, reply) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      reply.writeHead(200, { 'x-id': '7' }).end(`${request.httpVersion} ${request.method} ${request.url} ${Buffer.concat(chunks)}`)
    })
    server.on('secureConnection', () => connections++)
    const port = await listen(server as unknown as Server)
    const fetch = safeFetch()
    const send = (n: number) => fetch(`https://localhost:${port}/${n}`, { http2: true, body: `body ${n}` })
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => send(n)))
    expect(answers.map((answer) => answer.is === 'answered' && answer.body)).toEqual(
      Array.from({ length: 20 }, (_, n) => `2.0 POST /${n} body ${n}`),
    )
    expect(answers[0]).toMatchObject({ status: 200, headers: { 'x-id': '7' } })
    expect(connections).toBe(1)
  })

  test('falls back to HTTP/1.1 if the server does not support it', async () => {
    const port = await secureWeb((request, reply) => reply.end(request.httpVersion))
    expect(await safeFetch()(`https://localhost:${port}/`, { http2: true })).toMatchObject({ is: 'answered', body: '1.1' })
  })

  test('has the same limits', async () => {
    const port = await listen(createSecureServer(cert, () => {}) as unknown as Server)
    const url = `https://localhost:${port}/`
    expect(await safeFetch()(url, { http2: true, timeoutMs: 200 })).toMatchObject({ is: 'failed', reason: 'timeout' })
    expect(await safeFetch({ policy: closed })(url, { http2: true })).toMatchObject({ is: 'failed', reason: 'blocked' })
    expect(await safeFetch({ ca: [stranger.cert] })(url, { http2: true })).toMatchObject({ is: 'failed', reason: 'tls' })
  })

  test('a server that disconnects after reading the request is a reset', async () => {
    const server = createSecureServer(cert)
    server.on('stream', (stream) => stream.session?.destroy())
    const port = await listen(server as unknown as Server)
    expect(await safeFetch()(`https://localhost:${port}/`, { http2: true })).toMatchObject({ is: 'failed', reason: 'reset' })
  })
})

describe('the egress policy', () => {
  test.each(['127.0.0.1', 'localhost'])('does not allow %s without an exception', async (host) => {
    let requests = 0
    const port = await web((_, reply) => {
      requests++
      reply.end()
    })
    const answer = await safeFetch({ policy: closed })(`http://${host}:${port}/`)
    expect(answer).toMatchObject({
      is: 'failed',
      reason: 'blocked',
      message: 'The host has no address that this server may connect to.',
    })
    expect(requests).toBe(0)
  })

  test.each(['2130706433', '0x7f.1', '0177.0.0.1', '[::ffff:127.0.0.1]', '[::1]', '10.0.0.1', '169.254.169.254', '[fd00::1]'])(
    'applies to the literal %s without a lookup',
    async (host) => {
      const lookup: HostLookup = () => expect.unreachable('a literal was looked up')
      expect(await safeFetch({ policy: closed, lookup })(`https://${host}/`)).toMatchObject({ is: 'failed', reason: 'blocked' })
    },
  )

  test('refuses system ports other than those of HTTP, without a lookup', async () => {
    const lookup: HostLookup = () => expect.unreachable('the name was looked up')
    for (const url of ['http://example.com:25/', 'https://example.com:22/', 'https://127.0.0.1:631/']) {
      expect(await safeFetch({ lookup })(url)).toMatchObject({ is: 'failed', reason: 'blocked', message: expect.stringContaining('port') })
    }
  })

  test('applies to the addresses of a public name', async () => {
    const fetch = safeFetch({ policy: closed, lookup: names('127.0.0.1', '::ffff:10.0.0.1', 'fd00::1') })
    expect(await fetch('https://rebind.example.com/')).toMatchObject({ is: 'failed', reason: 'blocked' })
  })

  test('connects only to allowed addresses, and resolves the name once', async () => {
    const port = await web((_, reply) => reply.end('here'))
    let lookups = 0
    const lookup: HostLookup = async (host) => {
      lookups++
      return names(...(lookups === 1 ? ['10.0.0.1', '127.0.0.1', '192.168.0.1'] : ['10.0.0.1']))(host)
    }
    expect(await safeFetch({ lookup })(`http://example.com:${port}/`)).toMatchObject({ is: 'answered', body: 'here' })
    expect(lookups).toBe(1)
  })

  describe('connects to no forbidden address', () => {
    const onlyOne = egressPolicy(['127.0.0.1/32'])
    const FORBIDDEN = '127.0.0.2'

    test.each([
      ['that is written as such', FORBIDDEN, undefined],
      ['that a name resolves to', 'rebind.example.com', names(FORBIDDEN)],
      ['in any of its forms', 'rebind.example.com', names(`::ffff:${FORBIDDEN}`, FORBIDDEN)],
    ])('%s', async (_, host, lookup) => {
      const forbidden = await openListener(FORBIDDEN)
      disposables.push(forbidden)
      const fetch = safeFetch({ policy: onlyOne, ...(lookup && { lookup }) })
      for (const http2 of [false, true])
        expect(await fetch(`https://${host}:${forbidden.port}/`, { http2 })).toMatchObject({ is: 'failed', reason: 'blocked' })
      expect(await forbidden.connections()).toBe(0)
    })

    test.each([
      ['before', [FORBIDDEN, '127.0.0.1']],
      ['around', [FORBIDDEN, '127.0.0.1', FORBIDDEN]],
    ])('that a name resolves to %s an allowed one', async (_, addresses) => {
      const port = await web((_, reply) => reply.end('here'))
      const forbidden = await openListener(FORBIDDEN, port)
      disposables.push(forbidden)
      const fetch = safeFetch({ policy: onlyOne, lookup: names(...addresses) })
      expect(await fetch(`http://example.com:${port}/`)).toMatchObject({ is: 'answered', body: 'here' })
      expect(await forbidden.connections()).toBe(0)
    })

    test('that a name resolves to beside an allowed one where nothing listens', async () => {
      const forbidden = await openListener(FORBIDDEN)
      disposables.push(forbidden)
      const fetch = safeFetch({ policy: onlyOne, lookup: names('127.0.0.1', FORBIDDEN) })
      expect(await fetch(`http://example.com:${forbidden.port}/`)).toMatchObject({ is: 'failed', reason: 'refused' })
      expect(await forbidden.connections()).toBe(0)
    })

    test.each([301, 302, 303, 307, 308])('that an allowed one redirects to with %i', async (status) => {
      const forbidden = await openListener(FORBIDDEN)
      disposables.push(forbidden)
      const port = await web((_, reply) => reply.writeHead(status, { location: `http://${FORBIDDEN}:${forbidden.port}/` }).end())
      expect(await safeFetch({ policy: onlyOne })(`http://127.0.0.1:${port}/`)).toMatchObject({ is: 'answered', status })
      expect(await forbidden.connections()).toBe(0)
    })
  })
})

describe('a timeout', () => {
  test('ends a request to a server that does not respond', async () => {
    const port = await web(() => {})
    const answer = await safeFetch()(`http://127.0.0.1:${port}/`, { timeoutMs: 50 })
    expect(answer).toMatchObject({ is: 'failed', reason: 'timeout', message: 'The server did not respond within 50 ms.' })
    expect(answer.elapsedMs).toBeGreaterThanOrEqual(49)
  })

  test('ends a body that never ends', async () => {
    const port = await web((_, reply) => void reply.write('and then '))
    expect(await safeFetch()(`http://127.0.0.1:${port}/`, { timeoutMs: 50 })).toMatchObject({ is: 'failed', reason: 'timeout' })
  })

  test('ends a connection attempt, and nothing is sent later', async () => {
    const asked: (string | undefined)[] = []
    const port = await web((request, reply) => {
      asked.push(request.url)
      reply.end()
    })
    const resolved = Promise.withResolvers<{ address: string; family: number }[]>()
    const fetch = safeFetch({ lookup: () => resolved.promise })
    const answer = await fetch(`http://example.com:${port}/first`, { connectTimeoutMs: 30 })
    expect(answer).toMatchObject({ is: 'failed', reason: 'timeout', message: 'The connection was not established within 30 ms.' })
    resolved.resolve([{ address: '127.0.0.1', family: 4 }])
    expect(await fetch(`http://example.com:${port}/second`)).toMatchObject({ is: 'answered' })
    expect(await fetch(`http://example.com:${port}/third`)).toMatchObject({ is: 'answered' })
    expect(asked).toEqual(['/second', '/third'])
  })

  test('does not prevent cancelling by the caller', async () => {
    const port = await web(() => controller.abort())
    const controller = new AbortController()
    const cancelled = { is: 'failed', reason: 'other', message: 'The request was cancelled.' }
    expect(await safeFetch()(`http://127.0.0.1:${port}/`, { signal: controller.signal })).toMatchObject(cancelled)
    expect(await safeFetch()(`http://127.0.0.1:${port}/`, { signal: AbortSignal.abort() })).toMatchObject(cancelled)
  })
})

describe('network errors are returned', () => {
  test('a server that does not exist', async () => {
    const server = createTcpServer()
    const port = await listen(server)
    server.close()
    await once(server, 'close')
    expect(await safeFetch()(`http://127.0.0.1:${port}/`)).toMatchObject({ is: 'failed', reason: 'refused' })
  })

  test('a name that does not resolve', async () => {
    const lookup: HostLookup = async () => {
      throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' })
    }
    expect(await safeFetch({ lookup })('https://nowhere.example/')).toMatchObject({ is: 'failed', reason: 'dns' })
    expect(await safeFetch({ lookup: names() })('https://nowhere.example/')).toMatchObject({ is: 'failed', reason: 'dns' })
  })

  test('a server that disconnects', async () => {
    const port = await listen(createTcpServer((socket) => socket.once('data', () => socket.destroy())))
    expect(await safeFetch()(`http://127.0.0.1:${port}/`)).toMatchObject({ is: 'failed', reason: 'reset' })
  })

  test('a response that is not HTTP', async () => {
    const port = await listen(createTcpServer((socket) => socket.once('data', () => socket.end('220 mail.example.com ESMTP\r\n'))))
    expect(await safeFetch()(`http://127.0.0.1:${port}/`)).toMatchObject({ is: 'failed', reason: 'other' })
  })

  describe('with whether the request can have arrived:', () => {
    const lost = (code: string) => async () => {
      throw Object.assign(new Error(code), { code })
    }
    test.each<[string, Options, string]>([
      ['a name server that does not answer', { lookup: () => new Promise(() => {}) }, 'timeout'],
      ['a network that is down', { lookup: lost('ENETUNREACH') }, 'other'],
      ['a host that cannot be reached', { lookup: lost('EHOSTUNREACH') }, 'other'],
      ['a name that does not resolve', { lookup: lost('EAI_AGAIN') }, 'dns'],
      ['a host that is not allowed', { lookup: names('10.0.0.1') }, 'blocked'],
    ])('not at %s', async (_, options, reason) => {
      const answer = await safeFetch(options)('https://example.com/', { connectTimeoutMs: 30 })
      expect(answer).toMatchObject({ is: 'failed', reason, isUnsent: true })
    })

    test('not at a server that does not begin TLS, or resets it', async () => {
      const silent = await listen(createTcpServer(() => {}))
      const fetch = safeFetch()
      expect(await fetch(`https://localhost:${silent}/`, { connectTimeoutMs: 30 })).toMatchObject({ reason: 'timeout', isUnsent: true })
      const port = await listen(createTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy())))
      expect(await fetch(`https://localhost:${port}/`)).toMatchObject({ reason: 'reset', isUnsent: true })
    })

    test('perhaps at a server that reads it and does not respond, or disconnects', async () => {
      const fetch = safeFetch()
      const silent = await web(() => {})
      expect(await fetch(`http://127.0.0.1:${silent}/`, { timeoutMs: 50 })).not.toHaveProperty('isUnsent')
      const port = await listen(createTcpServer((socket) => socket.once('data', () => socket.destroy())))
      expect(await fetch(`http://127.0.0.1:${port}/`)).not.toHaveProperty('isUnsent')
      const server = createSecureServer(cert)
      server.on('stream', (stream) => stream.session?.destroy())
      const http2 = await listen(server as unknown as Server)
      expect(await fetch(`https://localhost:${http2}/`, { http2: true })).not.toHaveProperty('isUnsent')
    })
  })

  test.each([
    ['an authority that is not trusted', 'localhost', () => ({ ca: [stranger.cert] })],
    ['no extra authority', 'localhost', () => ({ ca: [] })],
    ['a certificate for another host', 'example.com', () => ({ lookup: names('127.0.0.1') })],
  ])('%s', async (_, host, options: () => Options) => {
    const port = await secureWeb((_, reply) => reply.end())
    expect(await safeFetch(options())(`https://${host}:${port}/`)).toMatchObject({ is: 'failed', reason: 'tls' })
  })

  test('a server without TLS', async () => {
    const port = await web((_, reply) => reply.end())
    expect(await safeFetch()(`https://127.0.0.1:${port}/`)).toMatchObject({ is: 'failed', reason: 'tls' })
  })

  test('a request that was running when the client was disposed of', async () => {
    const fetch = createSafeFetch({ policy: open, userAgent: 'Carillon/1.0' })
    const port = await web(() => void fetch[Symbol.asyncDispose]())
    const request = {
      method: 'GET',
      url: `http://127.0.0.1:${port}/`,
      timeoutMs: 20_000,
      connectTimeoutMs: 20_000,
      responseBytesMax: 100,
    }
    expect(await fetch.request(request)).toMatchObject({ is: 'failed', reason: 'other' })
  })
})
