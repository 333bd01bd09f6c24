/**
 * Dividing a large batch of accepted requests among partitions that are applied at the same time, by one process or several. Items about
 * the same user are in the same partition, in order. The plan is stored before the first partition begins, and each partition records in
 * its own transaction that it was applied: after a crash only the others are.
 */
import { type Static, Type } from 'typebox'
import { groupsOf } from '../../lib/groups.ts'
import type { ProjectId, UserId } from '../../lib/ids.ts'
import { IdOf } from '../../lib/shapes.ts'
import { fence, sql } from '../postgres/db.ts'
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

/** The partition of each item, and of each user with work that is due. */
export type Division = { partitions: Uint8Array; dueUsers: UserId[]; duePartitions: Uint8Array }

/** Divides items, by their keys, and due work. What is due for a user is in the partition with the items of the user. */
export function divisionOf(keys: string[][], due: { userId: UserId }[], count: number): Division {
  const partitions = assignPartitions(keys, count)
  const byKey = new Map<string, Partition>()
  for (const [index, own] of keys.entries()) for (const key of own) byKey.set(key, partitions[index] ?? UNDIVIDED)
  const dueUsers = [...new Set(due.map(({ userId }) => userId))]
  return { partitions, dueUsers, duePartitions: Uint8Array.from(dueUsers, (id) => byKey.get(`u${id}`) ?? id % count) }
}

const BatchPlanRow = Type.Object({
  id: Type.Integer(),
  positions: Type.Array(Type.Integer()),
  partitions: Type.Unsafe<Buffer>({}),
  due_users: Type.Array(IdOf<UserId>()),
  due_partitions: Type.Unsafe<Buffer>({}),
})
export type BatchPlan = Static<typeof BatchPlanRow>

/** The numbers of the partitions of a plan, in order. */
export function partitionsOf({ partitions, due_partitions }: Pick<BatchPlan, 'partitions' | 'due_partitions'>): Partition[] {
  const isUsed = new Uint8Array(NUMBERS)
  for (const partition of partitions) isUsed[partition] = 1
  for (const partition of due_partitions) isUsed[partition] = 1
  return [...isUsed.keys()].filter((partition) => isUsed[partition] === 1)
}

/** A plan has a byte for each item. */
const NUMBERS = 256

/** What a partition applies. */
export type Share<I, D> = { items: I[]; due: D[] }

/** The items and the due work of each partition. Work of users that the plan does not name is left for the next batch. */
export function divide<I, D extends { userId: UserId }>(plan: BatchPlan, items: I[], due: D[]): Map<Partition, Share<I, D>> {
  const shares = new Map(partitionsOf(plan).map((partition): [Partition, Share<I, D>] => [partition, { items: [], due: [] }]))
  for (const [index, item] of items.entries()) shares.get(plan.partitions[index] ?? UNDIVIDED)?.items.push(item)
  const ofUser = new Map(plan.due_users.map((id, index) => [id, plan.due_partitions[index]]))
  for (const work of due) shares.get(ofUser.get(work.userId) ?? Number.NaN)?.due.push(work)
  return shares
}

const findPlans = jointMany(
  BatchPlanRow,
  (_, calls: JointCall<null>[]) =>
    sql`select q.call, b.id, b.positions, b.partitions, b.due_users, b.due_partitions
        from ${callRows(calls)} join queue_batches b on b.project_id = q.project_id`,
)

/** The plan of a batch that was begun and not finished, because its process died. */
export const findBatchPlan = async (ctx: Ctx, projectId: ProjectId): Promise<BatchPlan | undefined> =>
  (await findPlans(ctx, projectId, null))[0]

/** Stores how a batch is divided. It is committed before the first partition begins, apart from the transaction that closes it. */
export const openBatchPlan = (
  ctx: Ctx,
  projectId: ProjectId,
  positions: number[],
  { partitions, dueUsers, duePartitions }: Division,
): Promise<BatchPlan> =>
  ctx.db.one(
    BatchPlanRow,
    sql`insert into queue_batches (project_id, positions, partitions, due_users, due_partitions, created_at)
        values (${projectId}, ${positions}::bigint[], ${Buffer.from(partitions)}, ${dueUsers}::bigint[], ${Buffer.from(duePartitions)}, ${ctx.clock.now()})
        returning id, positions, partitions, due_users, due_partitions`,
  )

