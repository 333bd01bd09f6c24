/** Lists as simulations of journeys need them: with their rules, and the lists that those name. */
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { ListId, UserId } from '../../../lib/ids.ts'
import type { CompiledRule } from '../../rules/index.ts'
import * as queries from './queries.ts'
import { loadRegistry } from './registry.ts'

/** A list; the rule of a static list is null. */
export type ListWithRule = { id: ListId; rule: CompiledRule | null }

/** These lists, and those that their rules name. Lists that do not exist are left out; one comes after those that it depends on. */
export async function listsThrough(ctx: ProjectCtx, ids: Iterable<ListId>): Promise<ListWithRule[]> {
  const { liveVersionOf, byId } = await loadRegistry(ctx)
  const versions = new Map<ListId, { rule: CompiledRule; rank: number } | null>()
  const named = new Set(ids)
  // A set is read to its end, also what is added meanwhile.
  for (const id of named) {
    const live = liveVersionOf.get(id)
    if (live === undefined) continue
    const version = byId.get(live) ?? null
    versions.set(id, version)
    for (const list of version?.rule.references.lists ?? []) named.add(list as ListId)
  }
  return [...versions]
    .sort(([, a], [, b]) => (a?.rank ?? -1) - (b?.rank ?? -1))
    .map(([id, version]) => ({ id, rule: version?.rule ?? null }))
}

/** The lists among these that each user is in. */
export async function listsOfUsers(ctx: ProjectCtx, ids: ListId[], users: UserId[]): Promise<Map<UserId, Set<ListId>>> {
  const { liveVersionOf, listOf } = await loadRegistry(ctx)
  const versions = ids.flatMap((id) => liveVersionOf.get(id) ?? [])
  const rows = versions.length > 0 ? await queries.findMemberships(ctx, users, versions) : []
  const found = new Map(users.map((id) => [id, new Set<ListId>()]))
  for (const { user_id, version_id, is_member } of rows) {
    const list = listOf.get(version_id)
    if (is_member && list !== undefined) found.get(user_id)?.add(list)
  }
  return found
}
