/**
 * Applies the accepted requests of a queue. A transaction takes a batch of the oldest entries of a project, and deletes them together
 * with writing their effects. One process at a time works on a project; it divides a large batch among partitions. An item that cannot
 * be applied is parked with its reason, and the others of the batch are applied without it.
 */
import type { ProjectId, UserId } from '../../lib/ids.ts'
import { isDatabaseAway } from '../postgres/database-away.ts'
import { isConflict } from '../postgres/db.ts'
import { type Ctx, claimFirst, type InTx, inTx, type ProjectCtx } from '../runtime/ctx.ts'
import {
  assignPartitions,
  type BatchPlan,
  beginPartition,
  closeBatchPlan,
  divide,
  entriesOf,
  findBatchPlan,
  openBatchPlan,
  PARTITIONS,
  type Partition,
  UNDIVIDED,
} from './partitions.ts'
import { claimEntries, deleteEntries, lockProject, type ParkedItem, parkItems, type QueueEntry } from './queue.ts'
import { watermark } from './watermark.ts'

/** An item, with what is stored of it when it is parked. */
export type QueuedItem = { source: Omit<ParkedItem, 'reason'> }

/** Work of a user that is due by itself, such as a timer. It has no entry: what stores it deletes it with its effects. */
export type DueWork = { userId: UserId }

/**
 * How the items of a queue are read and applied. `K` is what is looked up for a batch before it is divided, `D` is work that is due at an
 * instant instead of waiting in an entry.
 */
export type Consumer<I extends QueuedItem, K, D extends DueWork> = {
  contextOf(ctx: Ctx, projectId: ProjectId): Promise<ProjectCtx>
  /** Takes the locks that applying a batch waits for, if they are free. False: the project is applied by itself, where it may wait. */
  tryLock(ctx: InTx<Ctx>, projectId: ProjectId): Promise<boolean>
  /** Reads what applying a batch of the project will ask for, whatever is in it. It is sent with the claim. */
  readAhead(ctx: InTx<Ctx>, projectId: ProjectId): Promise<unknown>
  read(entry: QueueEntry): { items: I[]; parked: ParkedItem[] }
  /** `cacheable` is false in a transaction whose writes may be rolled back. */
  lookUp(ctx: InTx, items: I[], cacheable: boolean): Promise<K>
  /** The keys of the users that an item is about. Items of users who may be merged share a key. */
  keysOf(item: I, known: K): string[]
  /** The projects with work that is due. */
  projectsDue(ctx: Ctx): Promise<ProjectId[]>
  /** The oldest work that is due, at most so much. `upTo` is asked for only if there can be any: no later entry is older. */
  findDue(ctx: InTx, upTo: () => Promise<Date>, max: number): Promise<D[]>
  /** Applies all items and due work, or none. Returns the items that can never be applied. */
  apply(ctx: InTx, items: I[], known: K, partition: Partition, due: D[]): Promise<ParkedItem[]>
  /** Stores that work which is due could not be applied, so that it is not found again. */
  parkDue(ctx: InTx, due: D, reason: string): Promise<void>
}

/** A smaller batch is not worth dividing. */
const DIVIDED_FROM_ITEMS = 600
/** So much work that is due is added to a batch. */
const DUE_MAX = 3000

/**
 * Applies one batch of a project, of about `itemsMax` items. Returns how many entries that were, or 1 when the caller should try again at
 * once.
 */
