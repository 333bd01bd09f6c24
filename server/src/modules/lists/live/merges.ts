/** Merging and erasing memberships. The caller holds the lock on lists. */

import type { Partition } from '../../../infra/queue/partitions.ts'
import type { InTx } from '../../../infra/runtime/ctx.ts'
import type { ListVersionId, TrackerId, UserId } from '../../../lib/ids.ts'
import type { Tracker } from '../../rules/index.ts'
import type { UserMerge } from '../../users/index.ts'
import * as queries from './merges.queries.ts'
import { addToCounts, findTimes, markStale, type SavedTimes, saveTimes } from './queries.ts'
import { CLOCK_GRACE_MS, isMaintained, registryOf, type Version } from './registry.ts'
import { readTimes } from './times.queries.ts'
import { withTimes } from './tracked-times.ts'

/** A user, and a version that a user who was merged into it was a member of. */
export type Brought = { user_id: UserId; version_id: ListVersionId }

/**
 * Gives the remaining user of each merge the events that both had, and the static lists of either. Dynamic lists are decided by
 * `evaluateMerges` and `evaluateMemberships`, which must get the same merges. Returns the memberships that merged users had, with the
 * remaining users.
 */
export async function mergeMemberships(ctx: InTx, merges: UserMerge[], partition: Partition): Promise<Brought[]> {
  if (merges.length === 0) return []
  const mergedInto = new Map(merges.map(({ from_id, into_id }) => [from_id, into_id]))
  await mergeTimes(ctx, mergedInto)
  const deleted = await queries.deleteMemberships(ctx, [...mergedInto.keys()])
  const left = deleted
    .filter(({ is_member }) => is_member)
    .map(({ user_id, version_id }) => ({ version_id, user_id: mergedInto.get(user_id) as UserId }))
  const inherited = left.length > 0 ? await queries.inheritMembers(ctx, left) : []
  const counts = new Map<ListVersionId, number>()
  const count = (id: ListVersionId, by: number) => counts.set(id, (counts.get(id) ?? 0) + by)
  for (const { version_id } of left) count(version_id, -1)
  for (const { version_id } of inherited) count(version_id, 1)
  await addToCounts(ctx, partition, counts)
  return left
}

/**
 * In a version that was live at the time of the merge, each user had tracked times, and the remaining user gets both. A build may have
 * reached one user before the merge and the other after it, and so count an event twice or not at all: then the times are read from the
 * stored events again. The events of this batch are stored and added later.
 */
async function mergeTimes(ctx: InTx, mergedInto: Map<UserId, UserId>): Promise<void> {
  const { versions } = await registryOf(ctx)
  const counting = versions.filter(({ trackers }) => trackers.length > 0)
  if (counting.length === 0) return
  const mergedMs = ((await queries.firstMerged(ctx, [...mergedInto.keys()])) ?? ctx.clock.now()).getTime()
  const wasLive = ({ liveSinceMs }: Version) => liveSinceMs + CLOCK_GRACE_MS < mergedMs
  await addTimes(ctx, counting.filter(wasLive), mergedInto)
  await readTimesAgain(
    ctx,
    counting.filter((version) => !wasLive(version)),
    [...new Set(mergedInto.values())],
  )
}

async function addTimes(ctx: InTx, versions: Version[], mergedInto: Map<UserId, UserId>): Promise<void> {
  const trackers = new Map(versions.flatMap((version) => version.trackers.map(({ id, tracker }) => [id, tracker])))
  if (trackers.size === 0) return
  const removed = await queries.removeTimes(ctx, [...trackers.keys()], [...mergedInto.keys()])
  const wanted = new Map<TrackerId, Set<UserId>>()
  for (const { tracker_id, user_id } of removed)
    wanted.set(tracker_id, (wanted.get(tracker_id) ?? new Set()).add(mergedInto.get(user_id) as UserId))
  if (wanted.size === 0) return
  const key = (trackerId: TrackerId, userId: UserId) => `${trackerId} ${userId}`
  const saved = new Map<string, SavedTimes>()
  for (const row of await findTimes(ctx, wanted)) saved.set(key(row.tracker_id, row.user_id), row)
  const nowMs = ctx.clock.now().getTime()
  for (const { tracker_id, user_id, times, is_stale } of removed) {
    const into = mergedInto.get(user_id) as UserId
    const before = saved.get(key(tracker_id, into))
    const merged = withTimes(trackers.get(tracker_id) as Tracker, before?.times, times, nowMs)
    const isStale = is_stale || before?.is_stale === true
    if (merged.length > 0 || isStale) saved.set(key(tracker_id, into), { tracker_id, user_id: into, times: merged, is_stale: isStale })
  }
  if (saved.size > 0) await saveTimes(ctx, [...saved.values()])
}

async function readTimesAgain(ctx: InTx, versions: Version[], ids: UserId[]): Promise<void> {
  if (versions.length === 0) return
  const trackerIds = versions.flatMap(({ trackers }) => trackers.map(({ id }) => id))
  const former = await queries.takeFormerTimes(ctx, trackerIds, ids)
  const saved: SavedTimes[] = []
  const stale = new Map<TrackerId, Set<UserId>>()
  for (const version of versions) {
    const kept = ids.filter((id) => isMaintained(version, id))
    for (const { id, tracker } of version.trackers) {
      const rows = kept.length > 0 ? await readTimes(ctx, tracker, kept) : []
      saved.push(...rows.map(({ user_id, times }) => ({ tracker_id: id, user_id, times, is_stale: false })))
      // The build reads all events of the other users later; only a scan may have missed some.
      const missed = version.isScanned
        ? former.filter(({ tracker_id, user_id }) => tracker_id === id && !isMaintained(version, user_id))
        : []
      if (missed.length > 0) stale.set(id, new Set(missed.map(({ user_id }) => user_id)))
    }
  }
  if (saved.length > 0) await saveTimes(ctx, saved)
  if (stale.size > 0) await markStale(ctx, stale)
}

/** Deletes everything that lists store about these users. */
export async function eraseMemberships(ctx: InTx, ids: UserId[], partition: Partition): Promise<void> {
  if (ids.length === 0) return
  const counts = new Map<ListVersionId, number>()
  for (const { version_id, is_member } of await queries.deleteMemberships(ctx, ids))
    if (is_member) counts.set(version_id, (counts.get(version_id) ?? 0) - 1)
  await addToCounts(ctx, partition, counts)
  const trackerIds = (await queries.allTrackers(ctx)).map(({ tracker_id }) => tracker_id)
  if (trackerIds.length > 0) await queries.removeTimes(ctx, trackerIds, ids)
}
