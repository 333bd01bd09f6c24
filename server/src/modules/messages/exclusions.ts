import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { ListId, UserId } from '../../lib/ids.ts'
import { distinct } from '../../lib/shapes.ts'
import { listsOfMembers } from '../lists/index.ts'

/** A campaign with the lists whose members get no message. */
type Excluding = { exclusion_list_ids: readonly number[] }

/** Tells which of these users are in an exclusion list of a campaign. Most campaigns have none, and then nothing is read. */
export async function exclusionsOf(
  ctx: ProjectCtx,
  campaigns: Excluding[],
  userIds: UserId[],
): Promise<(campaign: Excluding, userId: UserId) => boolean> {
  const listIds = distinct(campaigns.flatMap(({ exclusion_list_ids }) => exclusion_list_ids as ListId[]))
  if (listIds.length === 0 || userIds.length === 0) return () => false
  const rows = await listsOfMembers(ctx, listIds, distinct(userIds))
  const known = new Set(rows.map(({ list_id, user_id }) => `${list_id} ${user_id}`))
  return ({ exclusion_list_ids }, userId) => exclusion_list_ids.some((id) => known.has(`${id} ${userId}`))
}
