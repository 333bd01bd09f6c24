import type { Db } from '../../infra/postgres/db.ts'
import type { Partition } from '../../infra/queue/partitions.ts'
import { type Ctx, type InTx, inTx } from '../../infra/runtime/ctx.ts'
import { DAY_MS, HOUR_MS } from '../../lib/times.ts'
import type { NewEvent, StoredEvent } from './event.ts'
import { missingMonths, monthOf } from './months.ts'
import * as queries from './queries.ts'
import { countEvents } from './stats.ts'

const EVENT_ID_MEMORY_MS = 30 * DAY_MS
const MONTHS_AHEAD = 3

/** Stores events in order, and returns those that were stored. An event with a known `event_id` is dropped. */
export async function storeEvents(ctx: InTx, events: NewEvent[], partition: Partition): Promise<StoredEvent[]> {
  const fresh = await withoutRepeats(ctx, events)
  if (fresh.length === 0) return []
  const rows = fresh.map(({ userId, event, source, journey }) => ({
    project_id: ctx.projectId,
    user_id: userId,
    name: event.name,
    data: event.data,
    created_at: event.createdAt,
    received_at: event.receivedAt,
    source,
    journey_id: journey?.journey_id ?? null,
    entrance_id: journey?.entrance_id ?? null,
  }))
  await Promise.all([queries.saveEvents(ctx, rows), countEvents(ctx, fresh, partition)])
  ctx.metrics.eventsIngested('processed', fresh.length)
  const oldest = ctx.clock.now().getTime() - ctx.config.EVENT_TRIGGER_MAX_AGE_H * HOUR_MS
  return fresh.map(({ starts = 'all', ...about }) => ({
    ...about,
    starts,
    triggers: starts === 'all' && about.event.createdAt.getTime() >= oldest,
  }))
}

/** Remembers the id of an event (D-EVT-4). False for one that is remembered already. For what is reported to the server, perhaps several times. */
export const isNewEventId = async (ctx: InTx, event_id: string): Promise<boolean> => {
  const now = ctx.clock.now()
  return (await queries.saveEventIds(ctx, [{ event_id, received_at: now }], new Date(now.getTime() - EVENT_ID_MEMORY_MS))).length > 0
}

async function withoutRepeats(ctx: InTx, events: NewEvent[]): Promise<NewEvent[]> {
  const seen = new Set<string>()
  const first = events.filter(({ event: { eventId } }) => eventId === null || (!seen.has(eventId) && seen.add(eventId)))
  const named = first.flatMap(({ event }) => (event.eventId === null ? [] : [{ event_id: event.eventId, received_at: event.receivedAt }]))
  if (named.length === 0) return first
  const since = new Date(ctx.clock.now().getTime() - EVENT_ID_MEMORY_MS)
  const known = new Set((await queries.saveEventIds(ctx, named, since)).map(({ event_id }) => event_id))
  const fresh = first.filter(({ event: { eventId } }) => eventId === null || known.has(eventId))
  ctx.metrics.eventsIngested('duplicate', events.length - fresh.length)
  return fresh
}

/**
 * Creates the monthly partitions from the first existing one up to three months ahead, without a gap; the first time, also the partition
 * for everything older. Returns how many it created.
 */
export async function createEventMonths(ctx: Ctx): Promise<number> {
  const now = ctx.clock.now()
  if (missingMonths(await queries.listMonths(ctx), now, MONTHS_AHEAD).length === 0) return 0
  return inTx(ctx, async (ctx) => {
    await queries.lockMonths(ctx)
    const there = await queries.listMonths(ctx)
    const missing = missingMonths(there, now, MONTHS_AHEAD)
    if (!there.has('events_past')) await queries.createOldestMonth(ctx, monthOf(now))
    for (const month of missing) await queries.createMonth(ctx, month)
    return missing.length
  })
}

/** The month in which the partitions of a database were last checked. */
const checkedIn = new WeakMap<Db, string>()

/** Creates the monthly partitions once a month, which is early enough. Called before each batch, so that no event lacks a partition. */
export async function requireEventMonths(ctx: Ctx): Promise<void> {
  const { name } = monthOf(ctx.clock.now())
  if (checkedIn.get(ctx.db) === name) return
  await createEventMonths(ctx)
  checkedIn.set(ctx.db, name)
}

/** Deletes event ids after 30 days. */
export const purgeEventIds = (ctx: Ctx): Promise<number> =>
  queries.purgeEventIds(ctx, new Date(ctx.clock.now().getTime() - EVENT_ID_MEMORY_MS))
