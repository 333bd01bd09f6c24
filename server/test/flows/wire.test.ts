/** The HTTP contract on a raw connection: sizes, `Expect`, pipelined requests, bodies that were not read (D-HTTP-3). */
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { type World, world } from '../world.ts'

const USERS = '/api/client/users'
const BATCH = '/api/client/users/batch'

/** Sixteen mebibytes of zeros, compressed. A gzip file can have any number of such members. */
const zeros = gzipSync(Buffer.alloc(16_777_216), { level: 9 })

/** A TCP connection: text is sent unchanged, and the received text can be read. */
type Wire = AsyncDisposable & {
  socket: Socket
  write(text: string | Buffer): void
  /** Resolves with everything received when the condition holds or the connection has ended. */
  until(condition: (text: string) => boolean): Promise<string>
  /** Resolves with everything received when the server has closed the connection. */
  end(): Promise<string>
}

async function wire(w: World): Promise<Wire> {
  if (!w.app.server.listening) await w.app.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect((w.app.server.address() as AddressInfo).port, '127.0.0.1')
  await once(socket, 'connect')
  let text = ''
  let ended = false
  const listeners = new Set<() => void>()
  const changed = () => {
    for (const listener of listeners) listener()
  }
  socket.on('data', (chunk) => {
    text += chunk
    changed()
  })
  const over = () => {
    ended = true
    changed()
  }
  socket.on('end', over).on('close', over)
  // A server that closes the connection while the test still sends resets it. The text received before is valid.
  socket.on('error', over)
  const wait = (condition: () => boolean) =>
    new Promise<string>((resolve) => {
      const check = () => condition() && resolve(text)
      listeners.add(check)
      check()
    })
  return {
    socket,
    write: (text) => void socket.write(text),
    until: (condition) => wait(() => ended || condition(text)),
    end: () => wait(() => ended),
    async [Symbol.asyncDispose]() {
      socket.destroy()
    },
  }
}

