/**
 * A large batch of the log is divided among partitions that are applied at the same time. What concerns the same person is in one partition,
 * in order. The division is stored before the partitions begin and each partition commits with a mark, so that after a crash the partitions
 * that were done are not done again, and the others are.
 */
import { type Static, Type } from 'typebox'
import type { ProjectId } from '../../lib/ids.ts'
import { sql } from '../postgres/db.ts'
import type { Ctx, InTx } from '../runtime/ctx.ts'
import { type QueueEntry, QueueEntryRow } from './queue.ts'

/**
 * Which partition each item belongs to. Items that share a key, also by way of others, are in one partition; a group goes to the
 * partition that has least so far.
 */
export function assignPartitions(keys: string[][], partitions: number): Uint8Array {
  const groupOf = groups(keys)
  const sizes = new Map<number, number>()
  for (const group of groupOf) sizes.set(group, (sizes.get(group) ?? 0) + 1)
  const loads = Array.from({ length: partitions }, () => 0)
  const partitionOf = new Map<number, number>()
  return Uint8Array.from(groupOf, (group) => {
    const known = partitionOf.get(group)
    if (known !== undefined) return known
    const partition = loads.indexOf(Math.min(...loads))
    loads[partition] = (loads[partition] ?? 0) + (sizes.get(group) ?? 0)
    partitionOf.set(group, partition)
    return partition
  })
}

/** The group of each item, named by its first item. */
function groups(keys: string[][]): number[] {
  const parents = keys.map((_, index) => index)
  const root = (index: number): number => {
    let at = index
    while (parents[at] !== at) {
      parents[at] = parents[parents[at] as number] as number
      at = parents[at] as number
    }
    return at
  }
  const holders = new Map<string, number>()
  for (const [index, own] of keys.entries()) {
    for (const key of own) {
      const holder = holders.get(key)
      if (holder === undefined) holders.set(key, index)
      else parents[root(index)] = root(holder)
    }
  }
  return keys.map((_, index) => root(index))
}

const WindowRow = Type.Object({ id: Type.Integer(), positions: Type.Array(Type.Integer()), partitions: Type.Unsafe<Buffer>({}) })
export type BatchPlan = Static<typeof WindowRow>

/** What was begun and not finished, because its process died. */
export const findBatchPlan = (ctx: Ctx, projectId: ProjectId) =>
  ctx.db.first(WindowRow, sql`select id, positions, partitions from queue_batches where project_id = ${projectId}`)

/** Writes down how a batch is divided, before the first partition begins: not in the transaction that ends it. */
export const openBatchPlan = async (ctx: Ctx, projectId: ProjectId, positions: number[], partitions: Uint8Array): Promise<BatchPlan> => {
  return ctx.db.one(
    WindowRow,
    sql`insert into queue_batches (project_id, positions, partitions, created_at)
        values (${projectId}, ${positions}::bigint[], ${Buffer.from(partitions)}, ${ctx.clock.now()})
        returning id, positions, partitions`,
  )
}

/** The requests of a window, in order. */
export const entriesOf = (ctx: Ctx, projectId: ProjectId, positions: number[]): Promise<QueueEntry[]> =>
  ctx.db.many(
    QueueEntryRow,
    sql`select position, kind, user_id, request_id, received_at, body from queue_entries
        where project_id = ${projectId} and position = any(${positions}::bigint[]) order by position`,
  )

/** Marks a partition in the transaction that applies it. False when it is done, or the window is over: somebody else was here. */
export const beginPartition = async (ctx: InTx<Ctx>, projectId: ProjectId, windowId: number, partition: number): Promise<boolean> =>
  (await ctx.db.run(
    sql`insert into queue_partitions (project_id, batch_id, partition)
        select project_id, id, ${partition}::smallint from queue_batches where project_id = ${projectId} and id = ${windowId} for key share
        on conflict do nothing`,
  )) > 0

/** Forgets a window whose partitions are all done. */
export const closeBatchPlan = (ctx: InTx<Ctx>, projectId: ProjectId, windowId: number) =>
  ctx.db.run(sql`delete from queue_batches where project_id = ${projectId} and id = ${windowId}`)
