/** What the system knows of the DNS: addresses by its resolver, and records by its name servers. Delivery asks `mail-resolver.ts`. */
import { promises as dns } from 'node:dns'
import type { HostLookup } from '../../../lib/egress.ts'

const TIMEOUT_MS = 3000
const TRIES = 2

/** Returns every address of a name, in the order of the system’s resolver. */
export const resolveHost: HostLookup = (host) => dns.lookup(host, { all: true })

/** Creates a resolver of records. Each check takes a new one, so that changes to the system’s name servers take effect. */
export function createResolver({ DNS_SERVERS: servers }: { DNS_SERVERS: readonly string[] }): dns.Resolver {
  const resolver = new dns.Resolver({ timeout: TIMEOUT_MS, tries: TRIES })
  if (servers.length > 0) resolver.setServers(servers)
  return resolver
}
