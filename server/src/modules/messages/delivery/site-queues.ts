/**
 * The emails of this process that wait for a place at their site. A slow site holds few of them: further ones are postponed, to the time at
 * which the site will have a place as far as that is known.
 */
import type { Clock } from '../../../lib/clock.ts'
import { MINUTE_MS, SECOND_MS } from '../../../lib/times.ts'
import type { MailPriority, Scheduler, Site } from '../../mta/index.ts'

/** A place at a site, which `leave` gives back; or the time to try again, and the limit that was reached. */
export type Entry = { is: 'admitted' } | { is: 'postponed'; until: Date; limit: 'connections' | 'rate' | 'suspended' }

type Limit = Extract<Entry, { is: 'postponed' }>['limit'] | 'new connections'

export type SiteQueues = {
  enter(site: Site, priority: MailPriority): Promise<Entry>
  leave(site: Site): void
  /** Returns when to try an email again that had a place, at a site that gets no new connection before `nextAt`. */
  tryAgainAt(site: Site, priority: MailPriority, nextAt: number): Date
}

const WAITING_MAX = 50
/** Until deliveries to a site were timed. */
const DELIVERY_MS = SECOND_MS
const POSTPONED_MAX_MS = 10 * MINUTE_MS
const POSTPONED_MIN_MS = 100
/** Transactional emails come before those of timers, and these before bulk. */
type Rank = 0 | 1 | 2
const RANKS: Record<MailPriority, Rank> = { 0: 0, 2: 1, 1: 2 }

type Waiting = { rank: Rank; resolve(entry: Entry): void }
type SiteQueue = {
  waiting: Waiting[]
  /** When each of those that have a place got it. */
  startedAt: number[]
  /** How long a delivery takes, on average. */
  deliveryMs: number
  /** What is postponed next is due after this, for each rank. Email waits behind that of its own rank and of more urgent ones only. */
  postponedTo: [number, number, number]
}

/** `elapsedMs` tells how long this process has run; how long deliveries take is measured with it. */
export function createSiteQueues(scheduler: Scheduler, clock: Pick<Clock, 'now'>, elapsedMs = () => performance.now()): SiteQueues {
  const queues = new Map<string, SiteQueue>()
  const find = (site: Site): SiteQueue => {
    const queue = queues.get(site.key) ?? { waiting: [], startedAt: [], deliveryMs: DELIVERY_MS, postponedTo: [0, 0, 0] }
    queues.set(site.key, queue)
    return queue
  }
  const nowMs = () => clock.now().getTime()

  /** Each is postponed a little longer than the one before, as fast as the site takes them. */
  const postponedTo = (site: Site, queue: SiteQueue, rank: Rank, limit: Limit, nextAt: number | null): Date => {
    const intervalMs = intervalAt(scheduler.limitsOf(site), queue, limit)
    const from = Math.max(nowMs() + POSTPONED_MIN_MS, nextAt ?? 0, ...queue.postponedTo.slice(0, rank + 1))
    queue.postponedTo[rank] = Math.min(from + intervalMs, Math.max(nextAt ?? 0, nowMs()) + POSTPONED_MAX_MS)
    return new Date(Math.ceil(from))
  }
  const postpone = (site: Site, queue: SiteQueue, rank: Rank, limit: Exclude<Limit, 'new connections'>, nextAt: number | null): Entry => ({
    is: 'postponed',
    until: postponedTo(site, queue, rank, limit, nextAt),
    limit,
  })

  return {
    async enter(site, priority) {
      const queue = find(site)
      const { admitted, limit = 'connections', nextAt } = scheduler.admit(site, 1)
      if (admitted > 0) {
        queue.startedAt.push(elapsedMs())
        return { is: 'admitted' }
      }
      const rank = RANKS[priority]
      if (limit !== 'connections' || queue.startedAt.length === 0) return postpone(site, queue, rank, limit, nextAt)
      return new Promise((resolve) => {
        const at = queue.waiting.findIndex((other) => other.rank > rank)
        queue.waiting.splice(at === -1 ? queue.waiting.length : at, 0, { rank, resolve })
        const last = queue.waiting.length > WAITING_MAX ? queue.waiting.pop() : undefined
        last?.resolve(postpone(site, queue, last.rank, limit, nextAt))
      })
    },
    leave(site) {
      const queue = find(site)
      scheduler.finish(site, 1)
      const endedAt = elapsedMs()
      const tookMs = endedAt - (queue.startedAt.shift() ?? endedAt)
      queue.deliveryMs = (WEIGHT - 1) * (queue.deliveryMs / WEIGHT) + tookMs / WEIGHT
      for (let next = queue.waiting[0]; next; next = queue.waiting[0]) {
        const { admitted, limit = 'connections', nextAt } = scheduler.admit(site, 1)
        if (admitted === 0 && limit === 'connections' && queue.startedAt.length > 0) break
        queue.waiting.shift()
        if (admitted > 0) queue.startedAt.push(elapsedMs())
        next.resolve(admitted > 0 ? { is: 'admitted' } : postpone(site, queue, next.rank, limit, nextAt))
      }
      if (queue.waiting.length === 0 && queue.startedAt.length === 0 && Math.max(...queue.postponedTo) < nowMs()) queues.delete(site.key)
    },
    tryAgainAt: (site, priority, nextAt) => postponedTo(site, find(site), RANKS[priority], 'new connections', nextAt),
  }
}

/** How often the site takes an email, as far as a limit allows. */
function intervalAt(limits: ReturnType<Scheduler['limitsOf']>, { deliveryMs }: SiteQueue, limit: Limit): number {
  const { connections, mails_per_connection, connections_per_minute, mails_per_second } = limits
  const byLimit: Partial<Record<Limit, number>> = {
    connections: deliveryMs / connections,
    'new connections': MINUTE_MS / connections_per_minute / mails_per_connection,
  }
  return Math.max(SECOND_MS / mails_per_second, byLimit[limit] ?? 0)
}

/** So much of an average is the past. */
const WEIGHT = 8
