import ipaddr from 'ipaddr.js'

/** The name under which the names of an address are found (RFC 1035 §3.5, RFC 3596 §2.5). */
export function reverseName(address: string): string {
  const bytes = ipaddr.process(address).toByteArray()
  if (bytes.length === 4) return `${bytes.reverse().join('.')}.in-addr.arpa`
  const digits = bytes.flatMap((byte) => [byte >> 4, byte & 15]).map((digit) => digit.toString(16))
  return `${digits.reverse().join('.')}.ip6.arpa`
}
