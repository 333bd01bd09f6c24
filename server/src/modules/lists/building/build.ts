/**
 * Builds versions of lists: evaluates all users once, in the order of their ids, in chunks. No other transaction writes memberships of the
 * project while a chunk is built. So each user is either still to come, and the build reads all of their data, or is maintained from then
 * on. The result is the same as if the list had always existed.
 */

import { BUILDING } from '../../../infra/queue/partitions.ts'
import { hasEntries } from '../../../infra/queue/queue.ts'
import { type Ctx, type InTx, inTx, type ProjectCtx, quickly } from '../../../infra/runtime/ctx.ts'
import type { ListVersionId, ProjectId, TrackerId, UserId } from '../../../lib/ids.ts'
import { eachAlone, eachFoundAlone, failedIn, ofProject, onItsOwn } from '../../projects/index.ts'
import { compileRule, ruleSql } from '../../rules/index.ts'
import { BUILD, CHECK_DUE, DELETE_RETIRED } from '../job-names.ts'
import { addToCounts, lockLists } from '../live/queries.ts'
import { ruleTables } from '../rule-tables.queries.ts'
import { eachPart, halves, type Part, takeParts } from './parts.ts'
import * as queries from './queries.ts'
import {
  advanceScan,
  beginScan,
  collectedParts,
  collectTimes,
  dropMatches,
  endScan,
  fillScanned,
  isWhole,
  nextPages,
  scanPages,
} from './scan.ts'
import { tryMakeLive } from './versions.ts'

export type BuildOptions = {
  /** From this many users on, past events are scanned in order. */
  scanFromUsers?: number
  /** A fixed number of users in a chunk. By default it depends on the time, and the build slows down while requests wait to be applied. */
  chunkUsers?: number
  /** From this many ids on, a chunk is built in two halves at the same time. By default it is a number that is worth a second transaction. */
  halvedFromIds?: number
}

const SCAN_FROM_USERS = 20_000
const PAGES_FIRST = 1000
const PAGES_MAX = 50_000

const CHUNK_USERS_FIRST = 2000
const CHUNK_USERS_FIRST_IDLE = 40_000
const CHUNK_USERS_MIN = 500
const CHUNK_USERS_MAX = 400_000
const HALVED_FROM_IDS = 10_000
const HALVED_FROM_PAGES = 500
/** A chunk is at most so many times as large as the one before, and at least this part of it. */
const GROWTH_MAX = 4
const GROWTH_MIN = 0.1
/** Accepted requests wait for a chunk. */
const CHUNK_MS = 25
/** The target time of a chunk when no accepted request waits. */
const CHUNK_IDLE_MS = 250
/** While accepted requests wait, the build pauses for this multiple of the time it took, so that it uses at most a fifteenth of the time. */
const REST = 14

/** When no accepted request has waited for so long, a build works on two halves at the same time. */
const QUIET_MS = 2000

/** So many versions of a project, the oldest, take turns, so that small lists do not wait for a large one. */
const SIDE_BY_SIDE = 4

type ChunkSizes = { size: number; pages: number }

/** What a builder keeps about the builds of a project. */
type BuildState = {
  round: number
  rest: { fromMs: number; untilMs: number }
  busyAtMs: number | null
  sizesOf: Map<ListVersionId, ChunkSizes>
}

/**
 * Builds a chunk of an unfinished version of each project, so that the lists of one project do not delay those of another. The time that the previous
 * chunk took decides the size of the next.
 */
