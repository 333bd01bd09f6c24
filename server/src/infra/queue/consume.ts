/**
 * Applies what the log of accepted requests holds: the oldest of a project first, a batch a transaction, and the deletion with the
 * effects. One process at a time leads for a project; a large batch it divides among lanes. An item that cannot be applied is
 * parked with its reason, and its neighbours go on.
 */
import type { ProjectId } from '../../lib/ids.ts'
import { isDatabaseAway } from '../http/error-reply.ts'
import { isRace } from '../postgres/db.ts'
import { type Ctx, type InTx, inTx, type ProjectCtx } from '../runtime/ctx.ts'
import { beginLane, closeWindow, divide, findWindow, openWindow, requestsOf, type Window } from './partitions.ts'
import { type ClaimedRequest, claimRequests, deleteRequests, lockProject, type ParkedItem, parkItems } from './queue.ts'

/** How items are read and applied; `K` is what is found out about the people of a batch before it is divided. */
export type LogWork<I extends { source: Omit<ParkedItem, 'reason'> }, K> = {
  contextOf(ctx: Ctx, projectId: ProjectId): Promise<ProjectCtx>
  read(request: ClaimedRequest): { items: I[]; parked: ParkedItem[] }
  /** `remember` is false where what is seen may be undone. */
  know(ctx: InTx, items: I[], remember: boolean): Promise<K>
  /** Items that share a key concern the same person, or may come to. */
  keysOf(item: I, known: K): string[]
  /** All of it or nothing; the answer is what cannot be applied whatever happens. */
  apply(ctx: InTx, items: I[], known: K, lane: number): Promise<ParkedItem[]>
}

/** More lanes keep more of the database busy, and share the one thread of this process. */
const LANES = 3
const LANE_ITEMS = 2000
/** Less than this is not worth dividing. */
const DIVIDED_FROM_ITEMS = 600

/** One batch of a project. The answer is how many requests were applied, or 1 when there is reason to come again. */
export async function applyNext<I extends { source: Omit<ParkedItem, 'reason'> }, K>(
  ctx: Ctx,
  projectId: ProjectId,
  work: LogWork<I, K>,
): Promise<number> {
  try {
    return await applyBatch(ctx, projectId, work)
  } catch (error) {
    // Somebody else wrote the same people at the same time, or the database is away: the batch is still there.
    if (isRace(error)) return 1
    if (isDatabaseAway(error)) throw error
    ctx.log.error({ err: error, project_id: projectId }, 'batch could not be applied; going on item by item')
    return applyOldest(ctx, projectId, work)
  }
}

async function applyBatch<I extends { source: Omit<ParkedItem, 'reason'> }, K>(ctx: Ctx, projectId: ProjectId, work: LogWork<I, K>) {
  return inTx(ctx, async (tx) => {
    if (!(await lockProject(tx, projectId))) return 0
    const begun = await findWindow(tx, projectId)
    const requests = begun ? await requestsOf(tx, projectId, begun.positions) : await claimRequests(tx, projectId, LANES * LANE_ITEMS)
    if (requests.length === 0 && !begun) return 0
    const inProject = (await work.contextOf(tx, projectId)) as InTx
    const { items, parked } = readAll(work, requests)
    const known = await work.know(inProject, items, true)
    if (begun || items.length >= DIVIDED_FROM_ITEMS) {
      const positions = requests.map(({ position }) => position)
      const keys = () => items.map((item) => work.keysOf(item, known))
      const window = begun ?? (await openWindow(ctx, projectId, positions, divide(keys(), LANES)))
      await applyWindow({ ...inProject, db: ctx.db }, window, items, known, work)
      await closeWindow(tx, projectId, window.id)
    } else {
      parked.push(...(await work.apply(inProject, items, known, 0)))
    }
    await finish(inProject, requests, parked)
    return requests.length
  })
}

