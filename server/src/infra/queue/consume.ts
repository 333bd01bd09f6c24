/**
 * Applies the accepted requests of a queue. A transaction takes a batch of the oldest entries of a project, and deletes them together
 * with writing their effects. One process at a time leads a project: it divides a large batch among partitions, which other processes
 * apply too. An item that cannot be applied is parked with its reason, and the others of the batch are applied without it.
 */
import type { ProjectId } from '../../lib/ids.ts'
import { SECOND_MS } from '../../lib/times.ts'
import { isDatabaseAway } from '../postgres/database-away.ts'
import { isConflict, isSqlState, LOCK_NOT_AVAILABLE } from '../postgres/db.ts'
import { afterCommit, type Ctx, claimFirst, type InTx, inTx } from '../runtime/ctx.ts'
import { type Consumer, DUE_MAX, type DueWork, isParked, type QueuedItem, readAll } from './consumer.ts'
import { applyFreePartitions, applyPlan, canApply } from './divided.ts'
import { applyDueOneByOne, applyOneByOne, park } from './one-by-one.ts'
import { closeBatchPlan, closeUnappliedPlan, divisionOf, entriesOf, findBatchPlan, openBatchPlan, UNDIVIDED } from './partitions.ts'
import { claimEntries, deleteEntries, lockProject, type ParkedItem, type QueueEntry } from './queue.ts'
import { watermark } from './watermark.ts'

/** A smaller batch is not worth dividing. */
const DIVIDED_FROM_ITEMS = 600

/** How large a batch is, about, and among how many partitions it is divided if it is large. */
export type BatchSize = { items: number; partitions: number }

/**
 * Applies one batch of a project, or partitions of the batch that another process has begun. Returns the number of entries or partitions; 0
 * when there are none that this process can apply, or 1 when the caller should try again at once. Throws when it should be later.
 */
export async function consumeNext<I extends QueuedItem, K, D extends DueWork>(
  ctx: Ctx,
  projectId: ProjectId,
  consumer: Consumer<I, K, D>,
  size: BatchSize,
): Promise<number> {
  try {
    const applied = await applyBatch(ctx, projectId, consumer, size)
    return applied === 'led elsewhere' ? await applyFreePartitions(ctx, projectId, consumer) : applied
  } catch (error) {
    // Another transaction changed the same rows or has a lock, or the database is unavailable: the batch is still in the queue.
    if (isConflict(error)) return 1
    if (isDatabaseAway(error) || isSqlState(error, LOCK_NOT_AVAILABLE)) throw error
    ctx.log.error({ err: error, project_id: projectId }, 'batch could not be applied; continuing item by item')
    return applyOldest(ctx, projectId, consumer, error)
  }
}

/**
 * Applies a small batch of a project over joint statements. `view` is the context of the projects that share them. Returns the number of
 * entries, or that the project has to be applied by itself because its batch is large or would have to wait.
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
  if (plan) return 'alone'
  if (!isLocked) return 0
  if (!mayApply) return 'alone'
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
  size: BatchSize,
): Promise<number | 'led elsewhere'> {
  return inTx(ctx, async (tx) => {
    if (!(await lockProject(tx, projectId))) return 'led elsewhere'
    const begun = await findBatchPlan(tx, projectId)
    const entries = begun
      ? await entriesOf(tx, projectId, begun.positions)
      : await claimFirst(tx, () => claimEntries(tx, projectId, size.items))
    const inProject = (await consumer.contextOf(tx, projectId)) as InTx
    const due = await consumer.findDue(inProject, watermark(tx, projectId, entries), DUE_MAX)
    if (entries.length + due.length === 0 && !begun) return 0
    const read = readAll(consumer, entries)
    // All its entries were applied, by a process that led before the plan could be seen.
    if (begun && begun.positions.length > 0 && entries.length === 0) return await closeBatchPlan(tx, projectId, begun.id)
    // Divided by a release that reads other items: it is claimed again and divided anew, unless that has applied some of it.
    if (begun && !canApply(begun, read) && (await closeUnappliedPlan(tx, projectId, begun.id))) return 1
    const { items } = read
    const known = await consumer.lookUp(inProject, items, true)
    let parked: ParkedItem[]
    if (begun || items.length + due.length >= DIVIDED_FROM_ITEMS) {
      const positions = entries.map(({ position }) => position)
      const keys = read.all.map((one) => (isParked(one) ? [] : consumer.keysOf(one, known)))
      const plan = begun ?? (await openBatchPlan(ctx, projectId, positions, divisionOf(keys, due, size.partitions)))
      // Throws if the lock was lost with its connection, for example while this process was suspended: another one may have applied the entries
      // before it could see the plan.
      await lockProject(tx, projectId)
      // Partitions are committed by themselves.
      const { committed: _, ...ofProject } = inProject
      const outside = { ...ofProject, db: ctx.db, wake: ctx.wake }
      parked = await applyPlan(outside, plan, { read, due, known }, consumer)
      await closeBatchPlan(tx, projectId, plan.id)
    } else {
      parked = [...read.parked, ...(await consumer.apply(inProject, items, known, UNDIVIDED, due))]
    }
    await finish(inProject, entries, parked)
    return entries.length + due.length
  })
}

async function finish(ctx: InTx, entries: QueueEntry[], parked: ParkedItem[]): Promise<void> {
  await deleteEntries(ctx, ctx.projectId, entries)
  await recordApplied(ctx, entries, parked)
}

async function recordApplied(ctx: InTx, entries: QueueEntry[], parked: ParkedItem[]): Promise<void> {
  if (parked.length > 0) await park(ctx, parked)
  const now = ctx.clock.now().getTime()
  const lags = entries.map(({ received_at }) => Math.max(0, now - received_at.getTime()) / SECOND_MS)
  afterCommit(ctx, () => {
    for (const lag of lags) ctx.metrics.eventLag(lag, 1)
  })
}

/** So much due work is applied by itself after a batch failed. */
const DUE_ONE_BY_ONE_MAX = 50

/**
 * After a batch failed: applies the oldest entry and due work, each item by itself, so that only what fails is parked. Of a batch that is
 * divided the partitions have tried that already: it throws what `failed`, so that the project is tried again later.
 */
function applyOldest<I extends QueuedItem, K, D extends DueWork>(
  ctx: Ctx,
  projectId: ProjectId,
  consumer: Consumer<I, K, D>,
  failed: unknown,
): Promise<number> {
  return inTx(ctx, async (tx) => {
    if (!(await lockProject(tx, projectId))) return 0
    if (await findBatchPlan(tx, projectId)) throw failed
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