export function createListBuilder(options: BuildOptions = {}): (ctx: Ctx) => Promise<number> {
  const stateOf = new Map<ProjectId, BuildState>()
  return async (ctx) => {
    const projects = (await queries.findUnfinished(quickly(ctx))).map(ofProject)
    for (const id of stateOf.keys()) if (!projects.some(({ project_id }) => project_id === id)) stateOf.delete(id)
    const failed = failedIn<ProjectId>(ctx, BUILD)
    const tried = projects.filter(({ project_id }) => !failed.includes(project_id))
    return eachAlone(ctx, BUILD, tried, (ctx) => {
      const state = stateOf.get(ctx.projectId) ?? { round: 0, rest: { fromMs: 0, untilMs: 0 }, busyAtMs: null, sizesOf: new Map() }
      stateOf.set(ctx.projectId, state)
      return buildNextVersion(ctx, state, options)
    })
  }
}

/** How long a range must be to be worked on in halves. */
type Halved = { fromIds: number; fromPages: number }

const NEVER: Halved = { fromIds: Number.POSITIVE_INFINITY, fromPages: Number.POSITIVE_INFINITY }

async function buildNextVersion(ctx: ProjectCtx, state: BuildState, options: BuildOptions): Promise<number> {
  const { scanFromUsers = SCAN_FROM_USERS, chunkUsers, halvedFromIds = HALVED_FROM_IDS } = options
  const nowMs = ctx.clock.now().getTime()
  const busy = chunkUsers === undefined && (await hasEntries(ctx, ctx.projectId))
  if (busy) state.busyAtMs = nowMs
  else if (nowMs - (state.busyAtMs ?? nowMs) > QUIET_MS) state.busyAtMs = null
  // After a clock that was set back it does not rest.
  if (busy && nowMs >= state.rest.fromMs && nowMs < state.rest.untilMs) return 0
  const { sizesOf } = state
  const ids = await queries.oldestUnfinished(ctx, SIDE_BY_SIDE)
  const id = ids[state.round++ % ids.length]
  if (id === undefined) return 0
  for (const known of sizesOf.keys()) if (!ids.includes(known)) sizesOf.delete(known)
  const first = chunkUsers ?? (busy ? CHUNK_USERS_FIRST : CHUNK_USERS_FIRST_IDLE)
  const sizes = sizesOf.get(id) ?? { size: first, pages: PAGES_FIRST }
  sizesOf.set(id, sizes)
  // Between requests, the build leaves a processor to the next ones.
  const halved = state.busyAtMs === null ? { fromIds: halvedFromIds, fromPages: Math.min(halvedFromIds, HALVED_FROM_PAGES) } : NEVER
  const targetMs = busy ? CHUNK_MS : CHUNK_IDLE_MS
  const { done, tookMs } = await timedStep(ctx, id, { sizes, targetMs, scanFromUsers, isFixed: chunkUsers !== undefined, halved })
  const fromMs = ctx.clock.now().getTime()
  state.rest = { fromMs, untilMs: fromMs + REST * tookMs }
  return done
}

type Step = { sizes: ChunkSizes; targetMs: number; scanFromUsers: number; isFixed: boolean; halved: Halved }

async function timedStep(outside: ProjectCtx, id: ListVersionId, step: Step): Promise<{ done: number; tookMs: number }> {
  const { sizes, targetMs, isFixed } = step
  let tookMs = 0
  const timed = async (work: () => Promise<number>) => {
    const started = outside.clock.now().getTime()
    const done = await work()
    tookMs = outside.clock.now().getTime() - started
    if (done > 0) outside.metrics.listsEvaluated('build', tookMs)
    return done
  }
  const resized = (size: number, min: number, max: number) =>
    Math.round(Math.min(max, Math.max(min, size * Math.min(GROWTH_MAX, Math.max(GROWTH_MIN, targetMs / tookMs)))))
  // Reading pages needs no lock on lists; building a chunk does.
  const read = await inTx(outside, (ctx) => timed(() => readPages({ ctx, outside, id }, step)))
  if (read > 0) sizes.pages = resized(sizes.pages, PAGES_FIRST, PAGES_MAX)
  if (read > 0) return { done: read, tookMs }
  const done = await inTx(outside, (ctx) => lockLists(ctx).then(() => timed(() => buildChunks({ ctx, outside, id }, step))))
  if (!isFixed) sizes.size = resized(sizes.size, CHUNK_USERS_MIN, CHUNK_USERS_MAX)
  return { done, tookMs }
}

