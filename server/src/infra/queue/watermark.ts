/** How far work that is due may be applied with a batch of entries. */
import type { ProjectId } from '../../lib/ids.ts'
import type { Ctx, InTx } from '../runtime/ctx.ts'
import { findPosition } from './log/position.ts'
import { nextEntryAt, type QueueEntry } from './queue.ts'

/**
 * The instant up to which due work is applied with these entries: when the oldest entry that is not among them was received. Without such
 * an entry, it is the current time less the possible difference between the clocks of processes. With a log outside of the database, it is
 * not after the instant up to which the log was moved to the queue.
 */
export const watermark = (tx: InTx<Ctx>, projectId: ProjectId, entries: QueueEntry[]) => async (): Promise<Date> => {
  // Before the entries, so that those which are moved to the queue meanwhile are seen.
  const complete = tx.acceptedLog ? (await findPosition(tx, tx.acceptedLog.id)).complete_to : null
  const next = (await nextEntryAt(tx, projectId, entries.at(-1)?.position ?? 0)) ?? new Date(tx.clock.now().getTime() - tx.clock.skewMs)
  return complete !== null && complete < next ? complete : next
}
