/**
 * Applies the accepted requests of a queue. A transaction takes a batch of the oldest entries of a project, and deletes them together
 * with writing their effects. One process at a time works on a project; it divides a large batch among partitions. An item that cannot
 * be applied is parked with its reason, and the others of the batch are applied without it.
 */
import type { ProjectId } from '../../lib/ids.ts'
import { isDatabaseAway } from '../postgres/database-away.ts'
import { isConflict } from '../postgres/db.ts'
import { type Ctx, claimFirst, type InTx, inTx, type ProjectCtx } from '../runtime/ctx.ts'
import {
  assignPartitions,
  type BatchPlan,
  beginPartition,
  closeBatchPlan,
  entriesOf,
  findBatchPlan,
  openBatchPlan,
  type Partition,
  UNDIVIDED,
} from './partitions.ts'
import { claimEntries, deleteEntries, lockProject, type ParkedItem, parkItems, type QueueEntry } from './queue.ts'

/** An item, with what is stored of it when it is parked. */
export type QueuedItem = { source: Omit<ParkedItem, 'reason'> }

/** How the items of a queue are read and applied. `K` is what is looked up for a batch before it is divided. */
export type Consumer<I extends QueuedItem, K> = {
  contextOf(ctx: Ctx, projectId: ProjectId): Promise<ProjectCtx>
  /** Takes the locks that applying a batch waits for, if they are free. False: the project is applied by itself, where it may wait. */
  tryLock(ctx: InTx<Ctx>, projectId: ProjectId): Promise<boolean>
  read(entry: QueueEntry): { items: I[]; parked: ParkedItem[] }
  /** `cacheable` is false in a transaction whose writes may be rolled back. */
  lookUp(ctx: InTx, items: I[], cacheable: boolean): Promise<K>
  /** The keys of the users that an item is about. Items of users who may be merged share a key. */
  keysOf(item: I, known: K): string[]
  /** Applies all items or none. Returns the items that can never be applied. */
  apply(ctx: InTx, items: I[], known: K, partition: Partition): Promise<ParkedItem[]>
}

/** More partitions would use more of the database, but they share the single thread of this process. */
const PARTITIONS = 3
/** A smaller batch is not worth dividing. */
const DIVIDED_FROM_ITEMS = 600

/**
 * Applies one batch of a project, of about `itemsMax` items. Returns how many entries that were, or 1 when the caller should try again at
 * once.
 */
export async function consumeNext<I extends QueuedItem, K>(
  ctx: Ctx,
  projectId: ProjectId,
  consumer: Consumer<I, K>,
  itemsMax: number,
): Promise<number> {
  try {
    return await applyBatch(ctx, projectId, consumer, itemsMax)
  } catch (error) {
    // Another transaction changed the same rows, or the database is unavailable: the batch is still in the queue.
    if (isConflict(error)) return 1
    if (isDatabaseAway(error)) throw error
    ctx.log.error({ err: error, project_id: projectId }, 'batch could not be applied; continuing item by item')
    return applyOldest(ctx, projectId, consumer)
  }
}

/**
 * Applies a small batch of a project over joint statements. `view` is the context of the projects that share them. Returns how many
 * entries that were, or that the project has to be applied by itself: its batch is large, or would wait.
 */
export async function consumeSmall<I extends QueuedItem, K>(
  view: Ctx,
  projectId: ProjectId,
  consumer: Consumer<I, K>,
  itemsMax: number,
): Promise<number | 'alone'> {
  try {
    return await inTx(view, (tx) => applySmall(tx, projectId, consumer, itemsMax))
  } catch (error) {
    if (isDatabaseAway(error)) throw error
    // By itself it is run again, and an item that cannot be applied is found.
    return 'alone'
  }
}

async function applySmall<I extends QueuedItem, K>(
  tx: InTx<Ctx>,
  projectId: ProjectId,
  consumer: Consumer<I, K>,
  itemsMax: number,
): Promise<number | 'alone'> {
  if (!(await lockProject(tx, projectId))) return 0
  if (!(await consumer.tryLock(tx, projectId)) || (await findBatchPlan(tx, projectId))) return 'alone'
  const entries = await claimEntries(tx, projectId, itemsMax)
  if (entries.length === 0) return 0
  const { items, parked } = readAll(consumer, entries)
  if (items.length >= DIVIDED_FROM_ITEMS) return 'alone'
  const inProject = (await consumer.contextOf(tx, projectId)) as InTx
  const known = await consumer.lookUp(inProject, items, true)
  parked.push(...(await consumer.apply(inProject, items, known, UNDIVIDED)))
  await finish(inProject, entries, parked)
  return entries.length
}

