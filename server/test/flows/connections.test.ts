/** Slow clients and many connections, over real sockets (D-HTTP-10). The limits are settings, so that tests need not wait for them. */
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { type World, world } from '../world.ts'

type Client = { socket: Socket; text: () => string; closed: Promise<unknown> }

const sockets: Socket[] = []

async function listening(env: Record<string, string>): Promise<World & { port: number }> {
  const w = await world({ env })
  await w.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = w.app.server.address() as AddressInfo
  const close = async () => {
    for (const socket of sockets.splice(0)) socket.destroy()
    await w[Symbol.asyncDispose]()
  }
  return { ...w, port, [Symbol.asyncDispose]: close }
}

async function open(port: number, sent = '', localAddress?: string): Promise<Client> {
  const socket = connect({ port, host: '127.0.0.1', ...(localAddress && { localAddress }) })
  sockets.push(socket)
  let text = ''
  socket
    .on('error', () => undefined)
    .on('data', (chunk) => {
      text += chunk
    })
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await once(socket, 'connect')
  socket.write(sent)
  return { socket, text: () => text, closed }
}

const reply = async ({ socket, text }: Client) => {
  while (!text().includes('\r\n\r\n')) await once(socket, 'data')
  return text().split('\r\n')[0]
}

const head = (w: World, path: string, more: string) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${w.keys.secret}\r\n${more}\r\n\r\n`

/** Lets time pass until something has happened. Between the steps, the server gets to work. */
async function passTime(w: World, until: Promise<unknown>): Promise<void> {
  let isOver = false
  void until.then(() => {
    isOver = true
  })
  for (let step = 0; !isOver && step < 2000; step++) {
    w.advance('1 second')
    await w.get('/readyz')
  }
}

describe('a client that is slow', () => {
  test.each(['', 'GET /livez HTTP/1.1\r\nHost:'])('with the head (%j so far) gets 408 and is closed', async (sent) => {
    await using w = await listening({ HEAD_TIMEOUT_S: '0.05' })
    const client = await open(w.port, sent)
    await client.closed
    expect(client.text()).toMatch(/^HTTP\/1\.1 408 /)
  })

  test.each(['/api/client/users/batch', '/s/p/token'])('with a body for %s gets 408 and is closed', async (path) => {
    await using w = await listening({})
    const client = await open(w.port, `${head(w, path, 'Content-Length: 100')}[{`)
    await passTime(w, client.closed)
    expect(client.text()).toMatch(/^HTTP\/1\.1 408 /)
    expect(client.text()).toContain('"reason":"body_too_slow"')
  })

  test('with an import may take any time while there is data', async () => {
    await using w = await listening({})
    const list = (await w.post('/api/client/lists', { name: 'Slow', type: 'static' })).body.id
    const csv = 'external_id\nkim\n'
    const client = await open(
      w.port,
      head(w, `/api/client/lists/${list}/import`, `Content-Type: text/csv\r\nContent-Length: ${csv.length}`),
    )
    for (const character of csv) {
      client.socket.write(character)
      w.advance('1 hour')
      await w.get('/readyz')
    }
    expect(await reply(client)).toMatch(/^HTTP\/1\.1 20[12] /)
    client.socket.destroy()
  })

  test('with an import is closed after silence', async () => {
    await using w = await listening({ CONNECTION_SILENCE_S: '0.1' })
    const list = (await w.post('/api/client/lists', { name: 'Silent', type: 'static' })).body.id
    const client = await open(
      w.port,
      `${head(w, `/api/client/lists/${list}/import`, 'Content-Type: text/csv\r\nContent-Length: 100')}external_id\n`,
    )
    await client.closed
    expect((await w.get(`/api/client/lists/${list}/imports`)).body.results ?? []).toEqual([])
  })
})

describe('connections', () => {
  const get = (path: string, address?: string) =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\n${address ? `X-Forwarded-For: ${address}\r\n` : ''}\r\n`
  const served = async (port: number, from?: string, sent = get('/version')) => {
    const client = await open(port, sent, from)
    await Promise.race([reply(client), client.closed])
    return { client, status: client.text().split(' ')[1] }
  }

  test.each<[string, (string | undefined)[], string | undefined, string]>([
    ['CONNECTIONS_MAX', [undefined, '127.0.0.2'], '127.0.0.3', 'process'],
    ['CONNECTIONS_PER_ADDRESS_MAX', [undefined, undefined], undefined, 'address'],
  ])('are at most %s', async (name, from, another, limit) => {
    await using w = await listening({ [name]: '2' })
    const clients = [await served(w.port, from[0]), await served(w.port, from[1])]
    const refused = await served(w.port, another)
    expect([...clients.map(({ status }) => status), refused.status]).toEqual(['200', '200', '503'])
    expect(refused.client.text()).toMatch(/^retry-after: 1\r$/im)
    await refused.client.closed
    expect((await w.get('/metrics', { key: null })).text).toContain(`app_http_connections_refused_total{limit="${limit}"} 1`)
    if (limit === 'address') {
      const elsewhere = await served(w.port, '127.0.0.2')
      expect(elsewhere.status).toBe('200')
      elsewhere.client.socket.destroy()
    }
    clients[0]?.client.socket.destroy()
    let again = await served(w.port, another)
    for (let tries = 0; again.status !== '200' && tries < 100; tries++) again = await served(w.port, another)
    expect(again.status).toBe('200')
    for (const { client } of [...clients, again]) client.socket.destroy()
  })

  test('over CONNECTIONS_MAX are served for probes only, and closed after the reply', async () => {
    await using w = await listening({ CONNECTIONS_MAX: '1' })
    const first = await served(w.port)
    for (const [path, status] of [
      ['/livez', '200'],
      ['/readyz?verbose', '200'],
      ['/healthz', '200'],
      ['/metrics', '200'],
      ['/version', '503'],
      ['/api/client/lists', '503'],
    ] as const) {
      const probe = await served(w.port, undefined, get(path))
      await probe.client.closed
      expect([path, probe.status]).toEqual([path, status])
      expect(probe.client.text()).toMatch(/^Connection: close\r$/im)
    }
    const silent = await Promise.all(Array.from({ length: 16 }, () => open(w.port)))
    expect((await served(w.port, undefined, get('/livez'))).status).toBe('503')
    w.advance('5 seconds')
    await Promise.all(silent.map(({ closed }) => closed))
    first.client.socket.destroy()
  })

  test('over CONNECTIONS_MAX have five seconds for the head of a request, however often a byte of it comes', async () => {
    await using w = await listening({ CONNECTIONS_MAX: '1' })
    const first = await served(w.port)
    const slow = await open(w.port, 'GET /livez HTTP/1.1\r\n')
    let isClosed = false
    void slow.closed.then(() => {
      isClosed = true
    })
    const drip = async (seconds: number) => {
      for (let second = 0; second < seconds && !isClosed; second++) {
        slow.socket.write('X')
        w.advance('1 second')
        await w.get('/readyz')
      }
    }
    await drip(4)
    expect(isClosed).toBe(false)
    await drip(16)
    expect([isClosed, slow.text()]).toEqual([true, ''])
    first.client.socket.destroy()
  })

  test('behind a proxy are those of the proxy, and requests of one forwarded address are limited', async () => {
    await using w = await listening({ CONNECTIONS_PER_ADDRESS_MAX: '2', TRUST_PROXY: '127.0.0.1' })
    const idle = [await served(w.port), await served(w.port), await served(w.port)]
    expect(idle.map(({ status }) => status)).toEqual(['200', '200', '200'])
    const slow = (address: string) => open(w.port, head(w, '/api/client/users/batch', `X-Forwarded-For: ${address}\r\nContent-Length: 100`))
    const sending = [await slow('192.0.2.1'), await slow('192.0.2.1')]
    const status = async (address: string) => {
      const { client, status } = await served(w.port, undefined, get('/version', address))
      client.socket.destroy()
      return status
    }
    let refused = await status('192.0.2.1')
    for (let tries = 0; refused !== '503' && tries < 100; tries++) refused = await status('192.0.2.1')
    expect([refused, await status('192.0.2.2')]).toEqual(['503', '200'])
    sending[0]?.socket.destroy()
    let again = await status('192.0.2.1')
    for (let tries = 0; again !== '200' && tries < 100; tries++) again = await status('192.0.2.1')
    expect(again).toBe('200')
    for (const { socket } of [...idle.map(({ client }) => client), ...sending]) socket.destroy()
  })
})
