/** Which addresses the server may connect to when a caller chose the host (D-SSRF). Checks addresses, never names. */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ReturnType<typeof ipaddr.process>

/** Private or reserved ranges that are allowed. */
export type EgressPolicy = { readonly allowed: readonly [Address, number][] }

/** Returns every address of a host name, in the order of the resolver. Rejects if the name does not resolve. */
export type HostLookup = (host: string) => Promise<{ address: string; family: number }[]>

/** A policy that allows the public internet and these CIDR ranges, such as `127.0.0.0/8`. */
export function egressPolicy(allowCidrs: string[]): EgressPolicy {
  return { allowed: allowCidrs.map(parseCidr) }
}

function parseCidr(text: string): [Address, number] {
  const [address = '', prefix = ''] = text.split('/')
  // The library also accepts `10.1/8` and octal numbers.
  if (isIP(address) === 0 || address.includes('%') || !/^\d{1,3}$/.test(prefix) || !ipaddr.isValidCIDR(text)) {
    throw new Error(`\`${text}\` is not an address range; write it as \`10.0.0.0/8\` or \`fd00::/8\`.`)
  }
  return ipaddr.parseCIDR(text)
}

/** May the server connect to this address? False for text that is not an address. */
export function isAllowedAddress(policy: EgressPolicy, ip: string): boolean {
  if (!ipaddr.isValid(ip)) return false
  // `process` turns an IPv4 address mapped into IPv6 back into IPv4.
  const address = ipaddr.process(ip)
  return address.range() === 'unicast' || policy.allowed.some((range) => contains(range, address))
}

const contains = ([base, prefix]: [Address, number], address: Address) => base.kind() === address.kind() && address.match(base, prefix)
