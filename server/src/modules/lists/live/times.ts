/** The tracked times of users during one evaluation: reads those that are needed once, adds new events, and saves what changed. */

import type { InTx } from '../../../infra/runtime/ctx.ts'
import type { TrackerId, UserId } from '../../../lib/ids.ts'
import type { Tracker } from '../../rules/index.ts'
import type { Times } from './load-facts.ts'
import * as queries from './queries.ts'
import type { Version } from './registry.ts'
import { readTimes } from './times.queries.ts'
import { isFull, withTimes } from './tracked-times.ts'

/** The times of new events, by the tracker that counts them. `inherited` are the users of whom a merge is the only reason for these events. */
export type Addition = { version: Version; id: TrackerId; tracker: Tracker; userTimes: Map<UserId, number[]>; inherited: Set<UserId> }
export type Additions = Map<TrackerId, Addition>

/** Adds the time of an event for a tracker. */
export function add(
  additions: Additions,
  of: Omit<Addition, 'userTimes' | 'inherited'>,
  userId: UserId,
  timeMs: number,
  isInherited: boolean,
): void {
  let addition = additions.get(of.id)
  if (!addition) {
    addition = { ...of, userTimes: new Map(), inherited: new Set() }
    additions.set(of.id, addition)
  }
  const times = addition.userTimes.get(userId)
  if (!isInherited) addition.inherited.delete(userId)
  else if (!times) addition.inherited.add(userId)
  if (times) times.push(timeMs)
  else addition.userTimes.set(userId, [timeMs])
}

type Kept = { times: readonly number[]; isStale: boolean }
type Wanted = Map<TrackerId, Set<UserId>>

/**
 * The times that were read; null without a row. While a tracker is full, later times are not saved: the row is marked as stale once, and
 * read again from the events when the first times have left the window.
 */
export type TimesByUser = { nowMs: number; known: Map<TrackerId, Map<UserId, Kept | null>> }

export const openTimes = (nowMs: number): TimesByUser => ({ nowMs, known: new Map() })

async function read(ctx: InTx, { known }: TimesByUser, wanted: Wanted): Promise<void> {
  const unknown: Wanted = new Map()
  for (const [id, users] of wanted) {
    const kept = known.get(id) ?? new Map<UserId, Kept | null>()
    known.set(id, kept)
    const missing = [...users].filter((userId) => !kept.has(userId))
    for (const userId of missing) kept.set(userId, null)
    if (missing.length > 0) unknown.set(id, new Set(missing))
  }
  if (unknown.size === 0) return
  for (const { tracker_id, user_id, times, is_stale } of await queries.findTimes(ctx, unknown))
    known.get(tracker_id)?.set(user_id, { times, isStale: is_stale })
}

/** Reads stale times again that are no longer full. Returns their users. */
async function refresh(ctx: InTx, times: TimesByUser, id: TrackerId, tracker: Tracker, ids: Iterable<UserId>): Promise<UserId[]> {
  const kept = times.known.get(id) as Map<UserId, Kept | null>
  const stale = [...ids].filter((userId) => {
    const entry = kept.get(userId)
    return entry?.isStale === true && !isFull(tracker, entry.times, times.nowMs)
  })
  if (stale.length === 0) return []
  const found = new Map((await readTimes(ctx, tracker, stale)).map(({ user_id, times }) => [user_id, times]))
  for (const userId of stale) kept.set(userId, { times: found.get(userId) ?? [], isStale: false })
  await save(
    ctx,
    times,
    stale.map((userId) => ({ id, userId })),
  )
  return stale
}

type TimesKey = { id: TrackerId; userId: UserId }

async function save(ctx: InTx, { known }: TimesByUser, keys: TimesKey[]): Promise<void> {
  const saved = keys.flatMap(({ id, userId }) => {
    const kept = known.get(id)?.get(userId)
    return kept ? [{ tracker_id: id, user_id: userId, times: kept.times, is_stale: kept.isStale }] : []
  })
  if (saved.length > 0) await queries.saveTimes(ctx, saved)
}

/** Users whose tracked times changed, and whether a merge is the only reason. */
type Changed = { version: Version; userId: UserId; isInherited: boolean }

/** Adds new events. Returns the users whose tracked times changed. */
export async function loadTimes(ctx: InTx, times: TimesByUser, added: Addition[]): Promise<Changed[]> {
  await read(ctx, times, new Map(added.map(({ id, userTimes: users }) => [id, new Set(users.keys())])))
  const changed: Changed[] = []
  const written: TimesKey[] = []
  for (const { version, id, tracker, userTimes: users, inherited } of added) {
    // Times that were read again include the new events.
    const refreshed = new Set(await refresh(ctx, times, id, tracker, users.keys()))
    const kept = times.known.get(id) as Map<UserId, Kept | null>
    for (const [userId, more] of users) {
      const before = kept.get(userId) ?? null
      const after = refreshed.has(userId) ? before : withMore(tracker, before, more, times.nowMs)
      if (after !== before) written.push({ id, userId })
      kept.set(userId, after)
      if (refreshed.has(userId) || after?.times !== before?.times) changed.push({ version, userId, isInherited: inherited.has(userId) })
    }
  }
  await save(ctx, times, written)
  return changed
}

/** The times that these versions need for these users. */
export async function timesFor(ctx: InTx, times: TimesByUser, now: [Version, Set<UserId>][]): Promise<Times> {
  const trackers = now.flatMap(([{ trackers }, users]) => trackers.map((one) => ({ ...one, userTimes: users })))
  await read(ctx, times, new Map(trackers.map(({ id, userTimes: users }) => [id, users])))
  for (const { id, tracker, userTimes: users } of trackers) await refresh(ctx, times, id, tracker, users)
  return new Map(
    trackers.map(({ id, userTimes: users }) => {
      const kept = times.known.get(id) as Map<UserId, Kept | null>
      return [id, new Map([...users].flatMap((userId) => timesOf(userId, kept.get(userId))))]
    }),
  )
}

const timesOf = (userId: UserId, kept: Kept | null | undefined): [UserId, readonly number[]][] => (kept ? [[userId, kept.times]] : [])

/** Adds times to a row. Returns `before` when nothing has to be saved. */
function withMore(tracker: Tracker, before: Kept | null, more: readonly number[], nowMs: number): Kept | null {
  if (before && isFull(tracker, before.times, nowMs)) {
    // Without a window, a full tracker stays full.
    return before.isStale || tracker.withinMs === null ? before : { ...before, isStale: true }
  }
  const times = withTimes(tracker, before?.times, more, nowMs)
  return times.length === 0 || times === before?.times ? before : { times, isStale: false }
}
