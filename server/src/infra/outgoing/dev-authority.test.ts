import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DAY_MS } from '../../lib/times.ts'
import { issueCertificate, loadOrCreateAuthority } from './dev-authority.ts'

const now = new Date(performance.timeOrigin)
let dir = ''

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'authority-'))
})
afterAll(() => rm(dir, { recursive: true }))

describe('the authority', () => {
  test('is created once, even if processes start at the same time', async () => {
    const home = join(dir, 'together')
    const made = await Promise.all(Array.from({ length: 8 }, () => loadOrCreateAuthority(home, now)))
    const again = await loadOrCreateAuthority(home, now)
    expect(new Set([...made, again].map(({ cert }) => cert)).size).toBe(1)
    expect(new X509Certificate(again.cert).checkPrivateKey(again.key)).toBe(true)
  })

  test('has a key that only its owner can read, and leaves no temporary files', async () => {
    const home = join(dir, 'private')
    await loadOrCreateAuthority(home, now)
    expect((await readdir(home)).sort()).toEqual(['dev-ca.key', 'dev-ca.pem'])
    expect((await stat(join(home, 'dev-ca.key'))).mode & 0o777).toBe(0o600)
  })

  test('is valid for ten years and self-signed', async () => {
    const { cert } = await loadOrCreateAuthority(join(dir, 'form'), now)
    const parsed = new X509Certificate(cert)
    expect(parsed.ca).toBe(true)
    expect(parsed.verify(parsed.publicKey)).toBe(true)
    expect(parsed.checkIssued(parsed)).toBe(true)
    expect(parsed.validFromDate.getTime()).toBeLessThan(now.getTime())
    expect(yearsUntil(parsed.validToDate)).toBeCloseTo(10, 1)
  })

  test('reports what to do if its key is missing', async () => {
    const home = join(dir, 'lost')
    await loadOrCreateAuthority(home, now)
    await rm(join(home, 'dev-ca.key'))
    await expect(loadOrCreateAuthority(home, now)).rejects.toThrow('Delete dev-ca.pem and dev-ca.key')
  })

  test('reports what to do if it has expired', async () => {
    const home = join(dir, 'old')
    await loadOrCreateAuthority(home, new Date('2010-01-01T00:00:00Z'))
    await expect(loadOrCreateAuthority(home, now)).rejects.toThrow('expired')
  })
})

describe('a certificate it issues', () => {
  test('is valid for a year, for a server and its hosts', async () => {
    const authority = await loadOrCreateAuthority(join(dir, 'hosts'), now)
    const { cert } = await issueCertificate(authority, ['localhost', '127.0.0.1', '::1'], now)
    const parsed = new X509Certificate(cert)
    expect(parsed.ca).toBe(false)
    expect(parsed.subjectAltName).toBe('DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1')
    expect(parsed.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
    expect(parsed.checkIssued(new X509Certificate(authority.cert))).toBe(true)
    expect(yearsUntil(parsed.validToDate)).toBeCloseTo(1, 1)
  })

  test('has correct dates after 2049', async () => {
    const authority = await loadOrCreateAuthority(join(dir, 'far'), now)
    const { cert } = await issueCertificate(authority, ['localhost'], new Date('2049-06-01T12:00:00Z'))
    const { validFromDate, validToDate } = new X509Certificate(cert)
    expect([validFromDate, validToDate]).toEqual([new Date('2049-06-01T11:00:00Z'), new Date('2050-06-01T12:00:00Z')])
  })

  test.each([
    ['localhost', true, undefined],
    ['127.0.0.1', true, undefined],
    ['other.example', true, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['localhost', false, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ])('is verified by a client that connects to %s and trusts the authority: %s', async (host, trusts, problem) => {
    const authority = await loadOrCreateAuthority(join(dir, 'served'), now)
    const stranger = await loadOrCreateAuthority(join(dir, 'stranger'), now)
    const server = createServer(await issueCertificate(authority, ['localhost', '127.0.0.1'], now), (_, reply) => reply.end())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    expect(await handshake(port, host, (trusts ? authority : stranger).cert)).toBe(problem)
    server.close()
  })
})

const yearsUntil = (date: Date) => (date.getTime() - now.getTime()) / (365 * DAY_MS)

/** Connects with this root certificate only. Returns the error code, if any. */
function handshake(port: number, host: string, ca: string): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const name = host === '127.0.0.1' ? {} : { servername: host }
  const socket = connect({ port, host: '127.0.0.1', ca, ...name })
  socket.on('secureConnect', () => {
    resolve(undefined)
    socket.destroy()
  })
  socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code))
  return promise
}
