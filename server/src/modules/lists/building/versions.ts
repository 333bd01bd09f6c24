/** Versions of lists. A rule never changes in place: a new version is built in the background and then replaces the live one. */

import type { Db } from '../../../infra/postgres/db.ts'
import { type Ctx, type InTx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { ListId, ListVersionId, ProjectId } from '../../../lib/ids.ts'
import { eventRemovalToFollow, noteRemovalFollowed } from '../../events/index.ts'
import { eachAlone, failedIn, ofProject } from '../../projects/index.ts'
import { compileRule, type Rule } from '../../rules/index.ts'
import { AFTER_RETENTION, BUILD, CHECK_CLOCK } from '../job-names.ts'
import * as time from '../live/queries.ts'
import { CLOCK_GRACE_MS, loadRegistry, type Registry, type Version } from '../live/registry.ts'
import { lockRules, tryLockRules } from '../queries.ts'
import * as queries from './versions.queries.ts'

/**
 * Starts a new version of a list. For a static list it is live at once. For a dynamic list it is built in the background, and replaces an
 * unfinished version; until it is ready, the list has the members of the live version.
 */
export async function startVersion(ctx: InTx, listId: ListId, rule: Rule | null): Promise<void> {
  await queries.retireUnfinished(ctx, listId)
  if (!rule) return void (await queries.insertLive(ctx, listId))
  await queries.insertBuilding(ctx, listId, rule, compileRule(rule).trackers.length)
  ctx.wake(BUILD)
}

/** Keeps what an archived list can be restored from: the members of a static list, and the rule of a dynamic one. A job deletes the rest. */
export async function archiveVersions(ctx: InTx, listId: ListId, rule: Rule | null): Promise<void> {
  await queries.archiveLive(ctx, listId)
  if (rule) await queries.archiveRule(ctx, listId, rule)
}

/** Restores the members of a static list that was archived, or starts to build a dynamic one. */
export async function restoreVersions(ctx: InTx, listId: ListId, rule: Rule | null): Promise<void> {
  if (!rule) {
    // The members of lists that were archived before members were kept are gone.
    if ((await queries.restoreLive(ctx, listId)) === 0) await queries.insertLive(ctx, listId)
    return
  }
  await queries.retireArchived(ctx, listId)
  await startVersion(ctx, listId, rule)
}

/**
 * Makes a complete version live, and rebuilds the lists that depend on the list. Returns false, without an effect, while another transaction
 * changes rules: it may wait for this version, which the caller has locked.
 */
export async function tryMakeLive(ctx: InTx, versionId: ListVersionId, listId: ListId): Promise<boolean> {
  if (!(await tryLockRules(ctx))) return false
  await queries.makeLive(ctx, versionId, listId)
  await rebuildListsDependingOn(ctx, `list:${listId}`)
  return true
}

/** Rebuilds the lists that depend on something that changed for all users at once. */
export async function rebuildListsDependingOn(ctx: InTx, what: string): Promise<void> {
  const { dependingOn, versions } = await lockRegistry(ctx)
  await rebuild(ctx, versions, new Set(dependingOn(what).map(({ listId }) => listId)))
}

/** The registry; until the transaction ends, no rule changes and no list is archived, so that none is rebuilt by a rule that was replaced. */
async function lockRegistry(ctx: InTx): Promise<Registry> {
  await lockRules(ctx)
  return loadRegistry(ctx)
}

/** Rebuilds each list by its newest rule. */
async function rebuild(ctx: InTx, versions: readonly Version[], lists: ReadonlySet<ListId>): Promise<void> {
  for (const id of lists) {
    const [newest] = versions.filter(({ listId }) => listId === id).sort((a, b) => b.id - a.id)
    if (newest) await startVersion(ctx, id, newest.rule.rule)
  }
}

/**
 * After old events were removed, rebuilds the lists that count such events from those that are left. Repeated until it succeeds. Returns 1
 * when there was a removal to follow.
 */
export async function followEventRemoval(ctx: Ctx): Promise<number> {
  const before = await eventRemovalToFollow(ctx)
  if (!before) return 0
  const followed = followedSince(ctx.db, before)
  const left = (await queries.projectsWithRules(ctx)).filter(({ project_id }) => !followed.has(project_id))
  const failed = failedIn<ProjectId>(ctx, AFTER_RETENTION)
  const tried = left.filter(({ project_id }) => !failed.includes(project_id))
  const done = await eachAlone(ctx, AFTER_RETENTION, tried.map(ofProject), async (ctx) => {
    await rebuildListsCounting(ctx, before)
    followed.add(ctx.projectId)
    return 1
  })
  if (done < left.length) return done
  await noteRemovalFollowed(ctx, before)
  return 1
}

/** The projects whose lists were rebuilt after the last removal: a project that fails has the lists of no other rebuilt again and again. */
const followedAfter = new WeakMap<Db, { before: number; projects: Set<ProjectId> }>()

function followedSince(db: Db, removedBefore: Date): Set<ProjectId> {
  const before = removedBefore.getTime()
  const known = followedAfter.get(db)
  if (known?.before === before) return known.projects
  const projects = new Set<ProjectId>()
  followedAfter.set(db, { before, projects })
  return projects
}

/** Rebuilds the lists of a project whose conditions count events from before an instant. */
const rebuildListsCounting = (ctx: ProjectCtx, before: Date): Promise<void> =>
  inTx(ctx, async (ctx) => {
    const reachMs = ctx.clock.now().getTime() - before.getTime()
    const { versions } = await lockRegistry(ctx)
    const reaching = versions.filter(({ trackers }) =>
      trackers.some(({ tracker }) => tracker.withinMs === null || tracker.withinMs > reachMs),
    )
    await rebuild(ctx, versions, new Set(reaching.map(({ listId }) => listId)))
  })

const NOTED_EVERY_MS = 5000

/**
 * When the clock was ahead and has been set back, time windows were ended too early: rebuilds the lists that depend on time. Returns the
 * number of projects.
 */
export async function checkClock(ctx: Ctx): Promise<number> {
  const failed = failedIn<ProjectId>(ctx, CHECK_CLOCK)
  const ahead = (await time.projectsAhead(ctx, CLOCK_GRACE_MS)).filter(({ project_id }) => !failed.includes(project_id))
  const done = await eachAlone(ctx, CHECK_CLOCK, ahead.map(ofProject), (ctx) => inTx(ctx, rebuildTimed))
  await time.noteTime(ctx, NOTED_EVERY_MS)
  return done
}

async function rebuildTimed(ctx: InTx): Promise<1> {
  const { versions } = await lockRegistry(ctx)
  const timed = versions.filter(({ rule }) => rule.conditions.some(({ compiled }) => compiled.nextChangeAt))
  await rebuild(ctx, versions, new Set(timed.map(({ listId }) => listId)))
  await time.setTime(ctx)
  return 1
}
