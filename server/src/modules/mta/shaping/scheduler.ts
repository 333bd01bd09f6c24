/** The sites that this process delivers to, with their states and what is under way. Holds values; `site-state.ts` decides. */
import { type HostEvent, type Hosts, hostsAfter, hostsToTry } from './hosts.ts'
import { type SiteLimits, shareOf } from './limits.ts'
import {
  type Admission,
  admit,
  admitConnection,
  limitsNow,
  OPEN_SITE,
  type SiteEvent,
  type SiteState,
  siteAfter,
  siteAt,
} from './site-state.ts'
import { type LimitOverrides, limitsOf, requiresTls, type Site } from './sites.ts'

export type Scheduler = {
  /** How many emails to a site may start now. They are under way until `finish`. */
  admit(site: Site, wanted: number): Admission
  /** Emails that were admitted are no longer under way. */
  finish(site: Site, mails: number): void
  /** Whether a new connection may be opened now. */
  admitConnection(site: Site): { isAdmitted: boolean; nextAt: number }
  /** What an attempt says of the site. */
  record(site: Site, event: SiteEvent): void
  /** What an attempt says of a host. */
  recordHost(site: Site, host: string, event: HostEvent): void
  /** The limits that hold now, for this process. */
  limitsOf(site: Site): SiteLimits
  /** The same, as the client of mail hosts takes them. */
  connectionLimitsOf(site: Site): { connections: number; mailsPerConnection: number; isTlsRequired?: true }
  hostsToTry(site: Site, hosts: readonly string[]): readonly string[]
  /** All sites that are known. */
  sites(): SiteSnapshot[]
}

export type SiteSnapshot = Site & Pick<SiteState, 'is' | 'until' | 'because'> & { limits: SiteLimits; inFlight: number }

type Known = { site: Site; state: SiteState; hosts: Hosts; inFlight: number; usedAt: number }

export type SchedulerOptions = {
  now(): number
  /** How many processes deliver: each uses its share. */
  processes(): number
  overrides: LimitOverrides
}

/** A site that was not used for this time is dropped, unless it is suspended or slowed. */
const UNUSED_MS = 3_600_000
const SITES_MAX = 50_000
/** All sites are looked at for that, so not for each new one. */
const DROPS_MS = 60_000

export function createScheduler({ now, processes, overrides }: SchedulerOptions): Scheduler {
  const known = new Map<string, Known>()
  let droppedAt = Number.NEGATIVE_INFINITY
  const shared = (site: Site) => shareOf(limitsOf(site.key, overrides), Math.max(1, processes()))
  const find = (site: Site): Known => {
    const found = known.get(site.key)
    const one = found ?? { site, state: OPEN_SITE, hosts: {}, inFlight: 0, usedAt: 0 }
    one.usedAt = now()
    if (!found) {
      if (known.size >= SITES_MAX && one.usedAt - droppedAt >= DROPS_MS) {
        dropUnused(known, one.usedAt)
        droppedAt = one.usedAt
      }
      known.set(site.key, one)
    }
    return one
  }
  return {
    admit(site, wanted) {
      const one = find(site)
      const { state, admission } = admit(one.state, shared(site), { wanted, inFlight: one.inFlight }, now())
      one.state = state
      one.inFlight += admission.admitted
      return admission
    },
    finish(site, mails) {
      const one = find(site)
      one.inFlight = Math.max(0, one.inFlight - mails)
    },
    admitConnection(site) {
      const one = find(site)
      const { state, ...answer } = admitConnection(one.state, shared(site), now())
      one.state = state
      return answer
    },
    record(site, event) {
      const one = find(site)
      one.state = siteAfter(one.state, site.key, event, shared(site), now())
    },
    recordHost(site, host, event) {
      const one = find(site)
      one.hosts = hostsAfter(one.hosts, host, event, now())
    },
    limitsOf: (site) => limitsNow(siteAt(find(site).state, now()), shared(site)),
    connectionLimitsOf(site) {
      const { connections, mails_per_connection } = limitsNow(siteAt(find(site).state, now()), shared(site))
      return { connections, mailsPerConnection: mails_per_connection, ...(requiresTls(site.key) && { isTlsRequired: true }) }
    },
    hostsToTry: (site, hosts) => hostsToTry(find(site).hosts, hosts, now()),
    sites: () => [...known.values()].map((one) => snapshot(one, shared(one.site), now())),
  }
}

function snapshot({ site, state, inFlight }: Known, limits: SiteLimits, nowMs: number): SiteSnapshot {
  const current = siteAt(state, nowMs)
  return { ...site, is: current.is, until: current.until, because: current.because, limits: limitsNow(current, limits), inFlight }
}

function dropUnused(known: Map<string, Known>, nowMs: number): void {
  for (const [key, { state, inFlight, usedAt }] of known)
    if (inFlight === 0 && state.until < nowMs && usedAt < nowMs - UNUSED_MS) known.delete(key)
}
