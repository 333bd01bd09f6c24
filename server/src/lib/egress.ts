/** Where connections to hosts that a caller chose may go (D-SSRF). Addresses are judged, never names. */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ReturnType<typeof ipaddr.process>

/** The ranges that may be reached although they are private or reserved. */
export type EgressPolicy = { readonly allowed: readonly [Address, number][] }

/** Every address of a host name, in the order of the resolver. Rejects when the name does not resolve. */
export type HostLookup = (host: string) => Promise<{ address: string; family: number }[]>

/** A policy that opens these CIDR ranges, such as `127.0.0.0/8`, beside the public internet. */
export function egressPolicy(allowCidrs: string[]): EgressPolicy {
  return { allowed: allowCidrs.map(parseCidr) }
}

function parseCidr(text: string): [Address, number] {
  const [address = '', prefix = ''] = text.split('/')
  // Stricter than the library, which also reads `10.1/8` and octal.
  if (isIP(address) === 0 || address.includes('%') || !/^\d{1,3}$/.test(prefix) || !ipaddr.isValidCIDR(text)) {
    throw new Error(`\`${text}\` is not an address range; write it as \`10.0.0.0/8\` or \`fd00::/8\`.`)
  }
  return ipaddr.parseCIDR(text)
}

/** May this address be dialled? Text that is not an address may not. */
export function isAllowedAddress(policy: EgressPolicy, ip: string): boolean {
  if (!ipaddr.isValid(ip)) return false
  // `process` looks through IPv4 addresses that are mapped into IPv6.
  const address = ipaddr.process(ip)
  return address.range() === 'unicast' || policy.allowed.some((range) => contains(range, address))
}

const contains = ([base, prefix]: [Address, number], address: Address) => base.kind() === address.kind() && address.match(base, prefix)