/**
 * Builds a chunk, and while a version goes live with it and time is left, the first chunk of the next version. Returns the number of users,
 * and one for each version, because an empty last chunk is work too: it makes the version live. One that waits for that is none, so that the
 * job rests until it tries again.
 */
async function buildChunks(of: Of, step: Step): Promise<number> {
  const now = () => of.ctx.clock.now().getTime()
  const until = now() + step.targetMs
  let done = 0
  for (let id: ListVersionId | undefined = of.id; id !== undefined; ) {
    const { count, is } = await buildChunk({ ...of, id }, step)
    done += is === 'waiting' ? count : count + 1
    id = is === 'live' && !step.isFixed && now() < until ? await queries.unfinishedAfter(of.ctx, id) : undefined
  }
  return done
}

/** A version in the transaction of a step. `outside` is the context without it. */
type Of = { ctx: InTx; outside: ProjectCtx; id: ListVersionId }

async function readPages({ ctx, outside, id }: Of, { sizes, halved }: Step): Promise<number> {
  const version = await queries.lockBuilding(ctx, id)
  if (version?.status !== 'filling' || !version.scan) return 0
  const { partition, page } = version.scan
  // What a lost step has read or collected would count twice.
  const isUncounted = (part: Part) => part.partition > partition || (part.partition === partition && part.after >= page)
  if ((await takeParts(ctx, id)).some(isUncounted) || !(await isWhole(ctx, id))) {
    await beginScan(ctx, id)
    return 1
  }
  const pages = await nextPages(ctx, trackersOf(version), version.scan, sizes.pages)
  if (!pages) {
    const users = collectedParts(version.ids_from ?? 0, version.ids_to ?? 0, halved.fromIds)
    await eachPart(ctx, outside, id, users, (ctx, part) => collectTimes(ctx, id, trackersOf(version), part))
    await endScan(ctx, id, version.scan)
    return 1
  }
  await eachPart(ctx, outside, id, halves(pages, halved.fromPages), (ctx, part) => scanPages(ctx, id, trackersOf(version), part))
  await advanceScan(ctx, id, pages)
  return pages.until - pages.after
}

const trackersOf = ({ rule, tracker_ids }: Pick<queries.Building, 'rule' | 'tracker_ids'>) =>
  compileRule(rule).trackers.map((tracker, index) => ({ id: tracker_ids[index] as TrackerId, tracker }))

/** The number of users of a chunk. After the last one, the version is live, or is waiting for that. */
type Chunk = { count: number; is: 'begun' | 'waiting' | 'live' }

const NOTHING: Chunk = { count: 0, is: 'begun' }

async function buildChunk({ ctx, outside, id }: Of, { sizes: { size }, scanFromUsers, halved }: Step): Promise<Chunk> {
  const version = await queries.lockBuilding(ctx, id)
  if (version?.status !== 'building') return NOTHING
  const first = version.ids_from ?? (await queries.saveBounds(ctx, id))
  const isNew = version.ids_from === null && version.built_to === 0
  if (isNew && version.tracker_ids.length > 0 && (await queries.hasUsers(ctx, scanFromUsers))) {
    await beginScan(ctx, id)
    return NOTHING
  }
  if (version.scan && !(await isWhole(ctx, id))) {
    await beginScan(ctx, id)
    return NOTHING
  }
  const undone = await undoUncounted(ctx, id, version)
  const after = Math.max(version.built_to, first - 1) as UserId
  const { count, last, isLast } = await nextChunk(ctx, after, size)
  if (last !== null) {
    const chunk = { partition: '', after, until: last }
    const parts = halves(chunk, undone ? NEVER.fromIds : halved.fromIds, version.ids_to ?? undefined)
    const [members = 0] = await eachPart(ctx, outside, id, parts, async (own, part) => {
      const members = await buildMemberships(own, id, version, part)
      // This transaction waits for the others, so they must not wait for it: it writes the row of the count after them.
      if (own !== ctx) await addToCounts(own, BUILDING, new Map([[id, members]]))
      return members
    })
    await addToCounts(ctx, BUILDING, new Map([[id, members]]))
    await queries.advance(ctx, id, last)
  }
  if (!isLast) return { count, is: 'begun' }
  if (!(await tryMakeLive(ctx, id, version.list_id))) return { count, is: 'waiting' }
  if (version.scan) await dropMatches(ctx, id)
  return { count, is: 'live' }
}

