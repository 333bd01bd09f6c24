/** What the DNS says about where email goes, as delivery asks for it. Failures are answers: nothing here rejects. */

/** One host that takes the email of a domain. */
export type MxHost = { host: string; preference: number }

/**
 * Where the email of a domain goes.
 *
 * - `hosts`: at most five, in the order in which they are to be tried; those of equal preference are shuffled. `isImplicit`: the domain
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

/** The addresses of a host: at most two, IPv4 first. They are not checked by an egress policy. */
export type AddressAnswer =
  | { is: 'addresses'; addresses: string[]; isSecure: boolean }
  | { is: 'none'; reason: string }
  | { is: 'failed'; reason: string }

/** A TLSA record (RFC 6698). */
export type TlsaRecord = { usage: number; selector: number; matchingType: number; data: Buffer }

/** The authentic TLSA records of a name. Records that were not validated are `none`; `failed` must not lead to a delivery in clear text. */
export type TlsaAnswer = { is: 'records'; records: TlsaRecord[] } | { is: 'none' } | { is: 'failed'; reason: string }

/** The policy by which a domain asks for TLS (RFC 8461). `mx` are patterns for names of hosts. */
export type MtaStsPolicy = { id: string; mode: 'enforce' | 'testing' | 'none'; mx: string[]; maxAgeS: number }

export type MailResolver = {
  mx(domain: string): Promise<MxAnswer>
  addresses(host: string): Promise<AddressAnswer>
  /** The strings of each record, joined. */
  txt(name: string): Promise<string[] | 'none' | 'failed'>
  tlsa(name: string): Promise<TlsaAnswer>
  /** The policy that applies now, or null. */
  policy(domain: string): Promise<MtaStsPolicy | null>
}
