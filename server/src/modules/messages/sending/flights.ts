/**
 * What a sender has in flight, by queue. The places are few: a queue whose provider hangs would hold as many as all others together, and those
 * would wait for it. So it gets a small batch at a time, until one was quick.
 */
import { LRUCache } from 'lru-cache'
import { atMost } from '../../../lib/cache-limit.ts'
import type { CampaignId } from '../../../lib/ids.ts'
import type { Queue } from './queries.ts'

/** One is claimed and read while the provider has the other. */
const BATCHES_MAX = 2
const SLOW_BATCH_MESSAGES = 20
/** A batch that takes longer than both was slow. */
const SLOW_MS = 10_000
const SLOW_MS_PER_MESSAGE = 100
const SLOW_QUEUES_MAX = 10_000

export type Flights = {
  /** The batches of each queue, and their messages. */
  inFlight: Map<string, { batches: number; messages: number }>
  /** The queues with as many batches as there may be that have further messages. */
  waiting: Set<string>
  /** The queues whose last batch was slow. */
  slow: LRUCache<string, true>
}

export const createFlights = (): Flights => ({ inFlight: new Map(), waiting: new Set(), slow: new LRUCache(atMost(SLOW_QUEUES_MAX)) })

export const nameOf = ({ project_id, channel, campaign_id = null }: Queue & { campaign_id?: CampaignId | null }) =>
  `${project_id}:${channel}:${campaign_id ?? ''}`

export const placesTaken = ({ inFlight }: Flights): number => inFlight.values().reduce((sum, { messages }) => sum + messages, 0)

/** Whether a queue has as many batches in flight as it may have. */
export const isFull = ({ inFlight, slow }: Flights, name: string): boolean =>
  (inFlight.get(name)?.batches ?? 0) >= (slow.has(name) ? 1 : BATCHES_MAX)

/** How many messages of a queue the next batch has, of those that it would have. */
export const batchOf = ({ slow }: Flights, name: string, messages: number): number =>
  slow.has(name) ? Math.min(messages, SLOW_BATCH_MESSAGES) : messages

export const beginFlight = ({ inFlight }: Flights, name: string, messages: number): void => count(inFlight, name, 1, messages)

export function endFlight({ inFlight, slow }: Flights, name: string, messages: number, tookMs: number): void {
  count(inFlight, name, -1, -messages)
  if (tookMs > Math.max(SLOW_MS, messages * SLOW_MS_PER_MESSAGE)) slow.set(name, true)
  else slow.delete(name)
}

function count(inFlight: Flights['inFlight'], name: string, batches: number, messages: number): void {
  const before = inFlight.get(name) ?? { batches: 0, messages: 0 }
  const after = { batches: before.batches + batches, messages: before.messages + messages }
  if (after.batches > 0) inFlight.set(name, after)
  else inFlight.delete(name)
}
