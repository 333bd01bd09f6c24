/** DANE for SMTP (D-MTA-23, RFC 7672): does a certificate agree with the TLSA records of a host? Pure. */
import { createHash, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'

/** A TLSA record (RFC 6698). */
export type TlsaRecord = { usage: number; selector: number; matchingType: number; data: Buffer }

/** The usages that SMTP has: a certificate that issued that of the host, and that of the host itself (RFC 7672 §3.1). */
const ISSUER = 2
const HOST = 3

const DIGESTS: Record<number, { algorithm: string; bytes: number }> = {
  1: { algorithm: 'sha256', bytes: 32 },
  2: { algorithm: 'sha512', bytes: 64 },
}

/**
 * The records that can be used. A host that has records, but none of these, gets mail over TLS only, and with any certificate (RFC 7672
 * §2.2).
 */
export const usableTlsa = (records: readonly TlsaRecord[]): TlsaRecord[] =>
  records.filter(
    ({ usage, selector, matchingType, data }) =>
      (usage === ISSUER || usage === HOST) &&
      (selector === 0 || selector === 1) &&
      (matchingType === 0 ? data.length > 0 : data.length === DIGESTS[matchingType]?.bytes),
  )

/** The name under which a host has its TLSA records. */
export const tlsaNameOf = (host: string, port = 25) => `_${port}._tcp.${host}`

/**
 * Whether a certificate is one that the records permit. `chain` is what the host presented (DER), its own certificate first. `names` are
 * the names that the certificate may have: that of the host, and the domain of the recipient. They matter for issuers only: a record for
 * the certificate itself replaces its names and its dates (RFC 7672 §3.1.1).
 */
export function danePermits(chain: readonly Buffer[], records: readonly TlsaRecord[], names: readonly string[], now: Date): boolean {
  const certificates = chain.map(parsed)
  const [own] = certificates
  if (!own) return false
  const usable = usableTlsa(records)
  if (usable.some((record) => record.usage === HOST && matches(own, record))) return true
  const issuers = usable.filter(({ usage }) => usage === ISSUER)
  return issuers.length > 0 && names.some((name) => own.checkHost(name) !== undefined) && isIssued(certificates, issuers, now)
}

/** Follows the signatures upwards until a certificate, or the key that signed it, is in a record. */
function isIssued(chain: readonly (X509Certificate | null)[], records: readonly TlsaRecord[], now: Date): boolean {
  for (const [index, certificate] of chain.entries()) {
    if (!certificate || certificate.validFromDate > now || certificate.validToDate <= now) return false
    // The host may leave out an issuer that is in the record as a whole.
    if (records.some((record) => isSignedBy(certificate, wholeKeyOf(record)))) return true
    const issuer = chain[index + 1]
    if (!issuer?.ca || !certificate.checkIssued(issuer) || !isSignedBy(certificate, keyOf(issuer))) return false
    if (records.some((record) => matches(issuer, record))) return issuer.validFromDate <= now && issuer.validToDate > now
  }
  return false
}

function matches(certificate: X509Certificate, { selector, matchingType, data }: TlsaRecord): boolean {
  const selected = selector === 0 ? certificate.raw : keyOf(certificate)?.export({ type: 'spki', format: 'der' })
  const digest = DIGESTS[matchingType]
  return selected !== undefined && data.equals(digest ? createHash(digest.algorithm).update(selected).digest() : selected)
}

/** The key of a certificate. Null if it is of a kind that is not supported. */
function keyOf(certificate: X509Certificate): KeyObject | null {
  try {
    return certificate.publicKey
  } catch {
    return null
  }
}

/** The key of a record that has all of it, or null. */
function wholeKeyOf({ selector, matchingType, data }: TlsaRecord): KeyObject | null {
  if (matchingType !== 0) return null
  try {
    return selector === 0 ? new X509Certificate(data).publicKey : createPublicKey({ key: data, format: 'der', type: 'spki' })
  } catch {
    return null
  }
}

const isSignedBy = (certificate: X509Certificate, key: KeyObject | null): boolean => {
  try {
    return key !== null && certificate.verify(key)
  } catch {
    // The key is of another kind than the signature.
    return false
  }
}

function parsed(der: Buffer): X509Certificate | null {
  try {
    return new X509Certificate(der)
  } catch {
    return null
  }
}
