/** Delivers mails to the mail hosts of their domains, over connections that each site keeps for itself. */
import { LRUCache } from 'lru-cache'
import { atMost } from '../../../lib/cache-limit.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { EgressPolicy } from '../../../lib/egress.ts'
import type { MailResolver } from '../dns/mail-resolver.ts'
import type { SessionLimits } from '../smtp/time-limits.ts'
import { trustContext } from '../trust.ts'
import type { MxClient, OutgoingMail, RecipientOutcome } from './outcome.ts'
import { sameFor } from './recipients.ts'
import { refusedHere } from './route.ts'
import { createSite, type MxSite, STOPPING } from './site.ts'

export type MxClientOptions = {
  policy: EgressPolicy
  resolver: Pick<MailResolver, 'addresses' | 'tlsa'>
  clock: Clock
  /** Additional trusted root certificates in PEM. */
  ca?: string[]
  /** How this server names itself: a host name whose address is that of the server. */
  name: string
  port?: number
  sources?: readonly string[]
  isLoopbackOnly?: boolean
  limits?: Partial<SessionLimits & { connectMs: number }>
}

/** RFC 5321 §4.5.3.2 allows more; a short limit for the last reply would make duplicates. */
const LIMITS = {
  connectMs: 30_000,
  greetingMs: 60_000,
  tlsMs: 60_000,
  commandMs: 60_000,
  blockMs: 180_000,
  finalMs: 300_000,
  idleMs: 10_000,
}

const SMTP_PORT = 25
const PLAIN_HOSTS_MAX = 10_000

export function createMxClient({ ca = [], port = SMTP_PORT, sources = [], isLoopbackOnly = false, ...options }: MxClientOptions): MxClient {
  const { policy, resolver, clock, name } = options
  const limits = { ...LIMITS, ...options.limits }
  const plainHosts = new LRUCache<string, number>(atMost(PLAIN_HOSTS_MAX))
  const closing = new AbortController()
  const secureContext = trustContext(ca)
  const tools = { policy, resolver, clock, name, port, sources, isLoopbackOnly, limits, plainHosts, secureContext, closing: closing.signal }
  const sites = new Map<string, MxSite>()
  const remove = (key: string, site: MxSite) => sites.get(key) === site && sites.delete(key)
  const siteOf = (key: string): MxSite => {
    const known = sites.get(key)
    if (known) return known
    const site = createSite(tools, () => remove(key, site))
    sites.set(key, site)
    return site
  }
  return {
    async deliver(route, mail, siteLimits) {
      const refused = unsendableAmong(mail)
      const sendable = refused.size === 0 ? mail : without(mail, refused)
      if (sendable.to.length === 0) return { steps: [], recipients: refused, elapsedMs: 0 }
      if (closing.signal.aborted) return { steps: [], recipients: sameFor(mail.to, STOPPING), elapsedMs: 0 }
      const site = siteOf(route.site)
      try {
        const outcome = await site.deliver(route, sendable, siteLimits)
        return refused.size === 0 ? outcome : { ...outcome, recipients: new Map([...refused, ...outcome.recipients]) }
      } finally {
        if (site.isEmpty()) remove(route.site, site)
      }
    },
    close() {
      closing.abort()
      for (const site of sites.values()) site.close()
      sites.clear()
    },
  }
}

/** Characters that would end an address, or the command that it is in. */
const UNSAFE = /[\p{Cc}<> ]/u

/** A local part in quotes, which may have any of these but control characters (RFC 5321 §4.1.2). */
const QUOTED = /^"(?:[^"\\\p{Cc}]|\\\P{Cc})*"@/u

const isUnsafe = (address: string): boolean => UNSAFE.test(address) && UNSAFE.test(address.replace(QUOTED, ''))

/** The recipients that cannot be sent to, with their outcome. From an unsafe sender, that is all. */
function unsendableAmong({ from, to }: OutgoingMail): Map<string, RecipientOutcome> {
  const ofSender = isUnsafe(from) ? notAnAddress(from, '5.1.7') : undefined
  const unsafe = ofSender ? to : to.filter(isUnsafe)
  return new Map(unsafe.map((address) => [address, ofSender ?? notAnAddress(address)]))
}

/** The code is that of recipients, unless that of senders is given (RFC 3463). */
const notAnAddress = (text: string, enhancedCode = '5.1.3'): RecipientOutcome =>
  refusedHere(553, enhancedCode, `${JSON.stringify(text)} is not an email address.`)

/** The mail for its other recipients. */
function without(mail: OutgoingMail, refused: ReadonlyMap<string, RecipientOutcome>): OutgoingMail {
  const isKept = (_: unknown, at: number) => !refused.has(mail.to[at] as string)
  return { ...mail, to: mail.to.filter(isKept), ...(mail.reports && { reports: mail.reports.filter(isKept) }) }
}
