/**
 * Creates deliveries from the cursors of the endpoints over the events of their project, when there is room for them: an endpoint has a
 * limited number of due deliveries, however many events wait for it. A round is one transaction with a limited number of rows, of which
 * each project gets a share.
 */
import { type Ctx, type InTx, inClaim, quickly } from '../../infra/runtime/ctx.ts'
import type { ProjectId } from '../../lib/ids.ts'
import {
  type Cursor,
  cursorsDue,
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
    const done = await inClaim(ctx, (ctx) => round(ctx, projects))
    if (done > 0) ctx.wake(DELIVER)
    return done + (isWhole && after === 0 ? 0 : 1)
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
  const wanted = cursors.map((cursor) => {
    const backlog = backlogs.get(cursor.endpoint_id)
    const most = Math.max(1, Math.floor(share / (byProject.get(cursor.project_id)?.length ?? 1)))
    return { ...cursor, isFailing: isFailing(backlog), room: Math.min(most, roomOf(backlog, DUE_MAX)) }
  })
  const found = await eventsAfter(
    ctx,
    wanted.filter(({ room }) => room > 0),
  )
  await deliveryQueries.insertDeliveries(ctx, {
    projectIds: found.map(({ project_id }) => project_id),
    endpointIds: found.map(({ endpoint_id }) => endpoint_id),
    eventIds: found.map(({ id }) => id),
    eventTypes: found.map(({ type }) => type),
    createdAt: found.map(({ created_at }) => created_at),
  })
  const foundBy = Map.groupBy(found, ({ endpoint_id }) => endpoint_id)
  await saveCursors(
    ctx,
    wanted.map((cursor) => looked(ctx, cursor, foundBy.get(cursor.endpoint_id) ?? [])),
  )
  return numbered + found.length
}

/** Whether an endpoint failed so often that it gets hardly any new deliveries. */
export const isFailing = (backlog: deliveryQueries.EndpointBacklog | undefined) => (backlog?.consecutive_failures ?? 0) >= FAILING_AFTER

/** How many deliveries an endpoint may get now. One that keeps failing gets one that finds out whether it still fails. */
export function roomOf(backlog: deliveryQueries.EndpointBacklog | undefined, dueMax: number): number {
  if (!backlog) return 0
  if (!isFailing(backlog)) return dueMax - backlog.due
  return backlog.due === 0 && backlog.pending < FAILING_PENDING_MAX ? 1 : 0
}

/** Where a cursor is after a round. One that found fewer events than there was room for has nothing more to find. */
function looked(ctx: Ctx, { project_id, endpoint_id, position, room, isFailing }: Wanted, found: NextEvent[]): Look {
  const next = new Date(ctx.clock.now().getTime() + (isFailing ? FAILING_EVERY_MS : 0))
  return { project_id, endpoint_id, position: found.at(-1)?.position ?? position, due_at: found.length < room ? null : next }
}

type Wanted = Cursor & { room: number; isFailing: boolean }
