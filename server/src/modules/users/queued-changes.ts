/** User changes that come out of the ingest queue. Their users may have been merged or erased since they were appended. */

import type { InTx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import type { QueuedUserChange, UserChange, UserChanges } from './changes.ts'
import { findMergedInto } from './queries.ts'
import type { KeyedSystemEvent } from './system-events.ts'

/** The live user behind each id. Ids of erased users are not in it. */
export type MergedInto = ReadonlyMap<UserId, UserId>

/** A change with its key in the queue and the time when it was appended. */
export type QueuedChangeItem = { change: QueuedUserChange; key: string; receivedAt: Date }

/** Queued changes, applied to the live users. */
export type ResolvedChanges = UserChanges & { events: KeyedSystemEvent[]; erased: UserId[] }

const usersOf = ({ user_id, merged_from = [] }: QueuedUserChange): UserId[] => [user_id, ...merged_from]

/** Finds the live users that changes are about. */
export async function mergedIntoOf(ctx: InTx, changes: QueuedUserChange[]): Promise<MergedInto> {
  const ids = [...new Set(changes.flatMap(usersOf))]
  const rows = ids.length > 0 ? await findMergedInto(ctx, ctx.projectId, ids) : []
  return new Map(rows.map(({ id, merged_into }) => [id, merged_into]))
}

/** The keys by which a change and the user updates of a batch are about the same user. */
export const keysOfChange = (change: QueuedUserChange, mergedInto: MergedInto): string[] =>
  usersOf(change).map((id) => `u${mergedInto.get(id) ?? id}`)

/** Attributes changes to the live users. */
export function resolveQueuedChanges(items: QueuedChangeItem[], mergedInto: MergedInto): ResolvedChanges {
  const resolved: ResolvedChanges = { changes: [], merges: [], events: [], erased: [] }
  for (const { change, key, receivedAt } of items) {
    const userId = mergedInto.get(change.user_id)
    if (userId === undefined) {
      resolved.erased.push(change.user_id)
      continue
    }
    const former = usersOf(change).filter((id) => id !== userId)
    resolved.merges.push(...former.map((from_id) => ({ from_id, into_id: userId })))
    resolved.changes.push(changeOf(userId, change))
    if (change.event) resolved.events.push({ userId, key, receivedAt, event: change.event })
  }
  return resolved
}

const changeOf = (user_id: UserId, { what, inherited, was, is_new, is_import }: QueuedUserChange): UserChange => ({
  user_id,
  what,
  ...(inherited && { inherited }),
  ...(was && { was }),
  ...(is_new && { is_new: true }),
  ...(is_import && { is_import: true }),
})
