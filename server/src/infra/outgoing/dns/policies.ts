/**
 * The MTA-STS policies of domains (D-MTA-22, RFC 8461): found by a TXT record, fetched over HTTPS, and kept as long as they say, so that neither
 * a fault of the DNS nor of the web server takes a policy away.
 */
import { LRUCache } from 'lru-cache'
import { atMost } from '../../../lib/cache-limit.ts'
import type { Clock } from '../../../lib/clock.ts'
import { createGate } from '../../../lib/gate.ts'
import { type MtaStsPolicy, parsePolicy, policyIdOf } from '../../../lib/mta-sts.ts'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../lib/times.ts'
import type { SafeFetch } from '../safe-fetch.ts'

/** A policy with the time at which it was fetched, from which its age counts. */
export type KeptPolicy = { policy: MtaStsPolicy; fetchedAt: Date }

/** Where policies survive a restart. */
export type PolicyStore = {
  find(domain: string): Promise<KeptPolicy | null>
  save(domain: string, kept: KeptPolicy): Promise<void>
}

export type PoliciesOptions = {
  txt: (name: string) => Promise<string[] | 'none' | 'failed'>
  fetch: Pick<SafeFetch, 'request'>
  store: PolicyStore
  clock: Clock
  /** Told about errors of a refresh that nothing waits for. */
  onError: (error: unknown) => void
  /** The port of the web servers, which is 443 unless a test has others. */
  port?: number
  timeoutMs?: number
}

const TIMEOUT_MS = 15_000
const CONNECT_TIMEOUT_MS = 5000
const BYTES_MAX = 65_536
const FETCHES_MAX = 20
const DOMAINS_MAX = 20_000
/** A policy is fetched again after a day, or half of its age, while mail goes to the domain (RFC 8461 §10.2). */
const REFRESH_MS = DAY_MS
/** A fetch that failed is not tried again earlier (RFC 8461 §3.3). */
const RETRY_MS = 5 * MINUTE_MS

/** What is known of a domain. `triedAtMs` is the last fetch of `triedId`. */
type Entry = { kept: KeptPolicy | null; triedId: string | null; triedAtMs: number }

/** Returns a function that finds the policy that applies to a domain now, or null. */
export function openPolicies(options: PoliciesOptions): (domain: string) => Promise<MtaStsPolicy | null> {
  const { clock, store, txt, onError } = options
  const gate = createGate(FETCHES_MAX)
  const known = new LRUCache<string, Entry>(atMost(DOMAINS_MAX))
  const underWay = new Map<string, Promise<void>>()
  const reading = new Map<string, Promise<Entry>>()

  const entryOf = async (domain: string): Promise<Entry> => {
    const entry = known.get(domain)
    if (entry) return entry
    // Calls at the same time share one entry.
    const shared = reading.get(domain) ?? read(domain).finally(() => reading.delete(domain))
    reading.set(domain, shared)
    return shared
  }
  const read = async (domain: string): Promise<Entry> => {
    const entry = { kept: await store.find(domain), triedId: null, triedAtMs: Number.NEGATIVE_INFINITY }
    known.set(domain, entry)
    return entry
  }
  /** Fetches a policy and keeps it. If that fails, the one before stays. */
  const refresh = (domain: string, id: string, entry: Entry): Promise<void> => {
    const running = underWay.get(domain)
    if (running) return running
    entry.triedId = id
    entry.triedAtMs = clock.now().getTime()
    const work = gate(async () => {
      const policy = await fetchPolicy(options, domain, id)
      if (!policy) return
      entry.kept = { policy, fetchedAt: clock.now() }
      known.set(domain, entry)
      await store.save(domain, entry.kept)
    }).finally(() => underWay.delete(domain))
    underWay.set(domain, work)
    return work
  }

  return async (domain) => {
    const texts = await txt(`_mta-sts.${domain}`)
    const id = Array.isArray(texts) ? policyIdOf(texts) : null
    // Most domains have no record, and then only those that had one are in the store.
    const entry = await entryOf(domain)
    const now = clock.now().getTime()
    const mayTry = id !== null && (entry.triedId !== id || Math.abs(now - entry.triedAtMs) >= RETRY_MS)
    if (!isValid(entry.kept, now) || (id !== null && entry.kept.policy.id !== id)) {
      if (id !== null && (mayTry || underWay.has(domain))) await refresh(domain, id, entry)
    } else if (id !== null && mayTry && isOld(entry.kept, now)) refresh(domain, id, entry).catch(onError)
    return isValid(entry.kept, clock.now().getTime()) ? entry.kept.policy : null
  }
}

const isValid = (kept: KeptPolicy | null, now: number): kept is KeptPolicy =>
  kept !== null && now - kept.fetchedAt.getTime() < kept.policy.maxAgeS * SECOND_MS

const isOld = ({ policy, fetchedAt }: KeptPolicy, now: number) =>
  now - fetchedAt.getTime() >= Math.min(REFRESH_MS, (policy.maxAgeS * SECOND_MS) / 2)

/** Fetches a policy. Null if there is none that can be used: redirects are not followed, and the certificate must be valid. */
async function fetchPolicy(
  { fetch, port, timeoutMs = TIMEOUT_MS }: PoliciesOptions,
  domain: string,
  id: string,
): Promise<MtaStsPolicy | null> {
  const answer = await fetch.request({
    method: 'GET',
    url: `https://mta-sts.${domain}${port === undefined ? '' : `:${port}`}/.well-known/mta-sts.txt`,
    timeoutMs,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    // One more, to see that there is more.
    responseBytesMax: BYTES_MAX + 1,
  })
  if (answer.is === 'failed' || answer.status !== 200) return null
  const [mediaType = ''] = `${answer.headers['content-type'] ?? ''}`.split(';')
  if (mediaType.trim().toLowerCase() !== 'text/plain' || Buffer.byteLength(answer.body) > BYTES_MAX) return null
  const policy = parsePolicy(answer.body, id)
  return 'problem' in policy ? null : policy
}
