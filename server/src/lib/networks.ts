/** Addresses of clients, as limits count them. */
import ipaddr from 'ipaddr.js'

const NETWORK_PARTS = 4

/** The smallest network that a client usually has: an IPv4 address, or a /64 network of IPv6. Other text stays as it is. */
export function networkOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip
  // `process` turns an IPv4 address mapped into IPv6 back into IPv4.
  const address = ipaddr.process(ip)
  return address.kind() === 'ipv4'
    ? address.toString()
    : (address as ipaddr.IPv6).parts
        .slice(0, NETWORK_PARTS)
        .map((part) => part.toString(16))
        .join(':')
}

/** Is it an address of this machine, which no network carries? */
export function isLoopback(ip: string): boolean {
  return ipaddr.isValid(ip) && ipaddr.process(ip).range() === 'loopback'
}
