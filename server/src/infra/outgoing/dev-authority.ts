/**
 * A certificate authority for a developer’s machine, so that the server and local receivers of webhooks can use HTTPS.
 * It encodes X.509 itself (RFC 5280), because two kinds of certificate do not justify a dependency.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import ipaddr from 'ipaddr.js'
import { DAY_MS, HOUR_MS } from '../../lib/times.ts'

/** The certificate in PEM, which clients must trust, and the key that signs. */
export type Authority = { cert: string; key: KeyObject }

const AUTHORITY_NAME = 'Carillon development authority'
const SERVER_NAME = 'Carillon development server'
const AUTHORITY_YEARS = 10
const CERTIFICATE_YEARS = 1

/**
 * Reads the authority from `dev-ca.pem` and `dev-ca.key` in `dir`, or creates it. Two processes that start at the same time get
 * the same one.
 */
export async function loadOrCreateAuthority(dir: string, now: Date): Promise<Authority> {
  await mkdir(dir, { recursive: true })
  const key = createPrivateKey(await readOrCreate(join(dir, 'dev-ca.key'), 0o600, () => toPem(newKey())))
  // The key was read from the file, so a certificate that another process wrote is for the same key.
  const cert = await readOrCreate(join(dir, 'dev-ca.pem'), 0o644, () => selfSigned(key, now))
  const parsed = new X509Certificate(cert)
  if (!parsed.checkPrivateKey(key) || parsed.validToDate <= now) {
    throw new Error(
      `The development certificate has expired or does not match its key. Delete dev-ca.pem and dev-ca.key in ${dir} and start again.`,
    )
  }
  return { cert, key }
}

/** Issues a certificate for a server with these host names and addresses. Certificate and key are in PEM. */
export async function issueCertificate(authority: Authority, hosts: string[], now: Date): Promise<{ cert: string; key: string }> {
  const key = newKey()
  const cert = certificate({
    subject: SERVER_NAME,
    publicKey: createPublicKey(key),
    signer: authority.key,
    now,
    years: CERTIFICATE_YEARS,
    extensions: [
      extension(OID.keyUsage, true, bits(0x80)),
      extension(OID.extendedKeyUsage, false, sequence(oid(OID.serverAuth))),
      extension(OID.subjectAltName, false, sequence(...hosts.map(generalName))),
    ],
  })
  return { cert, key: toPem(key) }
}

/** Reads the file, or creates it. A link is atomic, unlike a write. */
async function readOrCreate(path: string, mode: number, make: () => string): Promise<string> {
  const existing = await readIfExists(path)
  if (existing !== null) return existing
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  await writeFile(draft, make(), { mode, flag: 'wx' })
  try {
    await link(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(draft)
  }
  return readFile(path, 'utf8')
}

async function readIfExists(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const toPem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }) as string

const selfSigned = (key: KeyObject, now: Date) =>
  certificate({
    subject: AUTHORITY_NAME,
    publicKey: createPublicKey(key),
    signer: key,
    now,
    years: AUTHORITY_YEARS,
    // It may sign certificates, but no other authorities.
    extensions: [
      extension(OID.basicConstraints, true, sequence(tlv(0x01, Buffer.of(0xff)), integer(Buffer.of(0)))),
      extension(OID.keyUsage, true, bits(0x04)),
    ],
  })

type Certificate = { subject: string; publicKey: KeyObject; signer: KeyObject; now: Date; years: number; extensions: Buffer[] }

/** Creates an X.509 version 3 certificate in PEM, issued by the authority and signed with ECDSA and SHA-256. */
function certificate({ subject, publicKey, signer, now, years, extensions }: Certificate): string {
  const algorithm = sequence(oid(OID.ecdsaWithSha256))
  const identified = [
    ...extensions,
    extension(OID.subjectKeyIdentifier, false, tlv(0x04, keyId(publicKey))),
    extension(OID.authorityKeyIdentifier, false, sequence(tlv(0x80, keyId(createPublicKey(signer))))),
  ]
  const signed = sequence(
    tlv(0xa0, integer(Buffer.of(2))),
    integer(serialNumber()),
    algorithm,
    name(AUTHORITY_NAME),
    sequence(time(startOf(now)), time(yearsAfter(now, years))),
    name(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(...identified)),
  )
  const der = sequence(signed, algorithm, bitString(sign('sha256', signed, signer)))
  return new X509Certificate(der).toString()
}

// An hour early, because the clocks of machines and containers differ slightly.
const startOf = (now: Date) => new Date(now.getTime() - HOUR_MS)
const yearsAfter = (now: Date, years: number) => new Date(now.getTime() + years * 365 * DAY_MS)

const keyId = (key: KeyObject) =>
  createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest()

/** A random number that is positive and of full length. */
function serialNumber(): Buffer {
  const serial = randomBytes(16)
  serial[0] = (serial.readUInt8(0) & 0x3f) | 0x40
  return serial
}

// ASN.1 in DER (X.690): tag, length, value.

const OID = {
  ecdsaWithSha256: '2a8648ce3d040302',
  commonName: '550403',
  subjectKeyIdentifier: '551d0e',
  keyUsage: '551d0f',
  subjectAltName: '551d11',
  basicConstraints: '551d13',
  authorityKeyIdentifier: '551d23',
  extendedKeyUsage: '551d25',
  serverAuth: '2b06010505070301',
}

function tlv(tag: number, value: Buffer): Buffer {
  const { length } = value
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...size), value])
}

const sequence = (...items: Buffer[]) => tlv(0x30, Buffer.concat(items))
const integer = (bytes: Buffer) => tlv(0x02, bytes)
const oid = (hex: string) => tlv(0x06, Buffer.from(hex, 'hex'))
const bitString = (bytes: Buffer) => tlv(0x03, Buffer.concat([Buffer.of(0), bytes]))
/** A bit string of flags, without trailing zero bits. */
const bits = (flags: number) => tlv(0x03, Buffer.of(31 - Math.clz32(flags & -flags), flags))
/** A time with a two-digit year until 2049, and four digits after that (RFC 5280, 4.1.2.5). */
function time(at: Date): Buffer {
  const text = `${at.toISOString().replace(/\D/g, '').slice(0, 14)}Z`
  return text < '2050' ? tlv(0x17, Buffer.from(text.slice(2))) : tlv(0x18, Buffer.from(text))
}
const name = (text: string) => sequence(tlv(0x31, sequence(oid(OID.commonName), tlv(0x0c, Buffer.from(text)))))
const extension = (id: string, critical: boolean, value: Buffer) =>
  sequence(oid(id), ...(critical ? [tlv(0x01, Buffer.of(0xff))] : []), tlv(0x04, value))
const generalName = (host: string) =>
  isIP(host) === 0 ? tlv(0x82, Buffer.from(host)) : tlv(0x87, Buffer.from(ipaddr.parse(host).toByteArray()))
