/**
 * Builds versions of lists: evaluates all users once, in the order of their ids, in chunks. No other transaction writes memberships of the
 * project while a chunk is built. So each user is either still to come, and the build reads all of their data, or is maintained from then
 * on. The result is the same as if the list had always existed.
 */

import { BUILDING } from '../../../infra/queue/partitions.ts'
import { hasEntries } from '../../../infra/queue/queue.ts'
import { type Ctx, type InTx, inTx, type ProjectCtx, quickly } from '../../../infra/runtime/ctx.ts'
import type { ListVersionId, TrackerId, UserId } from '../../../lib/ids.ts'
import { inProject } from '../../projects/index.ts'
import { compileRule, ruleSql } from '../../rules/index.ts'
import { CHECK_DUE } from '../job-names.ts'
import { addToCounts, lockLists } from '../live/queries.ts'
import { ruleTables } from '../rule-tables.queries.ts'
import * as queries from './queries.ts'
import { beginScan, dropMatches, fillScanned, isWhole, scanNext } from './scan.ts'
import { makeLive } from './versions.ts'

export type BuildOptions = {
  /** From this many users on, past events are scanned in order. */
  scanFromUsers?: number
  /** A fixed number of users in a chunk. By default it depends on the time, and the build slows down while requests wait to be applied. */
  chunkUsers?: number
}

const SCAN_FROM_USERS = 20_000
const PAGES_FIRST = 1000
const PAGES_MAX = 50_000

const CHUNK_USERS_FIRST = 2000
const CHUNK_USERS_FIRST_IDLE = 10_000
const CHUNK_USERS_MIN = 500
const CHUNK_USERS_MAX = 100_000
/** A chunk is at most so many times as large as the one before, and at least this part of it. */
const GROWTH_MAX = 4
const GROWTH_MIN = 0.1
/** Accepted requests wait for a chunk. */
const CHUNK_MS = 25
/** The target time of a chunk when no accepted request waits. */
const CHUNK_IDLE_MS = 250
/** While accepted requests wait, the build pauses for this multiple of the time it took, so that it uses at most a tenth of the time. */
const REST = 9

type ChunkSizes = { size: number; pages: number; restUntilMs: number }

/**
 * Builds a chunk of the oldest unfinished version of each project, so that the lists of one project do not delay those of another. The time
 * that the previous chunk took decides the size of the next.
 */
export function createListBuilder({ scanFromUsers = SCAN_FROM_USERS, chunkUsers }: BuildOptions = {}): (ctx: Ctx) => Promise<number> {
  const sizesOf = new Map<ListVersionId, ChunkSizes>()
  return async (ctx) => {
    const unfinished = await queries.findUnfinished(quickly(ctx))
    for (const id of sizesOf.keys()) if (!unfinished.some((version) => version.id === id)) sizesOf.delete(id)
    let done = 0
    for (const { id, project_id } of unfinished) {
      const busy = chunkUsers === undefined && (await hasEntries(ctx, project_id))
      const first = chunkUsers ?? (busy ? CHUNK_USERS_FIRST : CHUNK_USERS_FIRST_IDLE)
      const sizes = sizesOf.get(id) ?? { size: first, pages: PAGES_FIRST, restUntilMs: 0 }
      sizesOf.set(id, sizes)
      if (busy && ctx.clock.now().getTime() < sizes.restUntilMs) continue
      const step = { sizes, targetMs: busy ? CHUNK_MS : CHUNK_IDLE_MS, scanFromUsers, isFixed: chunkUsers !== undefined }
      done += await inProject(ctx, project_id, (ctx) => timedStep(ctx, id, step))
    }
    return done
  }
}

type Step = { sizes: ChunkSizes; targetMs: number; scanFromUsers: number; isFixed: boolean }

