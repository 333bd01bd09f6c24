import type { components } from '@carillon/sdk'

export type Domain = components['schemas']['Domain']
export type DnsRecord = Domain['records'][number]

export const DOMAINS = '/api/client/domains'
export const DOMAIN = '/api/client/domains/{domainId}'
export const WARM_UP = '/api/client/domains/{domainId}/warm-up'
export const ZONE_FILE = '/api/client/domains/{domainId}/zone-file'

/** The views of a domain. */
export const VIEWS = ['records', 'warm-up'] as const
export type View = (typeof VIEWS)[number]

/** The name of a domain: the sending domain, if it has one, otherwise the host of links. */
export const nameOf = ({ host, sending }: Domain): string => sending?.domain ?? host

/** The state of one side of a domain, in a word of the API. */
export const stateOf = (isVerified: boolean, checkedAt: string | null): string =>
  isVerified ? 'verified' : checkedAt === null ? 'unchecked' : 'missing'
