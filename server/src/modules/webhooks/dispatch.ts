/**
 * Creates deliveries from the cursors of the endpoints over the events of their project, when there is room for them: an endpoint has a
 * limited number of due deliveries, however many events wait for it. A round is one transaction with a limited number of rows, of which
 * each project gets a share.
 */
import { isDatabaseAway } from '../../infra/postgres/database-away.ts'
import { type Ctx, type InTx, inClaim, quickly } from '../../infra/runtime/ctx.ts'
import type { ProjectId } from '../../lib/ids.ts'
import { eachAlone, failedIn, ofProject } from '../projects/index.ts'
import {
  type Cursor,
  cursorsDue,
  DISPATCH,
  eventsAfter,
  type Look,
  lockVersions,
  type NextEvent,
  numberEvents,
  projectsWithEvents,
  saveCursors,
} from '../webhook-events/index.ts'
import * as deliveryQueries from './deliveries.queries.ts'
import { DELIVER } from './job-names.ts'

const PROJECTS_AT_ONCE = 100
/** Limits on a round, and what each project may have of it at least. */
const EVENTS_AT_ONCE = 500
const DELIVERIES_AT_ONCE = 500
const SHARE_MIN = 20
/** So many endpoints of a project take part in a round. */
const ENDPOINTS_AT_ONCE = 50
/** An endpoint gets no further deliveries while this many are due. */
const DUE_MAX = 100
/** After this many consecutive failures an endpoint gets a new delivery only when none is due, once in this time, and has at most so many. */
export const FAILING_AFTER = 10
const FAILING_EVERY_MS = 60_000
export const FAILING_PENDING_MAX = 200

/** A job that does one round. It returns the number of events and deliveries that it moved on. */
export function createDispatcher(): (ctx: Ctx) => Promise<number> {
  // Rounds go through the projects in turn, so that none is always behind the others.
  let after = 0 as ProjectId
  return async (ctx) => {
    const projects = await projectsWithEvents(quickly(ctx), after, PROJECTS_AT_ONCE)
    const isWhole = after === 0
    after = projects.length < PROJECTS_AT_ONCE ? (0 as ProjectId) : (projects.at(-1) as ProjectId)
    if (projects.length === 0) return isWhole ? 0 : 1
    const failed = new Set<ProjectId>(failedIn(ctx, DISPATCH))
    const tried = projects.filter((id) => !failed.has(id))
    const done = tried.length === 0 ? 0 : await together(ctx, tried)
    if (done > 0) ctx.wake(DELIVER)
    return done + (isWhole && after === 0 ? 0 : 1)
  }
}

/** A round with all these projects. If it fails, each has one of its own, so that one that fails stops no other. */
async function together(ctx: Ctx, projects: ProjectId[]): Promise<number> {
  try {
    return await inClaim(ctx, (ctx) => round(ctx, projects))
  } catch (error) {
    if (isDatabaseAway(error)) throw error
    ctx.log.warn({ err: error }, 'a round of webhook events failed; each of its projects gets a round of its own')
    const pieces = projects.map((project_id) => ofProject({ project_id }))
    return eachAlone(ctx, DISPATCH, pieces, ({ projectId }) => inClaim(ctx, (ctx) => round(ctx, [projectId])))
  }
}

const shareOf = (total: number, parts: number) => Math.max(SHARE_MIN, Math.floor(total / Math.max(1, parts)))

async function round(ctx: InTx<Ctx>, projects: ProjectId[]): Promise<number> {
  const locked = await lockVersions(ctx, projects)
  if (locked.length === 0) return 0
  const numbered = await numberEvents(ctx, locked, shareOf(EVENTS_AT_ONCE, locked.length))
  const cursors = await cursorsDue(ctx, locked, ENDPOINTS_AT_ONCE)
  if (cursors.length === 0) return numbered
  const byProject = Map.groupBy(cursors, ({ project_id }) => project_id)
  const share = shareOf(DELIVERIES_AT_ONCE, byProject.size)
  const backlogs = new Map(
    (await deliveryQueries.backlogsOf(ctx, cursors, DUE_MAX, FAILING_PENDING_MAX)).map((row) => [row.endpoint_id, row]),
  )
  const looking = cursors.map((cursor) => {
    const backlog = backlogs.get(cursor.endpoint_id)
    const reads = Math.max(1, Math.floor(share / (byProject.get(cursor.project_id)?.length ?? 1)))
    return { ...cursor, isFailing: isFailing(backlog), reads, room: Math.min(reads, roomOf(backlog, DUE_MAX)) }
  })
  const read = await eventsAfter(
    ctx,
    looking.filter(({ room }) => room > 0),
  )
  const readBy = Map.groupBy(read, ({ endpoint_id }) => endpoint_id)
  const parts = looking.map((cursor) => nextPart(cursor, readBy.get(cursor.endpoint_id) ?? [], ctx.clock.now()))
  const events = parts.flatMap(({ events }) => events)
  await deliveryQueries.insertDeliveries(ctx, {
    projectIds: events.map(({ project_id }) => project_id),
    endpointIds: events.map(({ endpoint_id }) => endpoint_id),
    eventIds: events.map(({ id }) => id),
    eventTypes: events.map(({ type }) => type),
    createdAt: events.map(({ created_at }) => created_at),
  })
  await saveCursors(
    ctx,
    parts.map(({ look }) => look),
  )
  return numbered + parts.reduce((sum, { passed }) => sum + passed, 0)
}

/** Whether an endpoint failed so often that it gets hardly any new deliveries. */
export const isFailing = (backlog: deliveryQueries.EndpointBacklog | undefined) => (backlog?.consecutive_failures ?? 0) >= FAILING_AFTER

/** How many deliveries an endpoint may get now. One that keeps failing gets one that finds out whether it still fails. */
export function roomOf(backlog: deliveryQueries.EndpointBacklog | undefined, dueMax: number): number {
  if (!backlog) return 0
  if (!isFailing(backlog)) return dueMax - backlog.due
  return backlog.due === 0 && backlog.pending < FAILING_PENDING_MAX ? 1 : 0
}

/** A cursor that is due: how many events may be read for it, and how many of them may be delivered. */
type Looking = Cursor & { isFailing: boolean; reads: number; room: number }

type Part = { events: NextEvent[]; passed: number; look: Look }

/** What of the events that were read is delivered now, and where the cursor is then. Those of a time without the subscription need no room. */
function nextPart({ isFailing, reads, room, ...cursor }: Looking, read: NextEvent[], now: Date): Part {
  const wanted = read.filter(({ is_wanted }) => is_wanted)
  const events = wanted.slice(0, Math.max(0, room))
  const without = wanted[events.length]
  const passed = without ? read.slice(0, read.indexOf(without)) : read
  const isLast = room > 0 && !without && read.length < reads
  const waits = isFailing && events.length >= room
  const due_at = waits ? new Date(now.getTime() + FAILING_EVERY_MS) : isLast ? null : now
  return { events, passed: passed.length, look: { ...cursor, position: passed.at(-1)?.position ?? cursor.position, due_at } }
}