export async function consumeNext<I extends QueuedItem, K, D extends DueWork>(
  ctx: Ctx,
  projectId: ProjectId,
  consumer: Consumer<I, K, D>,
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
export async function consumeSmall<I extends QueuedItem, K, D extends DueWork>(
  view: Ctx,
  projectId: ProjectId,
  consumer: Consumer<I, K, D>,
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

async function applySmall<I extends QueuedItem, K, D extends DueWork>(
  tx: InTx<Ctx>,
  projectId: ProjectId,
  consumer: Consumer<I, K, D>,
  itemsMax: number,
): Promise<number | 'alone'> {
  // Sent together, in this order. What is read of a project that another process has locked is not used.
  const [isLocked, mayApply, plan, entries, inProject] = await Promise.all([
    lockProject(tx, projectId),
    consumer.tryLock(tx, projectId),
    findBatchPlan(tx, projectId),
    claimEntries(tx, projectId, itemsMax),
    consumer.contextOf(tx, projectId) as Promise<InTx>,
    consumer.readAhead(tx, projectId),
  ])
  if (!isLocked) return 0
  if (!mayApply || plan) return 'alone'
  const { items, parked } = readAll(consumer, entries)
  const [due, known] = await Promise.all([
    consumer.findDue(inProject, watermark(tx, projectId, entries), itemsMax),
    consumer.lookUp(inProject, items, true),
  ])
  if (entries.length + due.length === 0) return 0
  if (items.length + due.length >= DIVIDED_FROM_ITEMS || due.length >= itemsMax) return 'alone'
  // The entries are deleted on the way: what fails undoes that too.
  const [refused] = await Promise.all([
    consumer.apply(inProject, items, known, UNDIVIDED, due),
    deleteEntries(inProject, projectId, entries),
  ])
  await recordApplied(inProject, entries, [...parked, ...refused])
  return entries.length + due.length
}

async function applyBatch<I extends QueuedItem, K, D extends DueWork>(
  ctx: Ctx,
  projectId: ProjectId,
  consumer: Consumer<I, K, D>,
  itemsMax: number,
): Promise<number> {
  return inTx(ctx, async (tx) => {
    if (!(await lockProject(tx, projectId))) return 0
    const begun = await findBatchPlan(tx, projectId)
    const entries = begun
      ? await entriesOf(tx, projectId, begun.positions)
      : await claimFirst(tx, () => claimEntries(tx, projectId, itemsMax))
    const inProject = (await consumer.contextOf(tx, projectId)) as InTx
    const due = await consumer.findDue(inProject, watermark(tx, projectId, entries), DUE_MAX)
    if (entries.length + due.length === 0 && !begun) return 0
    const { items, parked } = readAll(consumer, entries)
    const known = await consumer.lookUp(inProject, items, true)
    if (begun || items.length + due.length >= DIVIDED_FROM_ITEMS) {
      const positions = entries.map(({ position }) => position)
      const keys = items.map((item) => consumer.keysOf(item, known))
      const plan = begun ?? (await openBatchPlan(ctx, projectId, positions, assignPartitions(keys, PARTITIONS)))
      const outside = { ...inProject, db: ctx.db, wake: ctx.wake }
      await applyPartitions(outside, plan, divide(plan, items, keys, due), known, consumer)
      await closeBatchPlan(tx, projectId, plan.id)
    } else {
      parked.push(...(await consumer.apply(inProject, items, known, UNDIVIDED, due)))
    }
    await finish(inProject, entries, parked)
    return entries.length + due.length
  })
}

function readAll<I extends QueuedItem>(consumer: Pick<Consumer<I, never, never>, 'read'>, entries: QueueEntry[]) {
  const all = entries.map((entry) => consumer.read(entry))
  return { items: all.flatMap(({ items }) => items), parked: all.flatMap(({ parked }) => parked) }
}

async function finish(ctx: InTx, entries: QueueEntry[], parked: ParkedItem[]): Promise<void> {
  await deleteEntries(ctx, ctx.projectId, entries)
  await recordApplied(ctx, entries, parked)
}

async function recordApplied(ctx: InTx, entries: QueueEntry[], parked: ParkedItem[]): Promise<void> {
  if (parked.length > 0) await park(ctx, parked)
  const now = ctx.clock.now().getTime()
  for (const { received_at } of entries) ctx.metrics.eventLag(Math.max(0, now - received_at.getTime()) / 1000, 1)
}

async function park(ctx: InTx, items: ParkedItem[]): Promise<void> {
  ctx.metrics.eventsIngested('parked', items.length)
  await parkItems(ctx, ctx.projectId, items)
}

/** Runs the partitions at the same time. When one fails, the others still finish, and their commits count. */
async function applyPartitions<I extends QueuedItem, K, D extends DueWork>(
  ctx: ProjectCtx,
  plan: BatchPlan,
  partitions: Map<Partition, { items: I[]; due: D[] }>,
  known: K,
  consumer: Consumer<I, K, D>,
): Promise<void> {
  const outcomes = await Promise.allSettled(
    [...partitions].map(([partition, work]) => applyPartition(ctx, { plan, partition, ...work }, known, consumer)),
  )
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}

type PartitionWork<I, D> = { plan: BatchPlan; partition: Partition; items: I[]; due: D[] }

async function applyPartition<I extends QueuedItem, K, D extends DueWork>(
  ctx: ProjectCtx,
  { plan, partition, items, due }: PartitionWork<I, D>,
  known: K,
  consumer: Consumer<I, K, D>,
): Promise<void> {
  const once = (apply: (ctx: InTx) => Promise<ParkedItem[]>) =>
    inTx(ctx, async (ctx) => {
      if (!(await beginPartition(ctx, ctx.projectId, plan.id, partition))) return
      const parked = await apply(ctx)
      if (parked.length > 0) await park(ctx, parked)
    })
  try {
    await once((ctx) => consumer.apply(ctx, items, known, partition, due))
  } catch (error) {
    if (isConflict(error) || isDatabaseAway(error)) throw error
    ctx.log.error({ err: error, project_id: ctx.projectId }, 'partition could not be applied; continuing item by item')
    await once(async (ctx) => {
      const parked = await applyOneByOne(ctx, items, consumer, partition)
      await applyDueOneByOne(ctx, due, consumer, partition)
      return parked
    })
  }
}

/** So much due work is applied by itself after a batch failed. */
const DUE_ONE_BY_ONE_MAX = 50

/** After a batch failed: applies the oldest entry and due work, each item by itself, so that only what fails is parked. */
function applyOldest<I extends QueuedItem, K, D extends DueWork>(
  ctx: Ctx,
  projectId: ProjectId,
  consumer: Consumer<I, K, D>,
): Promise<number> {
  return inTx(ctx, async (tx) => {
    if (!(await lockProject(tx, projectId)) || (await findBatchPlan(tx, projectId))) return 0
    const entries = await claimFirst(tx, () => claimEntries(tx, projectId, 1))
    const inProject = (await consumer.contextOf(tx, projectId)) as InTx
    const { items, parked } = readAll(consumer, entries)
    parked.push(...(await applyOneByOne(inProject, items, consumer, UNDIVIDED)))
    const due = await consumer.findDue(inProject, watermark(tx, projectId, entries), DUE_ONE_BY_ONE_MAX)
    await applyDueOneByOne(inProject, due, consumer, UNDIVIDED)
    await finish(inProject, entries, parked)
    return entries.length + due.length
  })
}

/** Applies each item in a savepoint of its own. Returns those that failed, with the reason. */
async function applyOneByOne<I extends QueuedItem, K, D extends DueWork>(
  ctx: InTx,
  items: I[],
  consumer: Consumer<I, K, D>,
  partition: Partition,
): Promise<ParkedItem[]> {
  const parked: ParkedItem[] = []
  for (const item of items) {
    const refused = await ctx.db
      .savepoint(async () => consumer.apply(ctx, [item], await consumer.lookUp(ctx, [item], false), partition, []))
      .catch((error: Error) => {
        if (isConflict(error) || isDatabaseAway(error)) throw error
        return [{ ...item.source, reason: error.message }]
      })
    parked.push(...refused)
  }
  return parked
}

/** Applies what is due in savepoints of its own. What fails is parked. */
async function applyDueOneByOne<I extends QueuedItem, K, D extends DueWork>(
  ctx: InTx,
  due: D[],
  consumer: Consumer<I, K, D>,
  partition: Partition,
): Promise<void> {
  for (const work of due) {
    await ctx.db
      .savepoint(async () => consumer.apply(ctx, [], await consumer.lookUp(ctx, [], false), partition, [work]))
      .catch((error: Error) => {
        if (isConflict(error) || isDatabaseAway(error)) throw error
        return consumer.parkDue(ctx, work, error.message)
      })
  }
}