const head = (w: World, line: string, headers: Record<string, string | number> = {}) =>
  [
    `${line} HTTP/1.1`,
    'Host: carillon.test',
    `Authorization: Bearer ${w.keys.secret}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    '',
  ].join('\r\n')

const statusLines = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
const CLOSING = /^connection: close\r$/im

describe('on the wire', () => {
  const one = '[{"external_id":"kim"}]'
  const post = (w: World, headers: Record<string, string | number>) =>
    head(w, `POST ${BATCH}`, { 'Content-Type': 'application/json', ...headers })
  const later = (w: World) => head(w, `GET ${USERS}?limit=1`)

  test('headers of more than 16 KiB are refused with 431, and so is a URL of that length', async () => {
    await using w = await world()
    for (const text of [head(w, `GET ${USERS}`, { 'X-Long': 'x'.repeat(17_000) }), head(w, `GET ${USERS}?q=${'x'.repeat(17_000)}`)]) {
      await using line = await wire(w)
      line.write(text)
      expect(statusLines(await line.end())).toEqual([431])
    }
  })

  test('headers of 15 KiB are accepted', async () => {
    await using w = await world()
    await using line = await wire(w)
    line.write(head(w, `GET ${USERS}`, { 'X-Long': 'x'.repeat(15_000) }))
    expect(statusLines(await line.until((text) => text.includes('\r\n\r\n')))).toEqual([200])
  })

  test.each([
    '\r\n\r\nGARBAGE\r\n\r\n',
    'GET\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\nBad Header: x\r\n\r\n',
  ])('%j is refused with 400, and the connection is closed', async (text) => {
    await using w = await world()
    await using line = await wire(w)
    line.write(text)
    expect(statusLines(await line.end())).toEqual([400])
  })

  test('a body with a Content-Length of 10 MiB is refused before it is sent, and the connection is closed', async () => {
    await using w = await world()
    await using line = await wire(w)
    line.write(post(w, { 'Content-Length': 10_485_760 }))
    const text = await line.until((text) => text.includes('body_too_large'))
    expect([statusLines(text), CLOSING.test(text)]).toEqual([[413], true])
    await line.end()
  })

  test('a body without a Content-Length is refused as soon as it is too long, before it ends', async () => {
    await using w = await world()
    await using line = await wire(w)
    const chunk = (length: number) => `${length.toString(16)}\r\n${' '.repeat(length)}\r\n`
    line.write(`${post(w, { 'Transfer-Encoding': 'chunked' })}${chunk(w.ctx.config.JSON_BODY_LIMIT)}`)
    line.write(chunk(1))
    const text = await line.until((text) => text.includes('body_too_large'))
    expect([statusLines(text), CLOSING.test(text)]).toEqual([[413], true])
    await line.end()
  })

  test('a gibibyte of zeros in a mebibyte of gzip is refused after its first 16 MiB, before the rest arrives', async () => {
    await using w = await world()
    await using line = await wire(w)
    line.write(post(w, { 'Content-Encoding': 'gzip', 'Content-Length': 64 * zeros.length }))
    line.write(zeros)
    const text = await line.until((text) => text.includes('body_too_large'))
    expect(statusLines(text)).toEqual([413])
    await line.end()
  })

  test('Expect: 100-continue gets 100, and then the body is read', async () => {
    await using w = await world()
    await using line = await wire(w)
    line.write(post(w, { 'Content-Length': one.length, Expect: '100-continue' }))
    expect(statusLines(await line.until((text) => text.includes('\r\n\r\n')))).toEqual([100])
    line.write(one)
    expect(statusLines(await line.until((text) => text.includes('"succeeded"')))).toEqual([100, 200])
  })

  test('HEAD has the headers of GET and no body', async () => {
    await using w = await world()
    await w.users('kim')
    const { headers } = await w.get(`${USERS}?limit=1`)
    await using line = await wire(w)
    line.write(head(w, `HEAD ${USERS}?limit=1`) + head(w, `HEAD ${USERS}/nobody`) + head(w, 'GET /healthz'))
    const text = await line.until((text) => text.includes('"ok"'))
    expect(statusLines(text)).toEqual([200, 404, 200])
    expect(text.slice(0, text.indexOf('\r\n\r\n')).toLowerCase()).toContain(`content-length: ${headers['content-length']}`)
    expect(text).not.toContain('"results"')
  })

  test('pipelined requests get their replies in order', async () => {
    await using w = await world()
    await using line = await wire(w)
    line.write(
      post(w, { 'Content-Length': one.length }) +
        one +
        later(w) +
        head(w, 'GET /nothing') +
        post(w, { 'Content-Length': 1 }) +
        '[' +
        later(w),
    )
    const text = await line.until((text) => statusLines(text).length === 5)
    expect(statusLines(text)).toEqual([200, 200, 404, 400, 200])
  })

  test.each<[string, (w: World, length: number) => string, number]>([
    ['too large', (w, length) => post(w, { 'Content-Length': length }), 413],
    ['with an unknown key', (w, length) => post(w, { 'Content-Length': length }).replace(w.keys.secret, 'sk_0000000000000000'), 401],
    ['to an unknown path', (w, length) => head(w, 'POST /nothing', { 'Content-Length': length }), 404],
    ['with the wrong method', (w, length) => head(w, `PUT ${USERS}`, { 'Content-Length': length }), 405],
    ['with an unknown encoding', (w, length) => post(w, { 'Content-Length': length, 'Content-Encoding': 'zstd' }), 415],
  ])('a request %s is refused before its body was received, and the connection is closed', async (_, request, expected) => {
    await using w = await world()
    await using line = await wire(w)
    // If the body were read as requests, their replies would be 200.
    line.write(request(w, 2_000_000) + later(w).repeat(3))
    const text = await line.end()
    expect([statusLines(text), CLOSING.test(text)]).toEqual([[expected], true])
  })

  test('requests inside the body of a refused request get no reply', async () => {
    await using w = await world()
    await using line = await wire(w)
    const body = later(w).repeat(3)
    line.write(head(w, 'POST /nothing', { 'Content-Length': body.length }) + body + head(w, `GET ${USERS}/nobody`, { Connection: 'close' }))
    const text = await line.end()
    expect(statusLines(text)[0]).toBe(404)
    expect(text).not.toContain('"results"')
  })

  test('two Authorization headers, or two Idempotency-Keys, are refused', async () => {
    await using w = await world()
    await using line = await wire(w)
    line.write(head(w, `GET ${USERS}`, { authorization: `Bearer ${w.keys.secret}` }))
    expect(await line.until((text) => text.includes('request_id'))).toContain('key_malformed')
    line.write(post(w, { 'Idempotency-Key': 'a', 'idempotency-key': 'b', 'Content-Length': one.length }) + one)
    expect(statusLines(await line.until((text) => statusLines(text).length === 2 && text.endsWith('}')))).toEqual([401, 400])
  })

  test('a connection that breaks in the middle of a body is no error', async () => {
    const lines: string[] = []
    await using w = await world({ log: { write: (line) => lines.push(line) } })
    await using line = await wire(w)
    line.write(post(w, { 'Content-Length': one.length }) + one.slice(0, 5))
    line.socket.destroy()
    await once(line.socket, 'close')
    expect((await w.get(USERS)).status).toBe(200)
    expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([])
  })
})
