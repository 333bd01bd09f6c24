/** The name servers that are asked: those of the settings, or those of the system. */
import { getServers } from 'node:dns'
import type { Clock } from '../../../lib/clock.ts'
import { type NameServer, parseNameServer } from '../../../lib/name-servers.ts'

/** How long the servers of the system are believed to be the same. */
const SYSTEM_SERVERS_MS = 60_000

/** Returns the servers at the time of the call. */
export function nameServers(configured: readonly string[], clock: Clock): () => NameServer[] {
  const fixed = configured.map(parseNameServer).filter((server) => server !== null)
  if (fixed.length > 0) return () => fixed
  let known: NameServer[] = []
  let readAtMs = Number.NEGATIVE_INFINITY
  return () => {
    const now = clock.now().getTime()
    if (Math.abs(now - readAtMs) >= SYSTEM_SERVERS_MS) {
      known = getServers()
        .map(parseNameServer)
        .filter((server) => server !== null)
      readAtMs = now
    }
    return known
  }
}