/** Undoes parts of a step that was lost: their users have not been maintained since. Returns whether there were any. */
async function undoUncounted(ctx: InTx, id: ListVersionId, version: queries.Building): Promise<boolean> {
  const uncounted = (await takeParts(ctx, id)).filter(({ partition, until }) => partition === '' && until > version.built_to)
  for (const { after, until } of uncounted) {
    await addToCounts(ctx, BUILDING, new Map([[id, -(await queries.removeRange(ctx, id, after, until))]]))
    // A scan does not have the events that arrived during it.
    if (version.scan) await queries.markRangeStale(ctx, version.tracker_ids, after, until)
    else await queries.removeTimesInRange(ctx, version.tracker_ids, after, until)
  }
  return uncounted.length > 0
}

/** So many users are looked at to see how close their ids are. */
const PROBE_USERS = 1000
const CLOSE_IDS = 2 * PROBE_USERS

/** The next chunk: all users up to an id, at most `size`. Among ids that are close, as many ids are taken without counting their users. */
async function nextChunk(ctx: InTx, after: UserId, size: number) {
  if (size > PROBE_USERS) {
    const probe = await queries.findChunk(ctx, after, PROBE_USERS)
    if (probe?.count === PROBE_USERS && (probe.last as number) - after <= CLOSE_IDS)
      return { count: size, last: (after + size) as UserId, isLast: false }
  }
  const { count, last } = (await queries.findChunk(ctx, after, size)) ?? { count: 0, last: null }
  return { count, last, isLast: count < size }
}

/** Fills the memberships of some users. Returns how many of them are members. */
async function buildMemberships(ctx: InTx, id: ListVersionId, version: queries.Building, part: Part): Promise<number> {
  const [after, last] = [part.after as UserId, part.until as UserId]
  const trackers = trackersOf(version)
  if (version.scan) await fillScanned(ctx, id, trackers, after, last)
  else for (const { id: trackerId, tracker } of trackers) await queries.fillTimes(ctx, trackerId, tracker, after, last)
  const statement = ruleSql(compileRule(version.rule), {
    projectId: ctx.projectId,
    now: ctx.clock.now(),
    source: { from: 'times', trackerIds: version.tracker_ids, after, last },
    tables: ruleTables,
  })
  const members = await queries.fillUsers(ctx, id, statement, after, last, version.live_version_id)
  ctx.wake(CHECK_DUE)
  return members
}

const REMOVED_AT_ONCE = 5000

/** Deletes the rows of retired versions, a limited number at a time. */
export const deleteRetired = (ctx: Ctx): Promise<number> =>
  eachFoundAlone(
    ctx,
    DELETE_RETIRED,
    async (leftOut) => (await queries.findRetired(ctx, leftOut as ListVersionId[])).map(onItsOwn),
    (ctx, { ids }) => deleteSome(ctx, ids[0] as ListVersionId),
  )

async function deleteSome(ctx: ProjectCtx, id: ListVersionId): Promise<number> {
  const rows = await queries.removeSome(ctx, id, REMOVED_AT_ONCE)
  if (rows > 0) return rows
  await dropMatches(ctx, id)
  return queries.removeVersion(ctx, id)
}
