/** The addresses of name servers. */
import { isIP, isIPv4 } from 'node:net'

export type NameServer = { ip: string; port: number }

const DNS_PORT = 53
const PORT_MAX = 65_535

/** Reads `192.0.2.1`, `192.0.2.1:5353`, `2001:db8::1` or `[2001:db8::1]:5353`. Null if it is none of them. */
export function parseNameServer(text: string): NameServer | null {
  if (isIP(text) !== 0) return { ip: text, port: DNS_PORT }
  const at = text.lastIndexOf(':')
  const [host, port] = [text.slice(0, at), text.slice(at + 1)]
  const ip = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : isIPv4(host) ? host : ''
  return isIP(ip) !== 0 && /^\d{1,5}$/.test(port) && Number(port) <= PORT_MAX ? { ip, port: Number(port) } : null
}
