/** The certificates of fake hosts, good and bad. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSecureContext, type SecureContext } from 'node:tls'
import { type Authority, issueCertificate, loadOrCreateAuthority } from '../../src/infra/outgoing/dev-authority.ts'
import { DAY_MS } from '../../src/lib/times.ts'

/**
 * How a host does TLS.
 *
 * - `valid`: a certificate for its name, of the authority that tests trust. `wrong-name`, `expired`, `self-signed`: a bad one; the last is
 *   issued by an authority that nothing trusts.
 * - `no-common-version`: it speaks TLS 1.1 at most. `garbage`: it answers the handshake with text. `closes`: with the end of the connection.
 */
export type TlsVariant = 'valid' | 'wrong-name' | 'expired' | 'self-signed' | 'no-common-version' | 'garbage' | 'closes'

export type Certificate = { cert: string; key: string }

export type Certificates = {
  /** The authority that issues the good ones, in PEM. */
  ca: string
  /** The certificate for a host, the same one each time. */
  of(name: string, variant: TlsVariant): Promise<Certificate>
  contextOf(name: string, variant: TlsVariant): Promise<SecureContext>
}

const EXPIRED_DAYS = 800

/** Opens the authority in a folder, and one that nothing trusts. */
export async function openCertificates(authorityDir: string): Promise<Certificates> {
  const now = new Date()
  const trusted = await loadOrCreateAuthority(authorityDir, now)
  const untrusted = await untrustedAuthority(now)
  const issued = new Map<string, Promise<Certificate>>()
  const issue = (name: string, variant: TlsVariant): Promise<Certificate> => {
    if (variant === 'wrong-name') return issueCertificate(trusted, ['another.test'], now)
    if (variant === 'expired') return issueCertificate(trusted, [name], new Date(now.getTime() - EXPIRED_DAYS * DAY_MS))
    return issueCertificate(variant === 'self-signed' ? untrusted : trusted, [name], now)
  }
  const of = (name: string, variant: TlsVariant) => {
    const key = `${variant} ${name}`
    const certificate = issued.get(key) ?? issue(name, variant)
    issued.set(key, certificate)
    return certificate
  }
  return {
    ca: trusted.cert,
    of,
    async contextOf(name, variant) {
      const { cert, key } = await of(name, variant)
      const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
      return createSecureContext({ cert, key, ...(variant === 'no-common-version' && old) })
    },
  }
}

async function untrustedAuthority(now: Date): Promise<Authority> {
  const dir = await mkdtemp(join(tmpdir(), 'carillon-untrusted-'))
  try {
    return await loadOrCreateAuthority(dir, now)
  } finally {
    await rm(dir, { recursive: true })
  }
}
