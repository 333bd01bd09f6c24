/**
 * Applies what the log of accepted requests holds: the oldest of a project first, a batch a transaction, and the deletion with the
 * effects. One process at a time leads for a project; a large batch it divides among partitions. An item that cannot be applied is
 * parked with its reason, and its neighbours go on.
 */
import type { ProjectId } from '../../lib/ids.ts'
import { isDatabaseAway } from '../http/error-reply.ts'
import { isConflict } from '../postgres/db.ts'
import { type Ctx, type InTx, inTx, type ProjectCtx } from '../runtime/ctx.ts'
import { assignPartitions, type BatchPlan, beginPartition, closeBatchPlan, entriesOf, findBatchPlan, openBatchPlan } from './partitions.ts'
import { claimEntries, deleteEntries, lockProject, type ParkedItem, parkItems, type QueueEntry } from './queue.ts'

/** How items are read and applied; `K` is what is found out about the people of a batch before it is divided. */
export type Consumer<I extends { source: Omit<ParkedItem, 'reason'> }, K> = {
  contextOf(ctx: Ctx, projectId: ProjectId): Promise<ProjectCtx>
  read(request: QueueEntry): { items: I[]; parked: ParkedItem[] }
  /** `remember` is false where what is seen may be undone. */
  know(ctx: InTx, items: I[], remember: boolean): Promise<K>
  /** Items that share a key concern the same person, or may come to. */
  keysOf(item: I, known: K): string[]
  /** All of it or nothing; the answer is what cannot be applied whatever happens. */
  apply(ctx: InTx, items: I[], known: K, partition: number): Promise<ParkedItem[]>
}

/** More partitions keep more of the database busy, and share the one thread of this process. */
const PARTITIONS = 3
const PARTITION_ITEMS = 2000
/** Less than this is not worth dividing. */
const DIVIDED_FROM_ITEMS = 600

/** One batch of a project. The answer is how many requests were applied, or 1 when there is reason to come again. */
export async function consumeNext<I extends { source: Omit<ParkedItem, 'reason'> }, K>(
  ctx: Ctx,
  projectId: ProjectId,
  work: Consumer<I, K>,
): Promise<number> {
  try {
    return await applyBatch(ctx, projectId, work)
  } catch (error) {
    // Somebody else wrote the same people at the same time, or the database is away: the batch is still there.
    if (isConflict(error)) return 1
    if (isDatabaseAway(error)) throw error
    ctx.log.error({ err: error, project_id: projectId }, 'batch could not be applied; going on item by item')
    return applyOldest(ctx, projectId, work)
  }
}

async function applyBatch<I extends { source: Omit<ParkedItem, 'reason'> }, K>(ctx: Ctx, projectId: ProjectId, work: Consumer<I, K>) {
  return inTx(ctx, async (tx) => {
    if (!(await lockProject(tx, projectId))) return 0
    const begun = await findBatchPlan(tx, projectId)
    const requests = begun
      ? await entriesOf(tx, projectId, begun.positions)
      : await claimEntries(tx, projectId, PARTITIONS * PARTITION_ITEMS)
    if (requests.length === 0 && !begun) return 0
    const inProject = (await work.contextOf(tx, projectId)) as InTx
    const { items, parked } = readAll(work, requests)
    const known = await work.know(inProject, items, true)
    if (begun || items.length >= DIVIDED_FROM_ITEMS) {
      const positions = requests.map(({ position }) => position)
      const keys = () => items.map((item) => work.keysOf(item, known))
      const window = begun ?? (await openBatchPlan(ctx, projectId, positions, assignPartitions(keys(), PARTITIONS)))
      await applyPartitions({ ...inProject, db: ctx.db }, window, items, known, work)
      await closeBatchPlan(tx, projectId, window.id)
    } else {
      parked.push(...(await work.apply(inProject, items, known, 0)))
    }
    await finish(inProject, requests, parked)
    return requests.length
  })
}

function readAll<I extends { source: Omit<ParkedItem, 'reason'> }, K>(work: Consumer<I, K>, requests: QueueEntry[]) {
  const all = requests.map((request) => work.read(request))
  return { items: all.flatMap(({ items }) => items), parked: all.flatMap(({ parked }) => parked) }
}

async function finish(ctx: InTx, requests: QueueEntry[], parked: ParkedItem[]): Promise<void> {
  if (parked.length > 0) await park(ctx, parked)
  const positions = requests.map(({ position }) => position)
  await deleteEntries(ctx, ctx.projectId, positions)
  const now = ctx.clock.now().getTime()
  for (const { received_at } of requests) ctx.metrics.eventLag(Math.max(0, now - received_at.getTime()) / 1000, 1)
}

async function park(ctx: InTx, items: ParkedItem[]): Promise<void> {
  ctx.metrics.eventsIngested('parked', items.length)
  await parkItems(ctx, ctx.projectId, items)
}

/** Runs the partitions at the same time. When one of them fails the others are finished first: they hold what is to be kept. */
async function applyPartitions<I extends { source: Omit<ParkedItem, 'reason'> }, K>(
  ctx: ProjectCtx,
  window: BatchPlan,
  items: I[],
  known: K,
  work: Consumer<I, K>,
): Promise<void> {
  const partitions = Map.groupBy(items.entries(), ([index]) => window.partitions[index] ?? 0)
  const outcomes = await Promise.allSettled(
    [...partitions].map(([partition, entries]) =>
      applyPartition(ctx, { window, partition: partition, items: entries.map(([, item]) => item) }, known, work),
    ),
  )
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}

type PartitionWork<I> = { window: BatchPlan; partition: number; items: I[] }

async function applyPartition<I extends { source: Omit<ParkedItem, 'reason'> }, K>(
  ctx: ProjectCtx,
  { window, partition, items }: PartitionWork<I>,
  known: K,
  work: Consumer<I, K>,
): Promise<void> {
  const marked = (apply: (ctx: InTx) => Promise<ParkedItem[]>) =>
    inTx(ctx, async (ctx) => {
      if (!(await beginPartition(ctx, ctx.projectId, window.id, partition))) return
      const parked = await apply(ctx)
      if (parked.length > 0) await park(ctx, parked)
    })
  try {
    await marked((ctx) => work.apply(ctx, items, known, partition))
  } catch (error) {
    if (isConflict(error) || isDatabaseAway(error)) throw error
    ctx.log.error({ err: error, project_id: ctx.projectId }, 'partition could not be applied; going on item by item')
    await marked((ctx) => oneByOne(ctx, items, work, partition))
  }
}

/** The way around a poison item: the oldest request, each item by itself. */
function applyOldest<I extends { source: Omit<ParkedItem, 'reason'> }, K>(ctx: Ctx, projectId: ProjectId, work: Consumer<I, K>) {
  return inTx(ctx, async (tx) => {
    if (!(await lockProject(tx, projectId)) || (await findBatchPlan(tx, projectId))) return 0
    const requests = await claimEntries(tx, projectId, 1)
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
  work: Consumer<I, K>,
  partition: number,
): Promise<ParkedItem[]> {
  const parked: ParkedItem[] = []
  for (const item of items) {
    const refused = await ctx.db
      .savepoint(async () => work.apply(ctx, [item], await work.know(ctx, [item], false), partition))
      .catch((error: Error) => {
        if (isConflict(error) || isDatabaseAway(error)) throw error
        return [{ ...item.source, reason: error.message }]
      })
    parked.push(...refused)
  }
  return parked
}
