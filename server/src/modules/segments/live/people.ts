/** What becomes of lists when two people turn out to be one, or somebody is forgotten. Called by those who hold the lists. */
import type { InTx } from '../../../infra/ctx.ts'
import type { ListVersionId, TrackerId, UserId } from '../../../lib/ids.ts'
import type { Merge } from '../../users/index.ts'
import * as queries from './member-queries/queries.ts'
import { addToCounts, findTimes, type SavedTimes, saveTimes } from './queries.ts'
import type { Registry } from './registry.ts'
import { withTimes } from './tracking.ts'

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

async function mergeTimes(ctx: InTx, { versions }: Registry, survivorOf: Map<UserId, UserId>): Promise<void> {
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
    const tracker = trackers.get(tracker_id)
    const before = saved.get(key(tracker_id, into))
    const merged = tracker ? withTimes(tracker, before?.times, times, nowMs) : []
    const isStale = is_stale || before?.is_stale === true
    if (merged.length > 0 || isStale) saved.set(key(tracker_id, into), { tracker_id, user_id: into, times: merged, is_stale: isStale })
  }
  if (saved.size > 0) await saveTimes(ctx, [...saved.values()])
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
