/**
 * Dividing a large batch of accepted requests among partitions that are applied at the same time. Items about the same user are in the
 * same partition, in order. The plan is stored before the first partition begins, and each partition records in its own transaction that
 * it was applied: after a crash only the others are.
 */
import { type Static, Type } from 'typebox'
import { groupsOf } from '../../lib/groups.ts'
import type { ProjectId, UserId } from '../../lib/ids.ts'
import { sql } from '../postgres/db.ts'
import { callRows, type JointCall, jointMany } from '../postgres/joint.ts'
import type { Ctx, InTx } from '../runtime/ctx.ts'
import { type QueueEntry, QueueEntryRow } from './queue.ts'

/**
 * The number under which a transaction counts. A counter that many transactions add to has a row for each number, and is read as the
 * sum of its rows, so that none waits for another. The partitions of a batch have the numbers from 0 on; other writers have
 * negative numbers. Numbers are stored with the counters.
 */
export type Partition = number

/** A batch that is small enough to be applied as a whole. */
export const UNDIVIDED: Partition = 0
/** Requests and imports that add users to a static list or remove them. */
export const BY_HAND: Partition = -1
/** The building of list versions. */
export const BUILDING: Partition = -2
/** Due timers and erasures. Both hold the lock on the lists of the project, so they can share a number. */
export const TIMERS: Partition = -3

/**
 * The partition of each item. Items that share a key, directly or through other items, are in the same partition. Each group of them
 * goes to the partition with the fewest items so far.
 */
export function assignPartitions(keys: string[][], partitions: number): Uint8Array {
  const groupOf = groupsOf(keys)
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

/** More partitions would use more of the database, but they share the single thread of this process. */
export const PARTITIONS = 3

const BatchPlanRow = Type.Object({ id: Type.Integer(), positions: Type.Array(Type.Integer()), partitions: Type.Unsafe<Buffer>({}) })
export type BatchPlan = Static<typeof BatchPlanRow>

/** The items and the due work of each partition. What is due for a user is in the partition with the items of the user. */
export function divide<I, D extends { userId: UserId }>(
  plan: BatchPlan,
  items: I[],
  keys: string[][],
  due: D[],
): Map<Partition, { items: I[]; due: D[] }> {
  const partitions = new Map<Partition, { items: I[]; due: D[] }>()
  const of = (partition: Partition) => {
    const known = partitions.get(partition) ?? { items: [], due: [] }
    partitions.set(partition, known)
    return known
  }
  const byKey = new Map<string, Partition>()
  for (const [index, item] of items.entries()) {
    const partition = plan.partitions[index] ?? UNDIVIDED
    of(partition).items.push(item)
    for (const key of keys[index] ?? []) byKey.set(key, partition)
  }
  for (const work of due) of(byKey.get(`u${work.userId}`) ?? work.userId % PARTITIONS).due.push(work)
  return partitions
}

const findPlans = jointMany(
  BatchPlanRow,
  (_, calls: JointCall<null>[]) =>
    sql`select q.call, b.id, b.positions, b.partitions from ${callRows(calls)} join queue_batches b on b.project_id = q.project_id`,
)

/** The plan of a batch that was begun and not finished, because its process died. */
export const findBatchPlan = async (ctx: Ctx, projectId: ProjectId): Promise<BatchPlan | undefined> =>
  (await findPlans(ctx, projectId, null))[0]

/** Stores how a batch is divided. It is committed before the first partition begins, apart from the transaction that closes it. */
export const openBatchPlan = (ctx: Ctx, projectId: ProjectId, positions: number[], partitions: Uint8Array): Promise<BatchPlan> =>
  ctx.db.one(
    BatchPlanRow,
    sql`insert into queue_batches (project_id, positions, partitions, created_at)
        values (${projectId}, ${positions}::bigint[], ${Buffer.from(partitions)}, ${ctx.clock.now()})
        returning id, positions, partitions`,
  )

/** The entries of a plan, in order. */
export const entriesOf = (ctx: Ctx, projectId: ProjectId, positions: number[]): Promise<QueueEntry[]> =>
  ctx.db.many(
    QueueEntryRow,
    sql`select position, kind, user_id, request_id, received_at, body from queue_entries
        where project_id = ${projectId} and position = any(${positions}::bigint[]) order by position`,
  )

/** Records that this transaction applies a partition. False when another process has applied it, or has closed the plan. */
export const beginPartition = async (ctx: InTx<Ctx>, projectId: ProjectId, planId: number, partition: Partition): Promise<boolean> =>
  (await ctx.db.run(
    sql`insert into queue_partitions (project_id, batch_id, partition)
        select project_id, id, ${partition}::smallint from queue_batches where project_id = ${projectId} and id = ${planId} for key share
        on conflict do nothing`,
  )) > 0

/** Deletes a plan whose partitions are all applied. */
export const closeBatchPlan = (ctx: InTx<Ctx>, projectId: ProjectId, planId: number) =>
  ctx.db.run(sql`delete from queue_batches where project_id = ${projectId} and id = ${planId}`)
