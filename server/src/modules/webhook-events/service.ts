import type { InTx, JobName } from '../../infra/runtime/ctx.ts'
import { ulid } from '../../lib/ids.ts'
import { HOUR_MS } from '../../lib/times.ts'
import { positionBefore } from './cursors.queries.ts'
import type { WebhookEvent } from './event-kind.ts'
import * as queries from './queries.ts'
import * as webhookEvents from './types/index.ts'

type AnyEventKind = (typeof webhookEvents)[keyof typeof webhookEvents]
export type EventType = AnyEventKind['type']

/** Every event type, sorted. */
export const EVENT_TYPES: readonly EventType[] = Object.values(webhookEvents)
  .map(({ type }) => type)
  .sort()

/** The types that an active endpoint is subscribed to now. */
export const wantedTypes = async (ctx: InTx): Promise<ReadonlySet<string>> => new Set(await queries.subscribedTypes(ctx))

/** The job that creates deliveries for stored events. */
export const DISPATCH: JobName = { name: 'webhooks.dispatch' }

const RANDOM_BYTES = 10

/** Ids for new events, in ascending order (D-WH-3). */
function newIds(ctx: InTx, count: number): string[] {
  const now = ctx.clock.now()
  const random = ctx.secrets.random(count * RANDOM_BYTES)
  return Array.from({ length: count }, (_, index) => `evt_${ulid(now, random.subarray(index * RANDOM_BYTES))}`).sort()
}

/**
 * Stores webhook events in the transaction that made them true, for the endpoints that are active and subscribed now. Events without such
 * an endpoint are not stored; if there are no endpoints at all, `create` is not called. It gets the types that are wanted, and may leave
 * out the others. A caller that has read `wantedTypes` together with another statement passes them as `known`.
 */
export async function emit(ctx: InTx, create: (wanted: ReadonlySet<string>) => WebhookEvent[], known?: ReadonlySet<string>): Promise<void> {
  const wanted = known ?? (await wantedTypes(ctx))
  if (wanted.size === 0) return
  const events = create(wanted).filter(({ type }) => wanted.has(type))
  if (events.length === 0) return
  await queries.insertWanted(ctx, {
    ids: newIds(ctx, events.length),
    types: events.map(({ type }) => type),
    occurredAt: events.map(({ occurredAt }) => occurredAt ?? ctx.clock.now()),
    data: events.map(({ data }) => JSON.stringify(data)),
  })
  ctx.wake(DISPATCH)
}

/**
 * A position before those of all events that were stored from an instant on. Transactions that store events, and a clock that was set back, take
 * less than an hour.
 */
export const positionAt = (ctx: InTx, instant: Date): Promise<number> =>
  positionBefore(ctx, `evt_${ulid(new Date(instant.getTime() - HOUR_MS), new Uint8Array(RANDOM_BYTES))}`)

/** Stores the sample of a type, marked as a test. Returns its id. The caller creates the delivery. */
export async function storeTest(ctx: InTx, type: EventType): Promise<string> {
  const [id = ''] = newIds(ctx, 1)
  const { sample } = Object.values(webhookEvents).find((kind) => kind.type === type) as AnyEventKind
  await queries.insertTest(ctx, id, type, JSON.stringify(sample))
  return id
}
