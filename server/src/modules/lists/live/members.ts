/** Adding and removing members of static lists. */
import { BY_HAND, type Partition } from '../../../infra/queue/partitions.ts'
import type { InTx } from '../../../infra/runtime/ctx.ts'
import type { ListId, ListVersionId, UserId } from '../../../lib/ids.ts'
import { appendUserChanges, type QueuedUserChange } from '../../users/index.ts'
import { findList } from '../queries.ts'
import { membershipEvent } from './membership-changes.ts'
import * as queries from './merges.queries.ts'
import { addToCounts } from './queries.ts'

/** Adds users to a static list. Returns those who were not in it. */
export async function addMembers(ctx: InTx, listId: ListId, ids: UserId[]): Promise<UserId[]> {
  if (ids.length === 0) return []
  return recordChanges(ctx, listId, true, await queries.insertMembers(ctx, listId, ids))
}

/** Removes users from a static list. Returns those who were in it. */
export async function removeMembers(ctx: InTx, listId: ListId, ids: UserId[]): Promise<UserId[]> {
  if (ids.length === 0) return []
  return recordChanges(ctx, listId, false, await queries.deleteMembers(ctx, listId, ids))
}

/** Removes users from a static list who have been in it, without a break, since an instant. Returns those who were removed. */
export async function removeMembersSince(ctx: InTx, listId: ListId, given: { user_id: UserId; at: Date }[]): Promise<UserId[]> {
  if (given.length === 0) return []
  const found = await queries.membersSince(ctx, listId, given)
  return removeMembers(
    ctx,
    listId,
    found.map(({ user_id }) => user_id),
  )
}

/**
 * Adds users to a static list, or removes them, in a transaction that applies items of the queue: what depends on it is evaluated by the
 * caller. Returns those whose membership changed; null if there is no such list.
 */
export async function changeMembers(
  ctx: InTx,
  listId: ListId,
  ids: UserId[],
  isAdded: boolean,
  partition: Partition,
): Promise<UserId[] | null> {
  const list = await findList(ctx, listId)
  if (list?.type !== 'static') return null
  const rows = await (isAdded ? queries.insertMembers(ctx, listId, ids) : queries.deleteMembers(ctx, listId, ids))
  const version = rows[0]?.version_id
  if (version !== undefined) await addToCounts(ctx, partition, new Map([[version, isAdded ? rows.length : -rows.length]]))
  return rows.map(({ user_id }) => user_id)
}

type MemberRow = { user_id: UserId; version_id: ListVersionId }

/** Counts the changes and appends them to the ingest queue, so that dependent lists and triggers are evaluated. */
async function recordChanges(ctx: InTx, listId: ListId, entered: boolean, rows: MemberRow[]): Promise<UserId[]> {
  const version = rows[0]?.version_id
  if (version === undefined) return []
  await addToCounts(ctx, BY_HAND, new Map([[version, entered ? rows.length : -rows.length]]))
  const event = membershipEvent(listId, entered, ctx.clock.now())
  await appendUserChanges(
    ctx,
    rows.map(({ user_id }): QueuedUserChange => ({ user_id, what: [`list:${listId}`], event })),
  )
  return rows.map(({ user_id }) => user_id)
}
