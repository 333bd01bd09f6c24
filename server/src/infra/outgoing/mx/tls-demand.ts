/** What TLS with a mail host must prove: by its TLSA records (RFC 7672), by the MTA-STS policy of the domain (RFC 8461), or nothing. */
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls'
import type { Clock } from '../../../lib/clock.ts'
import { danePermits, type TlsaRecord, tlsaNameOf, usableTlsa } from '../../../lib/dane.ts'
import { matchesMx } from '../../../lib/mta-sts.ts'
import type { MailResolver } from '../dns/mail-resolver.ts'
import type { Route, SiteLimits } from './outcome.ts'

/** `required`: any certificate will do, unless `refusesCertificate`. `verified`: one that is valid for the name of the host. */
export type TlsDemand = {
  tls: 'if offered' | 'required' | 'verified'
  refusesCertificate?: (tls: TLSSocket) => string | null
  dane: 'unchecked' | 'none' | 'records'
}

type Tools = { resolver: Pick<MailResolver, 'tlsa'>; clock: Clock }
type About = { route: Route; limits: SiteLimits; host: string; isSecure: boolean }

/** Why TLS with a host cannot be trusted with mail. `isDane`: because of its TLSA records. */
export type Untrusted = { reason: string; isDane?: true }

/** Returns what TLS with a host must prove, or why it cannot be trusted with mail. DANE replaces MTA-STS (D-MTA-23). */
export async function tlsDemandOf(tools: Tools, { route, limits, host, isSecure }: About): Promise<TlsDemand | Untrusted> {
  const answer = route.isSecure && isSecure ? await tools.resolver.tlsa(tlsaNameOf(host)) : { is: 'none' as const }
  if (answer.is === 'failed') return { reason: `The TLSA records of the host are not known: ${answer.reason}`, isDane: true }
  if (answer.is === 'records') return daneDemand(tools.clock, answer.records, [host, route.domain])
  const dane = route.isSecure ? 'none' : 'unchecked'
  if (route.enforcedHosts && !matchesMx(route.enforcedHosts, host))
    return { reason: 'The MTA-STS policy of the domain does not name the host.' }
  return { tls: route.enforcedHosts ? 'verified' : limits.isTlsRequired ? 'required' : 'if offered', dane }
}

/** Records that say nothing usable still ask for TLS (RFC 7672 §2.2). */
function daneDemand(clock: Clock, records: TlsaRecord[], names: string[]): TlsDemand {
  if (usableTlsa(records).length === 0) return { tls: 'required', dane: 'records' }
  return {
    tls: 'required',
    dane: 'records',
    refusesCertificate: (tls) =>
      danePermits(chainOf(tls), records, names, clock.now()) ? null : 'The certificate of the host does not match its TLSA records',
  }
}

const CHAIN_MAX = 10

/** The certificates of an open connection (DER), that of the host first. */
function chainOf(tls: TLSSocket): Buffer[] {
  const chain: Buffer[] = []
  let certificate: DetailedPeerCertificate | undefined = tls.getPeerCertificate(true)
  while (certificate?.raw && chain.length < CHAIN_MAX && !chain.some((raw) => raw.equals(certificate?.raw as Buffer))) {
    chain.push(certificate.raw)
    certificate = certificate.issuerCertificate
  }
  return chain
}
