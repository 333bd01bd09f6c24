import { type Db, isSqlState, LOCK_NOT_AVAILABLE } from '../../infra/postgres/db.ts'
import type { Partition } from '../../infra/queue/partitions.ts'
import { afterCommit, type Ctx, type InTx, inTx } from '../../infra/runtime/ctx.ts'
import { DAY_MS, HOUR_MS } from '../../lib/times.ts'
import type { NewEvent, StoredEvent } from './event.ts'
import { missingMonths, monthOf } from './months.ts'
import * as queries from './queries.ts'
import { limitLockWait } from './retention.queries.ts'
import { countEvents } from './stats.ts'

const EVENT_ID_MEMORY_MS = 30 * DAY_MS
const MONTHS_AHEAD = 3
const LOCK_WAIT_MS = 500

/** Stores events in order, and returns them as stored. Their ids were claimed before: `claimEventIds`. */
export async function storeEvents(ctx: InTx, events: NewEvent[], partition: Partition): Promise<StoredEvent[]> {
  if (events.length === 0) return []
  const rows = events.map(({ userId, event, source, journey }) => ({
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
  await Promise.all([queries.saveEvents(ctx, rows), countEvents(ctx, events, partition)])
  afterCommit(ctx, () => ctx.metrics.eventsIngested('processed', events.length))
  const oldest = ctx.clock.now().getTime() - ctx.config.EVENT_TRIGGER_MAX_AGE_H * HOUR_MS
  return events.map(({ starts = 'all', ...about }) => ({
    ...about,
    starts,
    triggers: starts === 'all' && about.event.createdAt.getTime() >= oldest,
  }))
}

/** Remembers the id of an event (D-EVT-4). False for one that is remembered already. For what is reported to the server, perhaps several times. */
export const isNewEventId = async (ctx: InTx, event_id: string): Promise<boolean> => {
  return (await claimEventIds(ctx, [{ event_id, received_at: ctx.clock.now() }])).size > 0
}

/**
 * Stores ids of events before anything of the events is applied. Another transaction with one of these ids waits until this one has
 * committed. Returns the new ones: those that no earlier event has.
 */
export async function claimEventIds(ctx: InTx, ids: { event_id: string; received_at: Date }[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const since = new Date(ctx.clock.now().getTime() - EVENT_ID_MEMORY_MS)
  return new Set((await queries.saveEventIds(ctx, ids, since)).map(({ event_id }) => event_id))
}

/** Gives the ids of events back that could not be applied, so that they can be sent again. */
export async function releaseEventIds(ctx: InTx, ids: string[]): Promise<void> {
  if (ids.length > 0) await queries.deleteEventIds(ctx, ids)
}

/**
 * Creates the monthly partitions from the first existing one up to three months ahead, without a gap; the first time, also the partition
 * for everything older. Returns how many it created: none while another transaction holds a lock that this needs, so that no batch waits
 * for it.
 */
export async function createEventMonths(ctx: Ctx): Promise<number> {
  const now = ctx.clock.now()
  if (missingMonths(await queries.listMonths(ctx), now, MONTHS_AHEAD).length === 0) return 0
  try {
    return await inTx(ctx, async (ctx) => {
      await queries.lockMonths(ctx)
      await limitLockWait(ctx, LOCK_WAIT_MS)
      const there = await queries.listMonths(ctx)
      const missing = missingMonths(there, now, MONTHS_AHEAD)
      if (!there.has('events_past')) await queries.createOldestMonth(ctx, monthOf(now))
      for (const month of missing) await queries.createMonth(ctx, month)
      return missing.length
    })
  } catch (error) {
    if (isSqlState(error, LOCK_NOT_AVAILABLE)) return 0
    throw error
  }
}

/** The month in which the partitions of a database were last checked. */
const checkedIn = new WeakMap<Db, string>()

/**
 * Creates the monthly partitions once a month, which is early enough. Called before each batch, so that no event lacks a partition. Throws
 * if one up to this month is missing and could not be created; those ahead can wait.
 */
export async function requireEventMonths(ctx: Ctx): Promise<void> {
  const now = ctx.clock.now()
  const { name } = monthOf(now)
  if (checkedIn.get(ctx.db) === name) return
  await createEventMonths(ctx)
  if (missingMonths(await queries.listMonths(ctx), now, 0).length > 0)
    throw new Error(`The partition ${name} cannot be created, because another transaction has a lock on the table events.`)
  checkedIn.set(ctx.db, name)
}

/** Deletes event ids after 30 days. */
export const purgeEventIds = (ctx: Ctx): Promise<number> =>
  queries.purgeEventIds(ctx, new Date(ctx.clock.now().getTime() - EVENT_ID_MEMORY_MS))
