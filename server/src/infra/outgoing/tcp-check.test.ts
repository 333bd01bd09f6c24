import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openListener } from '../../../test/listener.ts'
import { egressPolicy, type HostLookup } from '../../lib/egress.ts'
import { tcpCheck } from './tcp-check.ts'

const open = egressPolicy(['127.0.0.0/8', '::1/128'])
const closed = egressPolicy([])
const server = createServer((socket) => socket.end())
let port = 0
let closedPort = 0

beforeAll(async () => {
  port = await listen(server)
  const other = createServer()
  closedPort = await listen(other)
  other.close()
})
afterAll(() => {
  server.close()
})

async function listen(server: ReturnType<typeof createServer>): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

const names =
  (...addresses: string[]): HostLookup =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
const noSuchName: HostLookup = async () => {
  throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' })
}

describe('a check of a host', () => {
  test('succeeds if the port accepts connections, and sends nothing', async () => {
    const received = new Promise<number>((resolve) => {
      server.once('connection', (socket) => socket.on('close', () => resolve(socket.bytesRead)).resume())
    })
    expect(await tcpCheck({ host: '127.0.0.1', port, policy: open })).toBe('success')
    expect(await received).toBe(0)
  })

  test('is refused if the port does not accept connections', async () => {
    expect(await tcpCheck({ host: '127.0.0.1', port: closedPort, policy: open })).toBe('refused')
  })

  test.each(['127.0.0.1', '[::1]', '::ffff:127.0.0.1', '10.0.0.1', '169.254.169.254'])('is blocked by the policy: %s', async (host) => {
    expect(await tcpCheck({ host, port, policy: closed })).toBe('blocked')
  })

  test.each(['localhost', '127.1', '2130706433', '0x7f.1'])('is blocked because of the address of the name: %s', async (host) => {
    expect(await tcpCheck({ host, port, policy: closed })).toBe('blocked')
  })

  test('connects only to allowed addresses', async () => {
    const lookup = names('10.0.0.1', '192.168.1.1', 'fd00::1', '169.254.169.254', '127.0.0.1')
    expect(await tcpCheck({ host: 'example.com', port, policy: open, lookup })).toBe('success')
  })

  test.each([
    ['refuses all, when none is allowed', ['127.0.0.2'], 'blocked'],
    ['goes past those before an allowed one', ['127.0.0.2', '127.0.0.1'], 'success'],
    ['does not turn to those after an allowed one that refuses', ['127.0.0.3', '127.0.0.2'], 'refused'],
  ])('connects to no forbidden address: it %s', async (_, addresses, expected) => {
    await using forbidden = await openListener('127.0.0.2', port)
    const policy = egressPolicy(['127.0.0.1/32', '127.0.0.3/32'])
    expect(await tcpCheck({ host: 'example.com', port, policy, lookup: names(...addresses) })).toBe(expected)
    expect(await forbidden.connections()).toBe(0)
  })

  test('tries the next address if one refuses', async () => {
    const lookup = names('127.0.0.2', '127.0.0.1')
    expect(await tcpCheck({ host: 'example.com', port, policy: open, lookup })).toBe('success')
  })

  test('tries at most three addresses', async () => {
    const lookup = names('127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.1')
    expect(await tcpCheck({ host: 'example.com', port, policy: open, lookup })).toBe('refused')
  })

  test('reports that the name does not resolve', async () => {
    expect(await tcpCheck({ host: 'nowhere.example', port, policy: open, lookup: noSuchName })).toBe('dns_error')
    expect(await tcpCheck({ host: 'nowhere.example', port, policy: open, lookup: names() })).toBe('dns_error')
  })

  test('limits the time for resolving the name', async () => {
    const limits = { lookupMs: 30, connectMs: 5000, totalMs: 10_000 }
    const lookup: HostLookup = () => new Promise(() => {})
    expect(await tcpCheck({ host: 'slow.example', port, policy: open, lookup, limits })).toBe('dns_error')
  })
})

// A listener that never accepts: the kernel completes a few connections and does not respond to others.
const DEAF_LISTENER = `
  const { parentPort } = require('node:worker_threads')
  const server = require('node:net').createServer()
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port)
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))
  })`

describe('a host that does not respond', () => {
  let worker: Worker
  let waiting: Socket[] = []
  let deafPort = 0

  beforeAll(async () => {
    worker = new Worker(DEAF_LISTENER, { eval: true })
    ;[deafPort] = await once(worker, 'message')
    waiting = Array.from({ length: 8 }, () => connect(deafPort, '127.0.0.1'))
  })
  afterAll(async () => {
    for (const socket of waiting) socket.destroy()
    await worker.terminate()
  })

  test.each([
    ['one address', { lookupMs: 3000, connectMs: 50, totalMs: 10_000 }],
    ['all addresses', { lookupMs: 3000, connectMs: 5000, totalMs: 50 }],
  ])('times out at the limit for %s', async (_, limits) => {
    const lookup = names('127.0.0.1', '127.0.0.1')
    expect(await tcpCheck({ host: 'example.com', port: deafPort, policy: open, lookup, limits })).toBe('timeout')
  })
})