async function timedStep(ctx: ProjectCtx, id: ListVersionId, { sizes, targetMs, scanFromUsers, isFixed }: Step): Promise<number> {
  let tookMs = 0
  const timed = async (work: () => Promise<number>) => {
    const started = ctx.clock.now().getTime()
    const done = await work()
    tookMs = ctx.clock.now().getTime() - started
    return done
  }
  const resized = (size: number, min: number, max: number) =>
    Math.round(Math.min(max, Math.max(min, size * Math.min(GROWTH_MAX, Math.max(GROWTH_MIN, targetMs / tookMs)))))
  // Reading pages needs no lock on lists; building a chunk does.
  const read = await inTx(ctx, (ctx) => timed(() => readPages(ctx, id, sizes.pages)))
  if (read > 0) sizes.pages = resized(sizes.pages, PAGES_FIRST, PAGES_MAX)
  const users =
    read > 0 ? 0 : await inTx(ctx, (ctx) => lockLists(ctx).then(() => timed(() => buildChunk(ctx, id, sizes.size, scanFromUsers))))
  if (read === 0 && !isFixed) sizes.size = resized(sizes.size, CHUNK_USERS_MIN, CHUNK_USERS_MAX)
  sizes.restUntilMs = ctx.clock.now().getTime() + REST * tookMs
  // Plus one, because an empty last chunk is work too: it made the version live.
  return read + users + 1
}

async function readPages(ctx: InTx, id: ListVersionId, pages: number): Promise<number> {
  const version = await queries.lockBuilding(ctx, id)
  if (version?.status !== 'filling' || !version.scan) return 0
  return scanNext(ctx, id, trackersOf(version), version.scan, pages)
}

const trackersOf = ({ rule, tracker_ids }: Pick<queries.Building, 'rule' | 'tracker_ids'>) =>
  compileRule(rule).trackers.map((tracker, index) => ({ id: tracker_ids[index] as TrackerId, tracker }))

async function buildChunk(ctx: InTx, id: ListVersionId, size: number, scanFromUsers: number): Promise<number> {
  const version = await queries.lockBuilding(ctx, id)
  if (version?.status !== 'building') return 0
  if (version.users_total === null) {
    const total = await queries.countUsers(ctx, id)
    if (version.tracker_ids.length > 0 && total >= scanFromUsers) {
      await beginScan(ctx, id)
      return 0
    }
  }
  if (version.scan && !(await isWhole(ctx, id))) {
    await beginScan(ctx, id)
    return 0
  }
  const { count: users, last } = (await queries.findChunk(ctx, version.built_to, size)) ?? { count: 0, last: null }
  if (last !== null) await buildMemberships(ctx, id, version, { after: version.built_to, last, count: users })
  if (users < size) {
    await makeLive(ctx, id, version.list_id)
    if (version.scan) await dropMatches(ctx, id)
  }
  return users
}

type Chunk = { after: UserId; last: UserId; count: number }

async function buildMemberships(
  ctx: InTx,
  id: ListVersionId,
  version: queries.Building,
  { after, last, count: users }: Chunk,
): Promise<void> {
  const trackers = trackersOf(version)
  if (version.scan) await fillScanned(ctx, id, trackers, after, last)
  else for (const { id: trackerId, tracker } of trackers) await queries.fillTimes(ctx, trackerId, tracker, after, last)
  const statement = ruleSql(compileRule(version.rule), {
    projectId: ctx.projectId,
    now: ctx.clock.now(),
    source: { from: 'times', trackerIds: version.tracker_ids, after, last },
    tables: ruleTables,
  })
  const members = await queries.fillUsers(ctx, id, statement, after, last)
  ctx.wake(CHECK_DUE)
  await addToCounts(ctx, BUILDING, new Map([[id, members]]))
  await queries.advance(ctx, id, last, users)
}

const REMOVED_AT_ONCE = 5000

/** Deletes the rows of retired versions, a limited number at a time. */
export async function deleteRetired(ctx: Ctx): Promise<number> {
  let removed = 0
  for (const { id, project_id } of await queries.findRetired(ctx)) {
    removed += await inProject(ctx, project_id, async (ctx) => {
      const rows = await queries.removeSome(ctx, id, REMOVED_AT_ONCE)
      if (rows > 0) return rows
      await dropMatches(ctx, id)
      return queries.removeVersion(ctx, id)
    })
  }
  return removed
}
