/** Sites: the groups of mail hosts that share limits. Domains with the same hosts are one site. Pure. */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { atMost } from '../../../lib/cache-limit.ts'
import { DEFAULT_LIMITS, type SiteLimits, type SomeLimits } from './limits.ts'
import { PROVIDERS } from './providers.ts'

export type Site = { /** Stored, and part of URLs. */ key: string; label: string }

const KNOWN_MAX = 10_000
const known = new LRUCache<string, Site>(atMost(KNOWN_MAX))

/** The site of a domain by the names of its mail hosts: the provider that runs all of them, or the set of names itself. */
export function siteOf(mxHosts: readonly string[]): Site {
  // In the same order each time, so that they are remembered once.
  const names = mxHosts.toSorted().join(' ')
  const site = known.get(names) ?? siteOfHosts(mxHosts)
  known.set(names, site)
  return site
}

function siteOfHosts(mxHosts: readonly string[]): Site {
  const hosts = [...new Set(mxHosts.map(hostName))].sort()
  const provider = PROVIDERS.find(
    ({ suffixes }) => hosts.length > 0 && hosts.every((host) => suffixes.some((suffix) => endsIn(host, suffix))),
  )
  if (provider) return { key: provider.key, label: provider.label }
  const hash = createHash('sha256').update(hosts.join(' ')).digest('hex').slice(0, HASH_LENGTH)
  return { key: `mx-${hash}`, label: labelOf(hosts) }
}

const HASH_LENGTH = 20

/** As DNS compares names: in lower case, without the dot at the end. */
const hostName = (host: string): string => (host.endsWith('.') ? host.slice(0, -1) : host).toLowerCase()

const endsIn = (host: string, suffix: string): boolean => host === suffix || host.endsWith(`.${suffix}`)

/** The longest end that all names share, if it has two labels or more; otherwise the first name. */
function labelOf(hosts: readonly string[]): string {
  const [first = '', ...others] = hosts
  if (others.length === 0) return first
  const labels = first.split('.')
  const shared = labels.map((_, at) => labels.slice(at).join('.')).find((end) => others.every((host) => endsIn(host, end)))
  return shared?.includes('.') ? shared : first
}

/** Limits by the key of a site; `*` applies to all sites without a known provider. */
export type LimitOverrides = Readonly<Record<string, SomeLimits>>

/** The limits of a site: those of its provider, with what the operator set instead. */
export function limitsOf(siteKey: string, overrides: LimitOverrides = {}): SiteLimits {
  const provider = PROVIDERS.find(({ key }) => key === siteKey)
  const usual = provider ? { ...DEFAULT_LIMITS, ...provider.limits } : { ...DEFAULT_LIMITS, ...overrides['*'] }
  return { ...usual, ...overrides[siteKey] }
}

/** Whether the provider of a site accepts email only over TLS. */
export const requiresTls = (siteKey: string): boolean => PROVIDERS.some(({ key, isTlsRequired }) => key === siteKey && isTlsRequired)
