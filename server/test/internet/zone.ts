/** What the fake DNS knows: records by name, and the faults of names. Names are in lower case, without a final dot. */
import type { TlsaData } from 'dns-packet'

/** The records of a name. `ttlS` is 300 without one. `isSecure` sets the AD bit, as a resolver that validates does. */
export type ZoneRecords = {
  mx?: [preference: number, host: string][]
  a?: string[]
  aaaa?: string[]
  txt?: (string | string[])[]
  cname?: string
  ptr?: string[]
  tlsa?: TlsaData[]
  ttlS?: number
  isSecure?: boolean
}

/**
 * What goes wrong when a name is asked for.
 *
 * - `nxdomain`, `nodata`, `servfail`, `refused`: these answers. `timeout`: none.
 * - `truncated`: the answer over UDP is empty and has the TC bit; over TCP it is complete.
 * - `lame`: a referral to other name servers, as from a server that is not responsible and does not ask others.
 * - `delayMs`: the right answer, late. `raw`: these bytes; return an empty array for several or no datagrams of your own making.
 */
export type DnsFault =
  | 'nxdomain'
  | 'nodata'
  | 'servfail'
  | 'refused'
  | 'timeout'
  | 'truncated'
  | 'lame'
  | { delayMs: number }
  | { raw: (query: Buffer) => Buffer[] }

export type Zone = Map<string, ZoneRecords>

export const zoneName = (name: string) => name.toLowerCase().replace(/\.$/, '')
