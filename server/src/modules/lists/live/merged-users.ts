/** In which order a merge and the user's own changes of the same batch decide memberships. Pure. */
import type { UserId } from '../../../lib/ids.ts'
import { ownChanges, type UserChanges } from '../../users/index.ts'
import type { Registry, Version } from './registry.ts'

/** A user that others were merged into. */
export type MergedUser = {
  user_id: UserId
  /** The versions that the merge alone may decide. */
  atOnce: Version[]
  /** Those that depend on the lists of versions which the user's own changes may decide. They are decided after those, once. */
  after: Version[]
  /** All versions that are not decided at once. */
  later: ReadonlySet<Version>
}

/** The users that others were merged into. New users are not among them: all of their memberships are their own. */
export function mergedUsersOf({ versions }: Registry, { changes, merges }: UserChanges): MergedUser[] {
  if (merges.length === 0) return []
  const changesOf = Map.groupBy(changes, ({ user_id }) => user_id)
  return [...new Set(merges.map(({ into_id }) => into_id))].flatMap((user_id) => {
    const own = changesOf.get(user_id) ?? []
    return own.some(({ is_new }) => is_new) ? [] : [{ user_id, ...divided(versions, own.flatMap(ownChanges)) }]
  })
}

/** `versions` are in the order of evaluation: each after those whose lists it depends on. */
function divided(versions: readonly Version[], own: string[]): Omit<MergedUser, 'user_id'> {
  const lists = new Set<string>()
  const [atOnce, after, later] = [[] as Version[], [] as Version[], new Set<Version>()]
  for (const version of versions) {
    const dependencies = version.rule.dependencies as ReadonlySet<string>
    const isOwn = own.some((name) => dependencies.has(name))
    if (!isOwn && !lists.values().some((list) => dependencies.has(list))) {
      atOnce.push(version)
      continue
    }
    later.add(version)
    lists.add(`list:${version.listId}`)
    if (!isOwn) after.push(version)
  }
  return { atOnce, after, later }
}
