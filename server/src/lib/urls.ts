import { isIPv4, isIPv6 } from 'node:net'
import { domainToASCII } from 'node:url'
import { type EgressPolicy, isAllowedAddress, isAllowedPort } from './egress.ts'

const DOMAIN_LENGTH_MAX = 253
// Converting a host to ASCII takes more than linear time. No text this long becomes a name of 253 characters.
const HOST_LENGTH_MAX = 1024
const URL_LENGTH_MAX = 2048
const PORT_MAX = 65_535

const LABEL_LENGTH_MAX = 63

const isLabel = (label: string) => label.length <= LABEL_LENGTH_MAX && /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i.test(label)
const isServiceLabel = (label: string) => label.length <= LABEL_LENGTH_MAX && /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/i.test(label)
const isNumeric = (label: string) => /^[0-9]+$/.test(label)
const isTopLevel = (label: string) => isLabel(label) && /^(?:[a-z]{2}[a-z]*$|xn--)/i.test(label)

/** The labels of a name of at most 253 characters: those before the last, and the last. A longer text has none. */
function labelsOf(text: string): { others: string[]; last: string } {
  const labels = text.length <= DOMAIN_LENGTH_MAX ? text.split('.') : []
  return { others: labels.slice(0, -1), last: labels.at(-1) ?? '' }
}

// Characters that would end a host name, or that the URL parser would silently decode or drop.
const HOST_DELIMITER = /[\s\p{Cc}/?#@:%\\[\]]/u

/** Is this a public domain in ASCII: two or more labels, the last alphabetic or `xn--…`? */
export function isDomainName(text: string): boolean {
  const { others, last } = labelsOf(text)
  return others.length > 0 && others.every(isLabel) && isTopLevel(last)
}

/** Is this an origin of http or https as browsers send it: without a path, and without the port that is the default? */
export const isOrigin = (text: string): boolean =>
  text.length <= HOST_LENGTH_MAX && /^https?:\/\//.test(text) && URL.parse(text)?.origin === text

/** Is this an IPv4 address, an IPv6 address with or without brackets, or a host name (D-TCP-1)? */
export function isHostNameOrIp(text: string): boolean {
  if (isIPv4(text)) return true
  const unbracketed = /^\[(.*)\]$/.exec(text)?.[1] ?? text
  if (isIPv6(unbracketed)) return !unbracketed.includes('%')
  const { others, last } = labelsOf(text)
  return others.every(isLabel) && isLabel(last) && !isNumeric(last)
}

/** The domain in the form used for DNS queries (lower-case ASCII, no final dot), or null if it is not a domain (D-SPF-1). */
export function dnsName(text: string): string | null {
  if (text.length > HOST_LENGTH_MAX || HOST_DELIMITER.test(text)) return null
  const name = domainToASCII(text).replace(/\.$/, '')
  const { others, last } = labelsOf(name)
  return others.length > 0 && others.every(isServiceLabel) && isLabel(last) && !isNumeric(last) ? name : null
}

const WEB_ADDRESS = /^(?<scheme>https?:\/\/)?(?<host>[^/?#:]+)(?::(?<port>[1-9]\d{0,4}))?(?:\/[^?#]*)?(?<query>\?[^#]*)?$/i

function parseWebAddress(text: string): { scheme: string | undefined; query: string | undefined } | null {
  if (text.length > URL_LENGTH_MAX || /[\s\p{Cc}\\]/u.test(text)) return null
  const { scheme, host = '', port, query } = WEB_ADDRESS.exec(text)?.groups ?? {}
  if (HOST_DELIMITER.test(host) || !isDomainName(domainToASCII(host)) || Number(port ?? 0) > PORT_MAX) return null
  return { scheme, query }
}

/** Is this empty, or the address of a website, with or without `http://` or `https://` (D-F-8)? */
export function isWebsiteUrl(text: string): boolean {
  if (text === '') return true
  const address = parseWebAddress(text)
  return address !== null && address.query === undefined
}

/** Is this empty, or an `https://` address on a public domain (D-F-8)? */
export const isDeeplinkMirrorUrl = (text: string) => text === '' || parseWebAddress(text)?.scheme?.toLowerCase() === 'https://'

/** Is this an absolute `https://` URL? */
export const isHttpsUrl = (text: string) => text.length <= URL_LENGTH_MAX && /^https:\/\//i.test(text) && URL.canParse(text)

const PRIVATE_SUFFIX = /\.(?:localhost|local|internal|home\.arpa)$/

/**
 * Why webhook events cannot be sent to this URL, as the end of a sentence, or null (D-F-7). Checks only the text; the address
 * that the name resolves to is checked when connecting.
 */
export function webhookUrlProblem(text: string, egress: EgressPolicy): string | null {
  if (!isHttpsUrl(text) || /[\s\p{Cc}\\]/u.test(text)) return 'must be a URL that starts with `https://`'
  const url = new URL(text)
  // The URL parser skips further slashes, and has nothing of an empty user name.
  if (url.username !== '' || url.password !== '' || /^https:\/\/[^/?]*@/i.test(text)) return 'must not contain a user name or password'
  if (text.includes('#')) return 'must not contain a fragment'
  if (!isAllowedPort(url)) return 'must have the port 443, or 1024 or above'
  // The URL parser turns `0x7f.1` and `2130706433` into 127.0.0.1.
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (isIPv4(host) || isIPv6(host)) return isAllowedAddress(egress, host) ? null : 'must not point to a private or reserved address'
  if (host === 'localhost' && allowsLoopback(egress)) return null
  const isPublic = host.includes('.') && !host.split('.').includes('') && !PRIVATE_SUFFIX.test(host)
  return isPublic ? null : 'must have a host on the public internet'
}

const allowsLoopback = (egress: EgressPolicy) => isAllowedAddress(egress, '127.0.0.1') || isAllowedAddress(egress, '::1')
