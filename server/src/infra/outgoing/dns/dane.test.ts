import { createHash, X509Certificate } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { danePermits, type TlsaRecord, tlsaNameOf, usableTlsa } from '../../../lib/dane.ts'
import { DAY_MS } from '../../../lib/times.ts'
import { type Authority, issueCertificate, loadOrCreateAuthority } from '../dev-authority.ts'

const NOW = new Date('2026-11-22T12:00:00Z')
const HOST = 'mx.example.com'

let dir: string
let authority: X509Certificate
let host: X509Certificate
let other: X509Certificate
let expired: X509Certificate

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'carillon-dane-'))
  const made: Authority = await loadOrCreateAuthority(dir, NOW)
  const issue = async (names: string[], at = NOW) => new X509Certificate((await issueCertificate(made, names, at)).cert)
  authority = new X509Certificate(made.cert)
  host = await issue([HOST])
  other = await issue(['another.example.com'])
  expired = await issue([HOST], new Date(NOW.getTime() - 800 * DAY_MS))
})
afterAll(() => rm(dir, { recursive: true }))

/** A record for a certificate. */
function record(certificate: X509Certificate, usage: number, selector: number, matchingType: number): TlsaRecord {
  const selected = selector === 0 ? certificate.raw : certificate.publicKey.export({ type: 'spki', format: 'der' })
  const digest = ['', 'sha256', 'sha512'][matchingType]
  return { usage, selector, matchingType, data: digest ? createHash(digest).update(selected).digest() : selected }
}

const permits = (chain: X509Certificate[], records: TlsaRecord[], names = [HOST]) =>
  danePermits(
    chain.map(({ raw }) => raw),
    records,
    names,
    NOW,
  )

const KINDS = [0, 1].flatMap((selector) => [0, 1, 2].map((matchingType) => [selector, matchingType] as const))

describe('a record of the certificate itself', () => {
  test.each(KINDS)('with selector %i and matching type %i permits it, and no other', (selector, matchingType) => {
    expect(permits([host], [record(host, 3, selector, matchingType)])).toBe(true)
    expect(permits([host, authority], [record(other, 3, selector, matchingType)])).toBe(false)
  })

  test('replaces its names and its dates', () => {
    expect(permits([other], [record(other, 3, 1, 1)])).toBe(true)
    expect(permits([expired], [record(expired, 3, 1, 1)])).toBe(true)
  })
})

describe('a record of an issuer', () => {
  test.each(KINDS)('with selector %i and matching type %i permits what it issued', (selector, matchingType) => {
    expect(permits([host, authority], [record(authority, 2, selector, matchingType)])).toBe(true)
    expect(permits([host, authority], [record(other, 2, selector, matchingType)])).toBe(false)
  })

  test('permits it without the issuer in the chain only if the record is the whole of it', () => {
    expect(permits([host], [record(authority, 2, 0, 0)])).toBe(true)
    expect(permits([host], [record(authority, 2, 1, 0)])).toBe(true)
    expect(permits([host], [record(authority, 2, 0, 1)])).toBe(false)
  })

  test('does not replace the name nor the dates', () => {
    expect(permits([other, authority], [record(authority, 2, 1, 1)])).toBe(false)
    expect(permits([other, authority], [record(authority, 2, 1, 1)], [HOST, 'another.example.com'])).toBe(true)
    expect(permits([expired, authority], [record(authority, 2, 1, 1)])).toBe(false)
  })

  test('does not permit a certificate that the issuer merely came with', async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'carillon-dane-'))
    const foreign = await issueCertificate(await loadOrCreateAuthority(elsewhere, NOW), [HOST], NOW)
    await rm(elsewhere, { recursive: true })
    expect(permits([new X509Certificate(foreign.cert), authority], [record(authority, 2, 1, 1)])).toBe(false)
    // Forged: it names the issuer, and was not signed by it.
    const forged = Buffer.from(host.raw)
    forged[forged.length - 1] = (forged.at(-1) as number) ^ 1
    expect(danePermits([forged, authority.raw], [record(authority, 2, 1, 1)], [HOST], NOW)).toBe(false)
    expect(danePermits([host.raw, authority.raw], [record(authority, 2, 1, 1)], [HOST], NOW)).toBe(true)
  })
})

describe('records of other kinds', () => {
  test.each<[string, Partial<TlsaRecord>]>([
    ['for authorities that clients know', { usage: 0 }],
    ['for certificates that clients verify too', { usage: 1 }],
    ['with an unknown selector', { selector: 2 }],
    ['with an unknown matching type', { matchingType: 3 }],
    ['with a digest of another length', { data: Buffer.alloc(20) }],
    ['with nothing', { matchingType: 0, data: Buffer.alloc(0) }],
  ])('%s are not usable, and permit nothing', (_, change) => {
    const unusable = { ...record(host, 3, 1, 1), ...change }
    expect(usableTlsa([unusable, record(host, 3, 1, 1)])).toEqual([record(host, 3, 1, 1)])
    expect(permits([host], [unusable])).toBe(false)
  })

  test('that are garbage permit nothing, and nor does a chain that is', () => {
    const garbage = Buffer.from('no certificate')
    expect(permits([host], [{ usage: 2, selector: 0, matchingType: 0, data: garbage }])).toBe(false)
    expect(permits([host], [{ usage: 2, selector: 1, matchingType: 0, data: garbage }])).toBe(false)
    expect(danePermits([garbage], [record(host, 3, 1, 1)], [HOST], NOW)).toBe(false)
    expect(danePermits([host.raw, garbage], [record(authority, 2, 1, 1)], [HOST], NOW)).toBe(false)
    expect(danePermits([], [record(host, 3, 1, 1)], [HOST], NOW)).toBe(false)
  })
})

test('records are under the port and the protocol', () => {
  expect(tlsaNameOf(HOST)).toBe('_25._tcp.mx.example.com')
})
