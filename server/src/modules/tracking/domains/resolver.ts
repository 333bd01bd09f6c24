import { promises as dns } from 'node:dns'
import type { DomainResolver } from './dns-check.ts'

const DNS_TIMEOUT_MS = 3000
const DNS_TRIES = 2

/** The system’s resolver. A new one for each check, so that changes to the name servers take effect. */
export const systemResolver = (): DomainResolver => new dns.Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES })
