/**
 * Applying a divided batch. The process that leads the project and the others take partitions that no process is applying, until there
 * are none. Then the leader waits for those of the others, and applies what a process that died has left. Each partition is a transaction.
 */
import { mapWithConcurrency } from '../../lib/concurrency.ts'
import type { ProjectId } from '../../lib/ids.ts'
import { isDatabaseAway } from '../postgres/database-away.ts'
import { isConflict } from '../postgres/db.ts'
import { type Ctx, type InTx, inTx, type ProjectCtx } from '../runtime/ctx.ts'
import { type Consumer, DUE_MAX, type DueWork, type QueuedItem, type Read, readAll, sorted } from './consumer.ts'
import { applyDueOneByOne, applyOneByOne, park } from './one-by-one.ts'
import {
  type BatchPlan,
  beginPartition,
  divide,
  entriesOf,
  findBatchPlan,
  type Partition,
  partitionsOf,
  type Share,
  takePartition,
} from './partitions.ts'
import type { ParkedItem } from './queue.ts'
import { watermark } from './watermark.ts'

/** So many partitions of a project are applied by one process at a time. More would use more of the database, but share one thread. */
export const PARTITIONS_EACH = 3

/** What a process applies of a partition. What is known of its items is looked up in the transaction that applies them, if it is not yet. */
type Work<I, K, D> = Share<I | ParkedItem, D> & { known?: K }
/** The work of a partition. It is asked for when the partition is begun. */
type Works<I, K, D> = (ctx: InTx, partition: Partition) => Work<I, K, D> | Promise<Work<I, K, D>>

/**
 * Applies all partitions of a plan that are not applied. When one fails, the others still finish and stay committed. Returns what is parked
 * with none of them. Throws, and applies nothing, if the plan counts other items.
 */
export async function applyPlan<I extends QueuedItem, K, D extends DueWork>(
  ctx: ProjectCtx,
  plan: BatchPlan,
  { read, due, known }: { read: Read<I>; due: D[]; known: K },
  consumer: Consumer<I, K, D>,
): Promise<ParkedItem[]> {
  const counted = countedBy(plan, read)
  const shares = divide(plan, counted, due)
  const works = (_: InTx, partition: Partition) => ({ ...(shares.get(partition) ?? { items: [], due: [] }), known })
  const applied = await takeAll(ctx, plan, works, consumer)
  const others = partitionsOf(plan).filter((partition) => !applied.has(partition))
  await mapWithConcurrency(others, PARTITIONS_EACH, (partition) => applyPartition(ctx, plan, partition, works, consumer))
  return counted === read.all ? [] : read.parked
}

/** The entries of the plan are not those that its leader has read: another release counts them otherwise, or it was closed. */
class OtherItems extends Error {}

/**
 * What a plan counts: all that was read, so that an item has the same number in each release, whether that can read it or not. The release
 * before counted only what it could read. Undefined if it was neither.
 */
function findCounted<I>({ partitions }: BatchPlan, { all, items }: Read<I>): (I | ParkedItem)[] | undefined {
  if (all.length === partitions.length) return all
  return items.length === partitions.length ? items : undefined
}

/** Whether this release can apply the partitions of a plan. */
export const canApply = <I>(plan: BatchPlan, read: Read<I>): boolean => findCounted(plan, read) !== undefined

function countedBy<I>(plan: BatchPlan, read: Read<I>): (I | ParkedItem)[] {
  const counted = findCounted(plan, read)
  if (counted) return counted
  const { id, partitions } = plan
  throw new OtherItems(
    `Batch ${id} was begun with ${partitions.length} items, of which this release reads ${read.items.length} of ${read.all.length}. ` +
      'A worker of the release that began it can complete it.',
  )
}

/** Applies partitions of the batch that another process leads, if there is one. Returns how many. */
export async function applyFreePartitions<I extends QueuedItem, K, D extends DueWork>(
  ctx: Ctx,
  projectId: ProjectId,
  consumer: Consumer<I, K, D>,
): Promise<number> {
  const plan = await findBatchPlan(ctx, projectId)
  if (!plan) return 0
  const outside = await consumer.contextOf(ctx, projectId)
  // Read for the first partition that is taken, because usually there is none.
  let reading: Promise<Map<Partition, Share<I | ParkedItem, D>>> | undefined
  const works = async (ctx: InTx, partition: Partition): Promise<Work<I, K, D>> => {
    reading ??= readShares(ctx, plan, consumer)
    return (await reading).get(partition) ?? { items: [], due: [] }
  }
  try {
    return (await takeAll(outside, plan, works, consumer)).size
  } catch (error) {
    if (error instanceof OtherItems) return 0
    throw error
  }
}

