/** After a batch or a partition failed: each item by itself, so that only what fails is parked. */
import { isDatabaseAway } from '../postgres/database-away.ts'
import { isConflict } from '../postgres/db.ts'
import { afterCommit, type InTx, inSavepoint } from '../runtime/ctx.ts'
import type { Consumer, DueWork, QueuedItem } from './consumer.ts'
import type { Partition } from './partitions.ts'
import { type ParkedItem, parkItems } from './queue.ts'

/** Applies each item in a savepoint of its own. Returns those that failed, with the reason. */
export async function applyOneByOne<I extends QueuedItem, K, D extends DueWork>(
  ctx: InTx,
  items: I[],
  consumer: Consumer<I, K, D>,
  partition: Partition,
): Promise<ParkedItem[]> {
  const parked: ParkedItem[] = []
  for (const item of items) {
    const refused = await inSavepoint(ctx, async (ctx) =>
      consumer.apply(ctx, [item], await consumer.lookUp(ctx, [item], false), partition, []),
    ).catch((error: Error) => {
      if (isConflict(error) || isDatabaseAway(error)) throw error
      return [{ ...item.source, reason: error.message }]
    })
    parked.push(...refused)
  }
  return parked
}

/** Applies what is due in savepoints of its own. What fails is parked. */
export async function applyDueOneByOne<I extends QueuedItem, K, D extends DueWork>(
  ctx: InTx,
  due: D[],
  consumer: Consumer<I, K, D>,
  partition: Partition,
): Promise<void> {
  for (const work of due) {
    await inSavepoint(ctx, async (ctx) => consumer.apply(ctx, [], await consumer.lookUp(ctx, [], false), partition, [work])).catch(
      (error: Error) => {
        if (isConflict(error) || isDatabaseAway(error)) throw error
        return consumer.parkDue(ctx, work, error.message)
      },
    )
  }
}

/** Stores items that can never be applied, and counts them. */
export async function park(ctx: InTx, items: ParkedItem[]): Promise<void> {
  afterCommit(ctx, () => ctx.metrics.eventsIngested('parked', items.length))
  await parkItems(ctx, ctx.projectId, items)
}
