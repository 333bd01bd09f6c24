/** After a batch or a partition failed: each item by itself, so that only what fails is parked. */
import { SECOND_MS } from '../../lib/times.ts'
import { isDatabaseAway } from '../postgres/database-away.ts'
import { isConflict, isSqlState, LOCK_NOT_AVAILABLE } from '../postgres/db.ts'
import { STATEMENT_TIMEOUT_MS } from '../postgres/limits.ts'
import { afterCommit, type InTx, inSavepoint, limitLockWaits } from '../runtime/ctx.ts'
import type { Consumer, DueWork, QueuedItem } from './consumer.ts'
import type { Partition } from './partitions.ts'
import { type ParkedItem, parkItems } from './queue.ts'

/** So that the minute of a statement is its own work, and not a wait: an index that is created holds its table for as long as it likes. */
const LOCK_WAIT_MS = 5 * SECOND_MS

const QUERY_CANCELLED = '57014'
const OUT_OF_MEMORY = '53200'

/** Applies each item in a savepoint of its own. Returns those that failed, with the reason. */
export async function applyOneByOne<I extends QueuedItem, K, D extends DueWork>(
  ctx: InTx,
  items: I[],
  consumer: Consumer<I, K, D>,
  partition: Partition,
): Promise<ParkedItem[]> {
  const parked: ParkedItem[] = []
  if (items.length > 0) await limitLockWaits(ctx, LOCK_WAIT_MS)
  for (const item of items) {
    const startedAt = performance.now()
    const refused = await inSavepoint(ctx, async (ctx) =>
      consumer.apply(ctx, [item], await consumer.lookUp(ctx, [item], false), partition, []),
    ).catch((error: Error) => {
      if (isLeftInPlace(error, performance.now() - startedAt)) throw error
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
  if (due.length > 0) await limitLockWaits(ctx, LOCK_WAIT_MS)
  for (const work of due) {
    const startedAt = performance.now()
    await inSavepoint(ctx, async (ctx) => consumer.apply(ctx, [], await consumer.lookUp(ctx, [], false), partition, [work])).catch(
      (error: Error) => {
        if (isLeftInPlace(error, performance.now() - startedAt)) throw error
        return consumer.parkDue(ctx, work, error.message)
      },
    )
  }
}

/**
 * Was something else than the item at fault? Then it stays where it is: the database is away or has no memory left, another transaction has
 * the lock, or an operator cancelled the statement, which is all that cancels one before its time.
 */
const isLeftInPlace = (error: unknown, tookMs: number): boolean =>
  isConflict(error) ||
  isDatabaseAway(error) ||
  isSqlState(error, LOCK_NOT_AVAILABLE, OUT_OF_MEMORY) ||
  (isSqlState(error, QUERY_CANCELLED) && tookMs < STATEMENT_TIMEOUT_MS)

/** Stores items that can never be applied, and counts them. */
export async function park(ctx: InTx, items: ParkedItem[]): Promise<void> {
  afterCommit(ctx, () => ctx.metrics.eventsIngested('parked', items.length))
  await parkItems(ctx, ctx.projectId, items)
}
