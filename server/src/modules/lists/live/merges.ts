/** What becomes of lists when two people turn out to be one, or somebody is forgotten. Called by those who hold the lists. */

import type { InTx } from '../../../infra/runtime/ctx.ts'
import type { ListVersionId, TrackerId, UserId } from '../../../lib/ids.ts'
import type { Tracker } from '../../rules/index.ts'
import type { Merge } from '../../users/index.ts'
import { readTimes } from '../building/queries.ts'
import { CLOCK_GRACE_MS } from '../building/versions.ts'
import * as queries from './merges.queries.ts'
import { addToCounts, findTimes, markStale, type SavedTimes, saveTimes } from './queries.ts'
import { isKept, type Registry, type Version } from './registry.ts'
import { withTimes } from './tracked-times.ts'

/**
 * The survivor has done what both did, and is in the static lists of either. Where it stands with dynamic lists is for
 * `reevaluate` to say, which is to be told that everything about it may be different.
 */
export async function mergePeople(ctx: InTx, registry: Registry, lane: number, pairs: Merge[]): Promise<void> {
  const survivorOf = new Map(pairs.map(({ from_id, into_id }) => [from_id, into_id]))
  await mergeTimes(ctx, registry, survivorOf)
  const lost = await queries.deletePeople(ctx, [...survivorOf.keys()])
  const heirs = lost
    .filter(({ is_member }) => is_member)
    .map(({ user_id, version_id }) => ({ version_id, user_id: survivorOf.get(user_id) as UserId }))
  const inherited = heirs.length > 0 ? await queries.inheritMembers(ctx, heirs) : []
  const counts = new Map<ListVersionId, number>()
  const count = (id: ListVersionId, by: number) => counts.set(id, (counts.get(id) ?? 0) + by)
  for (const { version_id } of heirs) count(version_id, -1)
  for (const { version_id } of inherited) count(version_id, 1)
  await addToCounts(ctx, lane, counts)
}

/**
 * In a version that was live when they became one, each had their own times, and the survivor has both. One that was being built may
 * have looked at either of them before and after that, and has counted the same twice, or not at all: what the survivor did is read
 * from the events again. Those of this batch are stored and taken in later.
 */
async function mergeTimes(ctx: InTx, { versions }: Registry, survivorOf: Map<UserId, UserId>): Promise<void> {
  const counting = versions.filter(({ trackers }) => trackers.length > 0)
  if (counting.length === 0) return
  const mergedMs = ((await queries.firstMerged(ctx, [...survivorOf.keys()])) ?? ctx.clock.now()).getTime()
  const wasLive = ({ liveSinceMs }: Version) => liveSinceMs + CLOCK_GRACE_MS < mergedMs
  await addTimes(ctx, counting.filter(wasLive), survivorOf)
  await readAnew(
    ctx,
    counting.filter((version) => !wasLive(version)),
    [...new Set(survivorOf.values())],
  )
}

async function addTimes(ctx: InTx, versions: Version[], survivorOf: Map<UserId, UserId>): Promise<void> {
  const trackers = new Map(versions.flatMap((version) => version.trackers.map(({ id, tracker }) => [id, tracker])))
  if (trackers.size === 0) return
  const taken = await queries.takeTimes(ctx, [...trackers.keys()], [...survivorOf.keys()])
  const wanted = new Map<TrackerId, Set<UserId>>()
  for (const { tracker_id, user_id } of taken)
    wanted.set(tracker_id, (wanted.get(tracker_id) ?? new Set()).add(survivorOf.get(user_id) as UserId))
  if (wanted.size === 0) return
  const key = (trackerId: TrackerId, userId: UserId) => `${trackerId} ${userId}`
  const saved = new Map<string, SavedTimes>()
  for (const row of await findTimes(ctx, wanted)) saved.set(key(row.tracker_id, row.user_id), row)
  const nowMs = ctx.clock.now().getTime()
  for (const { tracker_id, user_id, times, is_stale } of taken) {
    const into = survivorOf.get(user_id) as UserId
    const before = saved.get(key(tracker_id, into))
    const merged = withTimes(trackers.get(tracker_id) as Tracker, before?.times, times, nowMs)
    const isStale = is_stale || before?.is_stale === true
    if (merged.length > 0 || isStale) saved.set(key(tracker_id, into), { tracker_id, user_id: into, times: merged, is_stale: isStale })
  }
  if (saved.size > 0) await saveTimes(ctx, [...saved.values()])
}

async function readAnew(ctx: InTx, versions: Version[], survivors: UserId[]): Promise<void> {
  if (versions.length === 0) return
  const trackerIds = versions.flatMap(({ trackers }) => trackers.map(({ id }) => id))
  const left = await queries.takeFormerTimes(ctx, trackerIds, survivors)
  const saved: SavedTimes[] = []
  const marks = new Map<TrackerId, Set<UserId>>()
  for (const version of versions) {
    const kept = survivors.filter((id) => isKept(version, id))
    for (const { id, tracker } of version.trackers) {
      const rows = kept.length > 0 ? await readTimes(ctx, tracker, kept) : []
      saved.push(...rows.map(({ user_id, times }) => ({ tracker_id: id, user_id, times, is_stale: false })))
      // Who is still to come is looked at with all of it; only a reading of past events in a row may have missed some.
      const missed = version.isScanned ? left.filter(({ tracker_id, user_id }) => tracker_id === id && !isKept(version, user_id)) : []
      if (missed.length > 0) marks.set(id, new Set(missed.map(({ user_id }) => user_id)))
    }
  }
  if (saved.length > 0) await saveTimes(ctx, saved)
  if (marks.size > 0) await markStale(ctx, marks)
}

/** Removes every copy that lists hold of these people. */
export async function erasePeople(ctx: InTx, lane: number, ids: UserId[]): Promise<void> {
  const counts = new Map<ListVersionId, number>()
  for (const { version_id, is_member } of await queries.deletePeople(ctx, ids))
    if (is_member) counts.set(version_id, (counts.get(version_id) ?? 0) - 1)
  await addToCounts(ctx, lane, counts)
  const trackerIds = (await queries.allTrackers(ctx)).map(({ tracker_id }) => tracker_id)
  if (trackerIds.length > 0) await queries.takeTimes(ctx, trackerIds, ids)
}
