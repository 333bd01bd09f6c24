/** Members of static lists: who was put there by hand, by an import or by a journey. */
import type { InTx } from '../../../infra/runtime/ctx.ts'
import type { ListId, ListVersionId, UserId } from '../../../lib/ids.ts'
import { appendUserChanges, type QueuedUserChange } from '../../users/index.ts'
import * as queries from './merges.queries.ts'
import { addToCounts } from './queries.ts'

/** Counted apart from the partitions of processing, so that neither waits for the other. */
const BY_HAND_PARTITION = -1

/** Puts people into a static list. The answer is who was not in it; the others stay as they are. */
export async function addMembers(ctx: InTx, listId: ListId, ids: UserId[]): Promise<UserId[]> {
  if (ids.length === 0) return []
  return moved(ctx, listId, 'list_entered', await queries.insertMembers(ctx, listId, ids))
}

/** Takes people out of a static list. The answer is who was in it. */
export async function removeMembers(ctx: InTx, listId: ListId, ids: UserId[]): Promise<UserId[]> {
  if (ids.length === 0) return []
  return moved(ctx, listId, 'list_left', await queries.deleteMembers(ctx, listId, ids))
}

type MovedRow = { user_id: UserId; version_id: ListVersionId }

/** The move is told to whoever applies the log: lists that mention this one, journeys and campaigns follow from there. */
async function moved(ctx: InTx, listId: ListId, name: 'list_entered' | 'list_left', rows: MovedRow[]): Promise<UserId[]> {
  const version = rows[0]?.version_id
  if (version === undefined) return []
  await addToCounts(ctx, BY_HAND_PARTITION, new Map([[version, name === 'list_entered' ? rows.length : -rows.length]]))
  const created_at = ctx.clock.now().toISOString()
  await appendUserChanges(
    ctx,
    rows.map(
      ({ user_id }): QueuedUserChange => ({ user_id, what: [`list:${listId}`], event: { name, data: { list_id: listId }, created_at } }),
    ),
  )
  return rows.map(({ user_id }) => user_id)
}
