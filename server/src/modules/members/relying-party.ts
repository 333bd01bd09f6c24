/** For which site passkeys are: browsers bind them to a host name, and use them on secure pages only. */
import ipaddr from 'ipaddr.js'

export type RelyingParty = { id: string; origin: string }

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|\[::1\])$/

/**
 * The site of a base URL. Null for an IP address, and for plain HTTP other than on localhost, because browsers refuse both. A loopback
 * address is replaced by localhost.
 */
export function relyingPartyOf(baseUrl: string): RelyingParty | null {
  const url = new URL(baseUrl)
  if (LOOPBACK.test(url.hostname)) url.hostname = 'localhost'
  const { hostname: id, protocol, origin } = url
  if (ipaddr.isValid(id.replace(/^\[|\]$/g, ''))) return null
  const isLocal = id === 'localhost' || id.endsWith('.localhost')
  return protocol === 'https:' || isLocal ? { id, origin } : null
}