async function readShares<I extends QueuedItem, K, D extends DueWork>(ctx: InTx, plan: BatchPlan, consumer: Consumer<I, K, D>) {
  const entries = await entriesOf(ctx, ctx.projectId, plan.positions)
  const counted = countedBy(plan, readAll(consumer, entries))
  const due = plan.due_users.length > 0 ? await consumer.findDue(ctx, watermark(ctx, ctx.projectId, entries), DUE_MAX) : []
  return divide(plan, counted, due)
}

/** Takes partitions that no process is applying, several at a time, until there are none. Returns those. */
async function takeAll<I extends QueuedItem, K, D extends DueWork>(
  ctx: ProjectCtx,
  plan: BatchPlan,
  works: Works<I, K, D>,
  consumer: Consumer<I, K, D>,
): Promise<Set<Partition>> {
  const applied = new Set<Partition>()
  const takeSome = async () => {
    for (;;) {
      const partition = await takeNext(ctx, plan, works, consumer)
      if (partition === undefined) return
      applied.add(partition)
    }
  }
  await mapWithConcurrency(Array.from({ length: Math.min(PARTITIONS_EACH, partitionsOf(plan).length) }), PARTITIONS_EACH, takeSome)
  return applied
}

async function takeNext<I extends QueuedItem, K, D extends DueWork>(
  ctx: ProjectCtx,
  plan: BatchPlan,
  works: Works<I, K, D>,
  consumer: Consumer<I, K, D>,
): Promise<Partition | undefined> {
  let taken: Partition | undefined
  try {
    await inTx(ctx, async (ctx) => {
      taken = await takePartition(ctx, ctx.projectId, plan)
      if (taken !== undefined) await applyWork(ctx, taken, works, consumer)
    })
  } catch (error) {
    if (taken === undefined || isLeftInPlace(error)) throw error
    await applyPartition(ctx, plan, taken, works, consumer, error)
  }
  return taken
}

/** The partition is still to be applied, by the process that takes it next. */
const isLeftInPlace = (error: unknown): boolean => isConflict(error) || isDatabaseAway(error) || error instanceof OtherItems

/** Applies a partition, after any other process that does. After it `failed`, each item by itself. */
async function applyPartition<I extends QueuedItem, K, D extends DueWork>(
  ctx: ProjectCtx,
  plan: BatchPlan,
  partition: Partition,
  works: Works<I, K, D>,
  consumer: Consumer<I, K, D>,
  failed?: unknown,
): Promise<void> {
  const apply = failed === undefined ? applyWork : applyWorkOneByOne
  if (failed !== undefined)
    ctx.log.error({ err: failed, project_id: ctx.projectId }, 'partition could not be applied; continuing item by item')
  try {
    await inTx(ctx, async (ctx) => {
      if (await beginPartition(ctx, ctx.projectId, plan.id, partition)) await apply(ctx, partition, works, consumer)
    })
  } catch (error) {
    if (failed !== undefined || isLeftInPlace(error)) throw error
    await applyPartition(ctx, plan, partition, works, consumer, error)
  }
}

async function applyWork<I extends QueuedItem, K, D extends DueWork>(
  ctx: InTx,
  partition: Partition,
  works: Works<I, K, D>,
  consumer: Consumer<I, K, D>,
): Promise<void> {
  const { items: counted, due, known } = await works(ctx, partition)
  if (counted.length + due.length === 0) return
  const { items, parked } = sorted(counted)
  const refused = await consumer.apply(ctx, items, known ?? (await consumer.lookUp(ctx, items, true)), partition, due)
  if (parked.length + refused.length > 0) await park(ctx, [...parked, ...refused])
}

async function applyWorkOneByOne<I extends QueuedItem, K, D extends DueWork>(
  ctx: InTx,
  partition: Partition,
  works: Works<I, K, D>,
  consumer: Consumer<I, K, D>,
): Promise<void> {
  const { items: counted, due } = await works(ctx, partition)
  const { items, parked } = sorted(counted)
  const refused = await applyOneByOne(ctx, items, consumer, partition)
  await applyDueOneByOne(ctx, due, consumer, partition)
  if (parked.length + refused.length > 0) await park(ctx, [...parked, ...refused])
}
