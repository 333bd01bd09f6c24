/** What becomes of lists when two people turn out to be one, or somebody is forgotten. Called by those who hold the lists. */

import type { InTx } from '../../../infra/runtime/ctx.ts'
import type { ListVersionId, TrackerId, UserId } from '../../../lib/ids.ts'
import type { Tracker } from '../../rules/index.ts'
import type { UserMerge } from '../../users/index.ts'
import { readTimes } from '../building/queries.ts'
import { CLOCK_GRACE_MS } from '../building/versions.ts'
import * as queries from './merges.queries.ts'
import { addToCounts, findTimes, markStale, type SavedTimes, saveTimes } from './queries.ts'
import { isMaintained, type Registry, type Version } from './registry.ts'
import { withTimes } from './tracked-times.ts'

/**
 * The survivor has done what both did, and is in the static lists of either. Where it stands with dynamic lists is for
 * `reevaluate` to say, which is to be told that everything about it may be different.
 */
export async function mergeMemberships(ctx: InTx, registry: Registry, partition: number, pairs: UserMerge[]): Promise<void> {
  const mergedIntoOf = new Map(pairs.map(({ from_id, into_id }) => [from_id, into_id]))
  await mergeTimes(ctx, registry, mergedIntoOf)
  const lost = await queries.deleteMemberships(ctx, [...mergedIntoOf.keys()])
  const mergeTargets = lost
    .filter(({ is_member }) => is_member)
    .map(({ user_id, version_id }) => ({ version_id, user_id: mergedIntoOf.get(user_id) as UserId }))
  const inherited = mergeTargets.length > 0 ? await queries.inheritMembers(ctx, mergeTargets) : []
  const counts = new Map<ListVersionId, number>()
  const count = (id: ListVersionId, by: number) => counts.set(id, (counts.get(id) ?? 0) + by)
  for (const { version_id } of mergeTargets) count(version_id, -1)
  for (const { version_id } of inherited) count(version_id, 1)
  await addToCounts(ctx, partition, counts)
}

/**
 * In a version that was live when they became one, each had their own times, and the survivor has both. One that was being built may
 * have looked at either of them before and after that, and has counted the same twice, or not at all: what the survivor did is read
 * from the events again. Those of this batch are stored and taken in later.
 */
async function mergeTimes(ctx: InTx, { versions }: Registry, mergedIntoOf: Map<UserId, UserId>): Promise<void> {
  const counting = versions.filter(({ trackers }) => trackers.length > 0)
  if (counting.length === 0) return
  const mergedMs = ((await queries.firstMerged(ctx, [...mergedIntoOf.keys()])) ?? ctx.clock.now()).getTime()
  const wasLive = ({ liveSinceMs }: Version) => liveSinceMs + CLOCK_GRACE_MS < mergedMs
  await addTimes(ctx, counting.filter(wasLive), mergedIntoOf)
  await readAnew(
    ctx,
    counting.filter((version) => !wasLive(version)),
    [...new Set(mergedIntoOf.values())],
  )
}

async function addTimes(ctx: InTx, versions: Version[], mergedIntoOf: Map<UserId, UserId>): Promise<void> {
  const trackers = new Map(versions.flatMap((version) => version.trackers.map(({ id, tracker }) => [id, tracker])))
  if (trackers.size === 0) return
  const taken = await queries.removeTimes(ctx, [...trackers.keys()], [...mergedIntoOf.keys()])
  const wanted = new Map<TrackerId, Set<UserId>>()
  for (const { tracker_id, user_id } of taken)
    wanted.set(tracker_id, (wanted.get(tracker_id) ?? new Set()).add(mergedIntoOf.get(user_id) as UserId))
  if (wanted.size === 0) return
  const key = (trackerId: TrackerId, userId: UserId) => `${trackerId} ${userId}`
  const saved = new Map<string, SavedTimes>()
  for (const row of await findTimes(ctx, wanted)) saved.set(key(row.tracker_id, row.user_id), row)
  const nowMs = ctx.clock.now().getTime()
  for (const { tracker_id, user_id, times, is_stale } of taken) {
    const into = mergedIntoOf.get(user_id) as UserId
    const before = saved.get(key(tracker_id, into))
    const merged = withTimes(trackers.get(tracker_id) as Tracker, before?.times, times, nowMs)
    const isStale = is_stale || before?.is_stale === true
    if (merged.length > 0 || isStale) saved.set(key(tracker_id, into), { tracker_id, user_id: into, times: merged, is_stale: isStale })
  }
  if (saved.size > 0) await saveTimes(ctx, [...saved.values()])
}

async function readAnew(ctx: InTx, versions: Version[], mergedInto: UserId[]): Promise<void> {
  if (versions.length === 0) return
  const trackerIds = versions.flatMap(({ trackers }) => trackers.map(({ id }) => id))
  const left = await queries.takeFormerTimes(ctx, trackerIds, mergedInto)
  const saved: SavedTimes[] = []
  const marks = new Map<TrackerId, Set<UserId>>()
  for (const version of versions) {
    const kept = mergedInto.filter((id) => isMaintained(version, id))
    for (const { id, tracker } of version.trackers) {
      const rows = kept.length > 0 ? await readTimes(ctx, tracker, kept) : []
      saved.push(...rows.map(({ user_id, times }) => ({ tracker_id: id, user_id, times, is_stale: false })))
      // Who is still to come is looked at with all of it; only a reading of past events in a row may have missed some.
      const missed = version.isScanned ? left.filter(({ tracker_id, user_id }) => tracker_id === id && !isMaintained(version, user_id)) : []
      if (missed.length > 0) marks.set(id, new Set(missed.map(({ user_id }) => user_id)))
    }
  }
  if (saved.length > 0) await saveTimes(ctx, saved)
  if (marks.size > 0) await markStale(ctx, marks)
}

/** Removes every copy that lists hold of these people. */
export async function eraseMemberships(ctx: InTx, partition: number, ids: UserId[]): Promise<void> {
  const counts = new Map<ListVersionId, number>()
  for (const { version_id, is_member } of await queries.deleteMemberships(ctx, ids))
    if (is_member) counts.set(version_id, (counts.get(version_id) ?? 0) - 1)
  await addToCounts(ctx, partition, counts)
  const trackerIds = (await queries.allTrackers(ctx)).map(({ tracker_id }) => tracker_id)
  if (trackerIds.length > 0) await queries.removeTimes(ctx, trackerIds, ids)
}
