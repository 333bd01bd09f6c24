/** Which addresses the server may connect to when a caller chose the host (D-SSRF). Checks addresses, never names. */
import { isIP, isIPv4 } from 'node:net'
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

/** Is the text an IP address? */
export const isAddress = (text: string): boolean => isIP(text) !== 0

/** Is the text a range of addresses, such as `10.0.0.0/8` or `fd00::/8`? */
export function isAddressRange(text: string): boolean {
  const [address = '', prefix = '', ...more] = text.split('/')
  // The library also accepts `10.1/8` and octal numbers.
  return isIP(address) !== 0 && !address.includes('%') && /^\d{1,3}$/.test(prefix) && more.length === 0 && ipaddr.isValidCIDR(text)
}

function parseCidr(text: string): [Address, number] {
  const [address = '', prefix = ''] = text.split('/')
  if (!isAddressRange(text)) throw new Error(`\`${text}\` is not an address range; write it as \`10.0.0.0/8\` or \`fd00::/8\`.`)
  return ipaddr.parseCIDR(`${inHexadecimal(address)}/${prefix}`)
}

/** May the server connect to this address? False for text that is not an address. */
export function isAllowedAddress(policy: EgressPolicy, ip: string): boolean {
  if (!ipaddr.isValid(ip)) return false
  // `process` turns an IPv4 address mapped into IPv6 back into IPv4.
  const address = ipaddr.process(inHexadecimal(ip))
  return isPublic(address) || policy.allowed.some((range) => contains(range, address))
}

/** An IPv6 address without a dotted part: the library reads `::8.8.8.8` as `::ffff:8.8.8.8`, which is another address. */
function inHexadecimal(ip: string): string {
  const at = ip.lastIndexOf(':') + 1
  const [dotted = '', zone] = ip.slice(at).split('%')
  if (at === 0 || !isIPv4(dotted)) return ip
  const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number)
  const groups = [a * 256 + b, c * 256 + d].map((group) => group.toString(16))
  return `${ip.slice(0, at)}${groups.join(':')}${zone === undefined ? '' : `%${zone}`}`
}

/**
 * The only IPv6 addresses that are assigned. Outside of it are, among others, the forms that contain an IPv4 address and that a gateway
 * may translate to it: `::/96`, `::ffff:0:0/96`, `::ffff:0:0:0/96`, `64:ff9b::/96` and `64:ff9b:1::/48`.
 */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')
/** Assignments to protocols, with Teredo; an operator allows those in use. The library knows them only in part. */
const PROTOCOL_ASSIGNMENTS = ipaddr.parseCIDR('2001::/23')

const isPublic = (address: Address): boolean =>
  address.range() === 'unicast' &&
  (address.kind() === 'ipv4' || (contains(GLOBAL_UNICAST, address) && !contains(PROTOCOL_ASSIGNMENTS, address)))

const contains = ([base, prefix]: [Address, number], address: Address) => base.kind() === address.kind() && address.match(base, prefix)

const SYSTEM_PORTS_END = 1024

/**
 * May the server connect to the port of this URL? 443 for `https:`, 80 for `http:`, and 1024 and above. The other system ports belong to
 * services that are not HTTP, such as mail, which could be tricked into interpreting a request.
 */
export const isAllowedPort = ({ port }: URL): boolean =>
  // A `URL` leaves out the default port of its protocol.
  port === '' || Number(port) >= SYSTEM_PORTS_END
