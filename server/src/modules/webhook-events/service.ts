import type { InTx } from '../../infra/runtime/ctx.ts'
import type { EndpointId } from '../../lib/ids.ts'
import { ulid } from '../../lib/ids.ts'
import type { WebhookEvent } from './event-kind.ts'
import * as queries from './queries.ts'
import * as webhookEvents from './types/index.ts'

type AnyEventKind = (typeof webhookEvents)[keyof typeof webhookEvents]
export type EventType = AnyEventKind['type']

/** Every type of event, by group and name. */
export const EVENT_TYPES: readonly EventType[] = Object.values(webhookEvents)
  .map(({ type }) => type)
  .sort()

const RANDOM_BYTES = 10

/** Ids of news of this moment, in the order in which they are given out (D-WH-3). */
function newIds(ctx: InTx, count: number): string[] {
  const now = ctx.clock.now()
  const random = ctx.secrets.random(count * RANDOM_BYTES)
  return Array.from({ length: count }, (_, index) => `evt_${ulid(now, random.subarray(index * RANDOM_BYTES))}`).sort()
}

/**
 * Tells outsiders what happened, in the transaction that made it true. Kept for the endpoints that are active and
 * subscribed now; what nobody wants to hear of leaves no trace, and is not even put together.
 */
export async function emit(ctx: InTx, news: () => WebhookEvent[]): Promise<void> {
  const wanted = new Set((await queries.subscribedTypes(ctx)).map(({ type }) => type))
  if (wanted.size === 0) return
  const happened = news().filter(({ type }) => wanted.has(type))
  if (happened.length === 0) return
  await queries.insertWanted(ctx, {
    ids: newIds(ctx, happened.length),
    types: happened.map(({ type }) => type),
    occurredAt: happened.map(({ occurredAt }) => occurredAt ?? ctx.clock.now()),
    data: happened.map(({ data }) => JSON.stringify(data)),
  })
}

/** Stores the sample of a type for one endpoint, marked as a test, and answers its id. Its delivery is up to the caller. */
export async function storeTest(ctx: InTx, type: EventType, endpointId: EndpointId): Promise<string> {
  const [id = ''] = newIds(ctx, 1)
  const { sample } = Object.values(webhookEvents).find((signal) => signal.type === type) as AnyEventKind
  await queries.insertTest(ctx, id, type, JSON.stringify(sample), endpointId)
  return id
}