/** The entries of a plan, in order. */
export const entriesOf = (ctx: Ctx, projectId: ProjectId, positions: number[]): Promise<QueueEntry[]> =>
  ctx.db.many(
    QueueEntryRow,
    sql`select position, kind, user_id, request_id, received_at, body from queue_entries
        where project_id = ${projectId} and position = any(${positions}::bigint[]) order by position`,
  )

/**
 * Records that this transaction applies a partition, once no other transaction is applying it. False when it has been applied, or the plan
 * was closed.
 */
export const beginPartition = async (ctx: InTx<Ctx>, projectId: ProjectId, planId: number, partition: Partition): Promise<boolean> =>
  (await ctx.db.run(
    sql`insert into queue_partitions (project_id, batch_id, partition)
        select project_id, id, ${partition}::smallint from queue_batches where project_id = ${projectId} and id = ${planId} for key share
        on conflict do nothing`,
  )) > 0

const FreeRow = Type.Object({ partition: Type.Integer(), is_taken: Type.Boolean() })

/**
 * Records that this transaction applies a partition which no other transaction is applying, and says which. Its lock tells the others
 * without making them wait; the row, not the lock, is what keeps a partition from being applied twice.
 */
export async function takePartition(ctx: InTx<Ctx>, projectId: ProjectId, plan: BatchPlan): Promise<Partition | undefined> {
  // Another transaction may have applied the one that was found free. None is left after as many tries, or the plan was closed.
  for (let tries = partitionsOf(plan).length; tries > 0; tries--) {
    const free = await takeFree(ctx, projectId, plan)
    if (!free || free.is_taken) return free?.partition
  }
  return undefined
}

const takeFree = (ctx: InTx<Ctx>, projectId: ProjectId, plan: BatchPlan) =>
  ctx.db.first(
    FreeRow,
    sql`with free as materialized (
          select left_over.partition
          from (select n as partition from unnest(${partitionsOf(plan)}::smallint[]) with ordinality as numbers(n, at)
                where not exists (select from queue_partitions p
                                  where p.project_id = ${projectId} and p.batch_id = ${plan.id} and p.partition = n)
                order by at ${fence}) left_over
          where pg_try_advisory_xact_lock(hashtextextended('partition of accepted requests', ${plan.id}::bigint * 256 + left_over.partition))
          limit 1
        ), taken as (
          insert into queue_partitions (project_id, batch_id, partition)
          select b.project_id, b.id, free.partition from queue_batches b, free
          where b.project_id = ${projectId} and b.id = ${plan.id} for key share of b
          on conflict do nothing
          returning partition
        )
        select free.partition, exists (select from taken) as is_taken from free`,
  )

/** Deletes a plan whose partitions are all applied. */
export const closeBatchPlan = (ctx: InTx<Ctx>, projectId: ProjectId, planId: number) =>
  ctx.db.run(sql`delete from queue_batches where project_id = ${projectId} and id = ${planId}`)

const PlanRow = Type.Object({ id: Type.Integer() })

/** Deletes a plan of which no process has applied a partition, or is applying one. Returns whether it did. */
export const closeUnappliedPlan = async (ctx: InTx<Ctx>, projectId: ProjectId, planId: number): Promise<boolean> => {
  // A separate statement: the other must see the partitions that this waited for.
  await ctx.db.first(PlanRow, sql`select id from queue_batches where project_id = ${projectId} and id = ${planId} for update`)
  const closed = await ctx.db.run(
    sql`delete from queue_batches b
        where b.project_id = ${projectId} and b.id = ${planId}
          and not exists (select from queue_partitions p where p.project_id = ${projectId} and p.batch_id = ${planId})`,
  )
  return closed > 0
}
