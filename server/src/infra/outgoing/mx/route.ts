/** The route to a domain, from what the DNS says about it. Pure. */
import { matchesMx } from '../../../lib/mta-sts.ts'
import type { MtaStsPolicy, MxAnswer, MxHost } from '../dns/mail-resolver.ts'
import type { DeliveryStep, RecipientOutcome, Route } from './outcome.ts'

/** Where the mail of a domain goes, or what happens to it without a connection. */
export type Routing = { is: 'route'; route: Route } | { is: 'unroutable'; steps: DeliveryStep[]; outcome: RecipientOutcome }

const HOSTS_TRIED_MAX = 5
/** The best hosts are tried in each attempt, because they are preferred; the others of a domain with more hosts take turns. */
const HOSTS_ALWAYS_TRIED = 2

/** The facts about a domain, and which attempt it is, counted from 1. `siteOf` returns the site that its hosts belong to, those included that are not tried. */
export type DomainFacts = {
  domain: string
  mx: MxAnswer
  policy: MtaStsPolicy | null
  attempt: number
  siteOf(hosts: readonly MxHost[]): string
}

/** Decides where the mail of a domain goes (RFC 5321 §5.1, RFC 7505, RFC 8461). */
export function routeOf({ domain, mx, policy, attempt, siteOf }: DomainFacts): Routing {
  switch (mx.is) {
    case 'hosts': {
      const steps: DeliveryStep[] = mx.isImplicit
        ? [{ is: 'mx-lookup-failed', domain, reason: 'The domain has no MX records.', fallback: 'implicit-mx' }]
        : []
      const asked =
        policy?.mode === 'enforce' ? { enforcedHosts: policy.mx } : policy?.mode === 'testing' ? { isTested: true as const } : {}
      const route = { site: siteOf(mx.hosts), domain, ...hostsTried(mx.hosts, policy, attempt), steps, isSecure: mx.isSecure, ...asked }
      return { is: 'route', route }
    }
    case 'null-mx':
      return {
        is: 'unroutable',
        steps: [{ is: 'null-mx', domain }],
        outcome: refusedHere(556, '5.1.10', 'The domain accepts no email: it has a null MX record.'),
      }
    case 'no-domain':
      return {
        is: 'unroutable',
        steps: [
          { is: 'mx-lookup-failed', domain, reason: mx.reason },
          { is: 'ip-lookup-failed', host: domain, reason: mx.reason },
        ],
        outcome: refusedHere(550, '5.1.2', mx.reason),
      }
    case 'failed':
      return {
        is: 'unroutable',
        steps: [{ is: 'mx-lookup-failed', domain, reason: mx.reason }],
        outcome: { is: 'temporary', reason: mx.reason, scope: 'site' },
      }
    default:
      return mx satisfies never
  }
}

/** The hosts that a policy does not name get no mail (RFC 8461 §4.1), so they do not count. Some are in the route, so that its steps tell of them. */
function hostsTried(all: readonly MxHost[], policy: MtaStsPolicy | null, attempt: number): Pick<Route, 'hosts' | 'isPartial'> {
  const isNamed = ({ host }: MxHost) => policy?.mode !== 'enforce' || matchesMx(policy.mx, host)
  const named = all.filter(isNamed)
  const others = all.filter((host) => !isNamed(host))
  const tried = new Set([...hostsOfAttempt(named, attempt), ...others.slice(0, HOSTS_TRIED_MAX)])
  return { hosts: all.filter((host) => tried.has(host)), ...(named.length > HOSTS_TRIED_MAX && { isPartial: true }) }
}

/** The hosts of an attempt: each host has its turn, so that email is delivered although the hosts before it are gone for days. */
function hostsOfAttempt(hosts: readonly MxHost[], attempt: number): readonly MxHost[] {
  if (hosts.length <= HOSTS_TRIED_MAX) return hosts
  const rotated = hosts.slice(HOSTS_ALWAYS_TRIED)
  const count = HOSTS_TRIED_MAX - HOSTS_ALWAYS_TRIED
  const first = ((attempt - 1) * count) % rotated.length
  return [...hosts.slice(0, HOSTS_ALWAYS_TRIED), ...[...rotated.slice(first), ...rotated].slice(0, count)]
}

/** A permanent failure that no host was asked about, with the codes that the RFCs give it. */
export const refusedHere = (code: number, enhancedCode: string, reason: string): RecipientOutcome => ({
  is: 'permanent',
  reason,
  reply: { code, enhancedCode, response: `${code} ${enhancedCode} ${reason}` },
})
