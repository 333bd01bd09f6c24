import { promises as dns } from 'node:dns'
import type { DomainResolver } from './dns-check.ts'

const DNS_TIMEOUT_MS = 3000
const DNS_TRIES = 2

/** The DNS as this machine reaches it. A new one each time, so that changed name servers are noticed. */
export const systemResolver = (): DomainResolver => new dns.Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES })
