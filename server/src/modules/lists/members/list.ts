import type { PageOf, PageRequest } from '../../../infra/http/paging.ts'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { ListVersionId, UserId } from '../../../lib/ids.ts'
import { findUsers, requireUser, searchPlan, usersForCaller } from '../../users/index.ts'
import type { ListOfUser } from '../schema.ts'
import * as queries from './queries.ts'

/** A page of the members of a version, with the attributes that the caller may see. Empty without a version. */
export async function listMembers(ctx: ProjectCtx, versionId: ListVersionId | null, page: PageRequest) {
  const { results, ...cursors } = await pageOfIds(ctx, versionId, page)
  const ids = results.map(({ id }) => id)
  return { results: await usersInOrder(ctx, ids), ...cursors }
}

/** A page of the lists that a user is in now. `name` is an external id. Throws 404. */
export async function listListsOfUser(ctx: ProjectCtx, name: string, page: PageRequest): Promise<PageOf<ListOfUser>> {
  return queries.listsOfUser(ctx, (await requireUser(ctx, name)).id, page)
}

/** These users in this order, with the attributes that the caller may see. Merged and erased users are left out. */
export async function usersInOrder(ctx: ProjectCtx, ids: UserId[]) {
  if (ids.length === 0) return []
  const rows = new Map((await findUsers(ctx, ids)).map((row) => [row.id, row]))
  return usersForCaller(
    ctx,
    ids.flatMap((id) => rows.get(id) ?? []),
  )
}

/**
 * A search reads the members one by one when there are few, or when the term is so common that a page fills quickly. For a rare term it
 * uses the trigram index.
 */
async function pageOfIds(ctx: ProjectCtx, versionId: ListVersionId | null, page: PageRequest): Promise<PageOf<{ id: UserId }>> {
  if (versionId === null) return { results: [], nextCursor: null, prevCursor: null, limit: page.limit }
  if (page.q === '' || page.limit === 0) return queries.listMembers(ctx, versionId, page)
  const enough = page.limit === -1 ? queries.NEAR_ROWS + 1 : page.limit + 2
  const near = await queries.searchNear(ctx, versionId, page, enough)
  const isShort = near !== undefined && (near.looked < queries.NEAR_ROWS || near.found === enough)
  const found = isShort ? queries.matchesRecentSearch(ctx, page.q) : queries.matchesSearch(ctx, page.q, await searchPlan(ctx, page.q))
  return queries.listMembers(ctx, versionId, page, found)
}
