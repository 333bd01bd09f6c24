/** What delivery learns from the DNS. Faults of the DNS are answers, not errors. */
import type { TlsaRecord } from '../../../lib/dane.ts'

/** One host that takes the email of a domain. */
export type MxHost = { host: string; preference: number }

/**
 * Where the email of a domain goes.
 *
 * - `hosts`: all of them, in the order in which they are to be tried; those of equal preference are shuffled. `isImplicit`: the domain
 *   has no MX records and is its own host (RFC 5321 §5.1). `isSecure`: a validating resolver says that the answer is authentic.
 * - `null-mx`: the domain takes no email (RFC 7505).
 * - `no-domain`: the domain does not exist, or has neither MX records nor addresses.
 * - `failed`: there was no usable answer, so that a later attempt may have one.
 */
export type MxAnswer =
  | { is: 'hosts'; hosts: MxHost[]; isImplicit: boolean; isSecure: boolean; ttlS: number }
  | { is: 'null-mx' }
  | { is: 'no-domain'; reason: string }
  | { is: 'failed'; reason: string }

/** The addresses of a host: at most two, IPv4 first, in random order. `none`: the host does not exist, or has no address that is usable. */
export type AddressAnswer =
  | { is: 'addresses'; addresses: string[]; isSecure: boolean }
  | { is: 'none'; reason: string }
  | { is: 'failed'; reason: string }

/** The authentic TLSA records of a name. Records that were not validated are `none`; `failed` must not lead to a delivery in clear text. */
export type TlsaAnswer = { is: 'records'; records: TlsaRecord[] } | { is: 'none' } | { is: 'failed'; reason: string }