async function applyBatch<I extends QueuedItem, K>(
  ctx: Ctx,
  projectId: ProjectId,
  consumer: Consumer<I, K>,
  itemsMax: number,
): Promise<number> {
  return inTx(ctx, async (tx) => {
    if (!(await lockProject(tx, projectId))) return 0
    const begun = await findBatchPlan(tx, projectId)
    const entries = begun
      ? await entriesOf(tx, projectId, begun.positions)
      : await claimFirst(tx, () => claimEntries(tx, projectId, itemsMax))
    if (entries.length === 0 && !begun) return 0
    const inProject = (await consumer.contextOf(tx, projectId)) as InTx
    const { items, parked } = readAll(consumer, entries)
    const known = await consumer.lookUp(inProject, items, true)
    if (begun || items.length >= DIVIDED_FROM_ITEMS) {
      const positions = entries.map(({ position }) => position)
      const keys = () => items.map((item) => consumer.keysOf(item, known))
      const plan = begun ?? (await openBatchPlan(ctx, projectId, positions, assignPartitions(keys(), PARTITIONS)))
      await applyPartitions({ ...inProject, db: ctx.db, wake: ctx.wake }, plan, items, known, consumer)
      await closeBatchPlan(tx, projectId, plan.id)
    } else {
      parked.push(...(await consumer.apply(inProject, items, known, UNDIVIDED)))
    }
    await finish(inProject, entries, parked)
    return entries.length
  })
}

function readAll<I extends QueuedItem, K>(consumer: Consumer<I, K>, entries: QueueEntry[]) {
  const all = entries.map((entry) => consumer.read(entry))
  return { items: all.flatMap(({ items }) => items), parked: all.flatMap(({ parked }) => parked) }
}

async function finish(ctx: InTx, entries: QueueEntry[], parked: ParkedItem[]): Promise<void> {
  if (parked.length > 0) await park(ctx, parked)
  const positions = entries.map(({ position }) => position)
  await deleteEntries(ctx, ctx.projectId, positions)
  const now = ctx.clock.now().getTime()
  for (const { received_at } of entries) ctx.metrics.eventLag(Math.max(0, now - received_at.getTime()) / 1000, 1)
}

async function park(ctx: InTx, items: ParkedItem[]): Promise<void> {
  ctx.metrics.eventsIngested('parked', items.length)
  await parkItems(ctx, ctx.projectId, items)
}

/** Runs the partitions at the same time. When one fails, the others still finish, and their commits count. */
async function applyPartitions<I extends QueuedItem, K>(
  ctx: ProjectCtx,
  plan: BatchPlan,
  items: I[],
  known: K,
  consumer: Consumer<I, K>,
): Promise<void> {
  const partitions = Map.groupBy(items.entries(), ([index]) => plan.partitions[index] ?? UNDIVIDED)
  const outcomes = await Promise.allSettled(
    [...partitions].map(([partition, entries]) =>
      applyPartition(ctx, { plan, partition, items: entries.map(([, item]) => item) }, known, consumer),
    ),
  )
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}

type PartitionWork<I> = { plan: BatchPlan; partition: Partition; items: I[] }

async function applyPartition<I extends QueuedItem, K>(
  ctx: ProjectCtx,
  { plan, partition, items }: PartitionWork<I>,
  known: K,
  consumer: Consumer<I, K>,
): Promise<void> {
  const once = (apply: (ctx: InTx) => Promise<ParkedItem[]>) =>
    inTx(ctx, async (ctx) => {
      if (!(await beginPartition(ctx, ctx.projectId, plan.id, partition))) return
      const parked = await apply(ctx)
      if (parked.length > 0) await park(ctx, parked)
    })
  try {
    await once((ctx) => consumer.apply(ctx, items, known, partition))
  } catch (error) {
    if (isConflict(error) || isDatabaseAway(error)) throw error
    ctx.log.error({ err: error, project_id: ctx.projectId }, 'partition could not be applied; continuing item by item')
    await once((ctx) => applyOneByOne(ctx, items, consumer, partition))
  }
}

/** After a batch failed: applies the oldest entry, each item by itself, so that only the items that fail are parked. */
function applyOldest<I extends QueuedItem, K>(ctx: Ctx, projectId: ProjectId, consumer: Consumer<I, K>): Promise<number> {
  return inTx(ctx, async (tx) => {
    if (!(await lockProject(tx, projectId)) || (await findBatchPlan(tx, projectId))) return 0
    const entries = await claimFirst(tx, () => claimEntries(tx, projectId, 1))
    const inProject = (await consumer.contextOf(tx, projectId)) as InTx
    const { items, parked } = readAll(consumer, entries)
    parked.push(...(await applyOneByOne(inProject, items, consumer, UNDIVIDED)))
    await finish(inProject, entries, parked)
    return entries.length
  })
}

/** Applies each item in a savepoint of its own. Returns those that failed, with the reason. */
async function applyOneByOne<I extends QueuedItem, K>(
  ctx: InTx,
  items: I[],
  consumer: Consumer<I, K>,
  partition: Partition,
): Promise<ParkedItem[]> {
  const parked: ParkedItem[] = []
  for (const item of items) {
    const refused = await ctx.db
      .savepoint(async () => consumer.apply(ctx, [item], await consumer.lookUp(ctx, [item], false), partition))
      .catch((error: Error) => {
        if (isConflict(error) || isDatabaseAway(error)) throw error
        return [{ ...item.source, reason: error.message }]
      })
    parked.push(...refused)
  }
  return parked
}
