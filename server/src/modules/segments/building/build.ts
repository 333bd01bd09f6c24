/**
 * Builds the versions of lists: everybody is looked at once, in the order of their ids, a chunk at a time. While a chunk is looked
 * at, nobody else writes where people stand, so that each person is either still to come, and what happens to them is left to
 * the chunk, or is kept up to date from then on. That is what makes the outcome the same as if the list had always been there.
 */
import { asSystem, type Ctx, type InTx, inTx, type ProjectCtx, type ProjectDefaults } from '../../../infra/ctx.ts'
import type { ListVersionId, ProjectId } from '../../../lib/ids.ts'
import { addToCounts, lockLists } from '../live/queries.ts'
import { makeLive } from '../live/versions.ts'
import { compileRule } from '../rules/compile.ts'
import { ruleSql } from '../rules/sql.ts'
import * as queries from './queries.ts'

/** How the building finds out about a project, and whether live work waits there. */
export type Surroundings = {
  projectOf(ctx: Ctx, id: ProjectId): Promise<ProjectDefaults>
  isBusy(ctx: Ctx, id: ProjectId): Promise<boolean>
}

const CHUNK_PEOPLE_FIRST = 2000
const CHUNK_PEOPLE_MIN = 500
const CHUNK_PEOPLE_MAX = 50_000
const CHUNK_MS = 60
/** While live work waits, building rests so many times as long as it took: it costs that work a tenth at most. */
const REST = 9
const BUILDING_LANE = -2

type Pace = { size: number; restUntilMs: number }

/** One chunk of each version that is being built. How large a chunk may be is learnt from the one before. */
export function createBuilder({ projectOf, isBusy }: Surroundings): (ctx: Ctx) => Promise<number> {
  const paces = new Map<ListVersionId, Pace>()
  return async (ctx) => {
    const unfinished = await queries.findUnfinished(ctx)
    for (const id of paces.keys()) if (!unfinished.some((version) => version.id === id)) paces.delete(id)
    let done = 0
    for (const { id, project_id } of unfinished) {
      const pace = paces.get(id) ?? { size: CHUNK_PEOPLE_FIRST, restUntilMs: 0 }
      paces.set(id, pace)
      if (ctx.clock.now().getTime() < pace.restUntilMs && (await isBusy(ctx, project_id))) continue
      done += await timedChunk(asSystem(ctx, project_id, await projectOf(ctx, project_id)), id, pace)
    }
    return done
  }
}

async function timedChunk(ctx: ProjectCtx, id: ListVersionId, pace: Pace): Promise<number> {
  let tookMs = 0
  const people = await inTx(ctx, async (ctx) => {
    await lockLists(ctx)
    const started = ctx.clock.now().getTime()
    const looked = await buildChunk(ctx, id, pace.size)
    tookMs = ctx.clock.now().getTime() - started
    return looked
  })
  pace.size = Math.round(Math.min(CHUNK_PEOPLE_MAX, Math.max(CHUNK_PEOPLE_MIN, pace.size * Math.min(2, Math.max(0.5, CHUNK_MS / tookMs)))))
  pace.restUntilMs = ctx.clock.now().getTime() + REST * tookMs
  // The last chunk may have had nobody in it, and yet has made the version live.
  return people + 1
}

async function buildChunk(ctx: InTx, id: ListVersionId, size: number): Promise<number> {
  const version = await queries.lockBuilding(ctx, id)
  if (!version) return 0
  if (version.people_total === null) await queries.countPeople(ctx, id)
  const { people, last } = (await queries.findChunk(ctx, version.built_to, size)) ?? { people: 0, last: null }
  if (last !== null) {
    const compiled = compileRule(version.rule)
    for (const [index, tracker] of compiled.trackers.entries()) {
      const trackerId = version.tracker_ids[index]
      if (trackerId !== undefined) await queries.fillTimes(ctx, trackerId, tracker, version.built_to, last)
    }
    const statement = ruleSql(compiled, {
      projectId: ctx.projectId,
      now: ctx.clock.now(),
      source: { from: 'times', trackerIds: version.tracker_ids },
    })
    const members = await queries.fillPeople(ctx, id, statement, version.built_to, last)
    await addToCounts(ctx, BUILDING_LANE, new Map([[id, members]]))
    await queries.advance(ctx, id, last, people)
  }
  if (people < size) await makeLive(ctx, id, version.list_id)
  return people
}

const REMOVED_AT_ONCE = 5000

/** Removes what retired versions leave behind, some rows at a time. */
export async function removeRetired(ctx: Ctx): Promise<number> {
  let removed = 0
  for (const { id, project_id } of await queries.findRetired(ctx)) {
    const inProject = asSystem(ctx, project_id, { locale: '', timezone: '' })
    const rows = await queries.removeSome(inProject, id, REMOVED_AT_ONCE)
    removed += rows > 0 ? rows : await queries.removeVersion(inProject, id)
  }
  return removed
}