function readAll<I extends { source: Omit<ParkedItem, 'reason'> }, K>(work: LogWork<I, K>, requests: ClaimedRequest[]) {
  const all = requests.map((request) => work.read(request))
  return { items: all.flatMap(({ items }) => items), parked: all.flatMap(({ parked }) => parked) }
}

async function finish(ctx: InTx, requests: ClaimedRequest[], parked: ParkedItem[]): Promise<void> {
  if (parked.length > 0) await park(ctx, parked)
  const positions = requests.map(({ position }) => position)
  await deleteRequests(ctx, ctx.projectId, positions)
  const now = ctx.clock.now().getTime()
  for (const { received_at } of requests) ctx.metrics.eventLag(Math.max(0, now - received_at.getTime()) / 1000, 1)
}

async function park(ctx: InTx, items: ParkedItem[]): Promise<void> {
  ctx.metrics.eventsIngested('parked', items.length)
  await parkItems(ctx, ctx.projectId, items)
}

/** Runs the lanes at the same time. When one of them fails the others are finished first: they hold what is to be kept. */
async function applyWindow<I extends { source: Omit<ParkedItem, 'reason'> }, K>(
  ctx: ProjectCtx,
  window: Window,
  items: I[],
  known: K,
  work: LogWork<I, K>,
): Promise<void> {
  const lanes = Map.groupBy(items.entries(), ([index]) => window.lanes[index] ?? 0)
  const outcomes = await Promise.allSettled(
    [...lanes].map(([lane, entries]) => applyLane(ctx, { window, lane, items: entries.map(([, item]) => item) }, known, work)),
  )
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}

type Lane<I> = { window: Window; lane: number; items: I[] }

async function applyLane<I extends { source: Omit<ParkedItem, 'reason'> }, K>(
  ctx: ProjectCtx,
  { window, lane, items }: Lane<I>,
  known: K,
  work: LogWork<I, K>,
): Promise<void> {
  const marked = (apply: (ctx: InTx) => Promise<ParkedItem[]>) =>
    inTx(ctx, async (ctx) => {
      if (!(await beginLane(ctx, ctx.projectId, window.id, lane))) return
      const parked = await apply(ctx)
      if (parked.length > 0) await park(ctx, parked)
    })
  try {
    await marked((ctx) => work.apply(ctx, items, known, lane))
  } catch (error) {
    if (isRace(error) || isDatabaseAway(error)) throw error
    ctx.log.error({ err: error, project_id: ctx.projectId }, 'lane could not be applied; going on item by item')
    await marked((ctx) => oneByOne(ctx, items, work, lane))
  }
}

/** The way around a poison item: the oldest request, each item by itself. */
function applyOldest<I extends { source: Omit<ParkedItem, 'reason'> }, K>(ctx: Ctx, projectId: ProjectId, work: LogWork<I, K>) {
  return inTx(ctx, async (tx) => {
    if (!(await lockProject(tx, projectId)) || (await findWindow(tx, projectId))) return 0
    const requests = await claimRequests(tx, projectId, 1)
    const inProject = (await work.contextOf(tx, projectId)) as InTx
    const { items, parked } = readAll(work, requests)
    parked.push(...(await oneByOne(inProject, items, work, 0)))
    await finish(inProject, requests, parked)
    return requests.length
  })
}

/** Each item in a savepoint of its own. What fails is parked with its reason. */
async function oneByOne<I extends { source: Omit<ParkedItem, 'reason'> }, K>(
  ctx: InTx,
  items: I[],
  work: LogWork<I, K>,
  lane: number,
): Promise<ParkedItem[]> {
  const parked: ParkedItem[] = []
  for (const item of items) {
    const refused = await ctx.db
      .savepoint(async () => work.apply(ctx, [item], await work.know(ctx, [item], false), lane))
      .catch((error: Error) => {
        if (isRace(error) || isDatabaseAway(error)) throw error
        return [{ ...item.source, reason: error.message }]
      })
    parked.push(...refused)
  }
  return parked
}
