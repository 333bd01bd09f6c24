/**
 * Scans the stored events of a large project page by page, which is many times faster than user by user. The scan may miss events that
 * arrive meanwhile, so the consumer marks their users as stale (`is_stale`), and the build reads the times of stale users from their
 * events.
 */

import type { InTx } from '../../../infra/runtime/ctx.ts'
import type { ListVersionId, TrackerId, UserId } from '../../../lib/ids.ts'
import type { Tracker } from '../../rules/index.ts'
import { saveTimes } from '../live/queries.ts'
import { readTimes } from '../live/times.queries.ts'
import { halves, type Part } from './parts.ts'
import type { ScanPosition } from './queries.ts'
import * as queries from './scan.queries.ts'

type Trackers = { id: TrackerId; tracker: Tracker }[]

/**
 * Starts a scan, or starts it again. From the end of this transaction on, users of new events are marked as stale. The first time, the
 * caller holds the lock on lists.
 */
export async function beginScan(ctx: InTx, id: ListVersionId): Promise<void> {
  await queries.openMatches(ctx, id)
  await queries.saveScan(ctx, id, 'filling', { partition: '', page: 0 })
}

/** The next pages to be read, at most `pagesMax`; null after the last partition. */
export async function nextPages(ctx: InTx, trackers: Trackers, position: ScanPosition, pagesMax: number): Promise<Part | null> {
  const earliest = earliestMonth(ctx.clock.now().getTime(), trackers)
  const left = (await queries.partitions(ctx)).filter(({ name }) => name >= position.partition && (name >= earliest || name === PAST))
  const from = (name: string) => (name === position.partition ? position.page : 0)
  const next = left.find(({ name, pages }) => from(name) < pages)
  if (!next) return null
  const after = from(next.name)
  return { partition: next.name, after, until: Math.min(next.pages, after + pagesMax) }
}

/** Reads pages of a partition. */
export async function scanPages(ctx: InTx, id: ListVersionId, trackers: Trackers, pages: Part): Promise<void> {
  for (const { id: trackerId, tracker } of trackers) await queries.scanPages(ctx, id, trackerId, tracker, pages)
}

export const advanceScan = (ctx: InTx, id: ListVersionId, { partition, until }: Part) =>
  queries.saveScan(ctx, id, 'filling', { partition, page: until })

/** The name that stands for a partition in parts that collect times. It comes after those of all partitions. */
const COLLECTED = 'times'

/**
 * Divides the users of a project into parts, by a range that most of their ids are in. Users with ids outside the range are in the first or
 * the last part.
 */
export function collectedParts(from: number, to: number, halvedFromIds: number): Part[] {
  const parts = halves({ partition: COLLECTED, after: from, until: to }, halvedFromIds)
  return parts.map(({ partition, after, until }, index) => ({
    partition,
    after: index === 0 ? 0 : after,
    until: index === parts.length - 1 ? Number.MAX_SAFE_INTEGER : until,
  }))
}

/** Collects the times of users from the events that the scan has matched. */
export async function collectTimes(ctx: InTx, id: ListVersionId, trackers: Trackers, users: Part): Promise<void> {
  await queries.allowLongStatements(ctx)
  for (const { id: trackerId, tracker } of trackers) await queries.collectTimes(ctx, id, trackerId, tracker, users)
}

/** Ends a scan: the version can be built. */
export async function endScan(ctx: InTx, id: ListVersionId, position: ScanPosition): Promise<void> {
  await queries.allowLongStatements(ctx)
  await queries.indexTimes(ctx, id)
  await queries.saveScan(ctx, id, 'building', position)
}

const PAST = 'events_past'

/** The name of the first partition that may have events within a window. */
function earliestMonth(nowMs: number, trackers: Trackers): string {
  if (trackers.some(({ tracker }) => tracker.withinMs === null)) return ''
  const since = new Date(nowMs - Math.max(...trackers.map(({ tracker }) => tracker.withinMs ?? 0)))
  return `events_${since.toISOString().slice(0, 7).replace('-', '_')}`
}

/** Fills the tracked times of the users with an id above `after` and up to `last`. */
export async function fillScanned(ctx: InTx, id: ListVersionId, trackers: Trackers, after: UserId, last: UserId): Promise<void> {
  for (const { id: trackerId, tracker } of trackers) {
    const fill = { id, trackerId, tracker, after, last }
    const kept = await queries.findKept(ctx, fill)
    await queries.fillFromMatches(ctx, fill, kept.length > 0)
    const stale = kept.filter(({ is_stale }) => is_stale).map(({ user_id }) => user_id)
    if (stale.length === 0) continue
    const times = new Map((await readTimes(ctx, tracker, stale)).map((row) => [row.user_id, row.times]))
    await saveTimes(
      ctx,
      stale.map((user_id) => ({ tracker_id: trackerId, user_id, times: times.get(user_id) ?? [], is_stale: false })),
    )
  }
}

export { dropMatches, isWhole } from './scan.queries.ts'
