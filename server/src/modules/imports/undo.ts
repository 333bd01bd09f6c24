/**
 * Undoing an import (D-IMP-4): the users that it created are removed, values, memberships and subscriptions become what they were. Whatever changed
 * since stays. The recorded changes are undone from the last one to the first, a batch in one transaction that also deletes them, so that
 * each is undone once, even if a process dies.
 */
import type { InTx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import { lockLists, membersElsewhere, removeMembersSince } from '../lists/index.ts'
import { usersWithConsent, withdrawImported } from '../subscriptions/index.ts'
import {
  devicesOf,
  lockLiveUsers,
  type Profile,
  type UserChanges,
  type UserRow,
  type UserUpdate,
  upsertUsers,
  usersWithMerges,
} from '../users/index.ts'
import { isQueueBehind } from './queue-age.ts'
import { formerValues, isAsCreated } from './recorded-changes.ts'
import * as queries from './undo.queries.ts'

/** A batch has the lock on lists for itself, because users are removed from them: so long do events wait. */
const UNDONE_AT_ONCE = 200

/** The next changes of an import to be undone, the latest first, and their users, who are locked. */
export type UndoBatch = {
  undone: queries.UndoneImport
  changes: queries.ChangeRow[]
  users: Map<UserId, UserRow>
  /** Created users that nothing of this module, lists, subscriptions or users has touched since. */
  untouched: UserId[]
}

/**
 * Locks the lists, and an import for the next batch. Undefined while the ingest queue is behind, or if another process has locked the
 * import.
 */
export async function claimUndo(ctx: InTx, { id }: queries.ImportToUndo): Promise<UndoBatch | undefined> {
  if (await isQueueBehind(ctx)) return undefined
  await lockLists(ctx)
  const undone = await queries.lockUndo(ctx, id)
  if (!undone) return undefined
  const changes = await queries.takeLastChanges(ctx, id, UNDONE_AT_ONCE)
  const ids = [...new Set(changes.map(({ user_id }) => user_id))]
  const users = new Map((await lockLiveUsers(ctx, ids)).map((user) => [user.id, user]))
  const created = changes.filter(({ is_new, user_id }) => is_new && users.has(user_id)).map(({ user_id }) => user_id)
  const touched = created.length > 0 ? await touchedAmong(ctx, undone, created) : new Set()
  return { undone, changes, users, untouched: created.filter((id) => !touched.has(id)) }
}

/** Users with devices, with a consent of their own, in another static list, or that another user was merged into. */
async function touchedAmong(ctx: InTx, { list_id }: queries.UndoneImport, ids: UserId[]): Promise<Set<UserId>> {
  return new Set([
    ...(await devicesOf(ctx, ids)).map(({ user_id }) => user_id),
    ...(await usersWithConsent(ctx, ids)).map(({ user_id }) => user_id),
    ...(await membersElsewhere(ctx, list_id, ids)).map(({ user_id }) => user_id),
    ...(await usersWithMerges(ctx, ids)).map(({ merged_into }) => merged_into),
  ])
}

/** What undoing a batch led to. The caller acts on the changes, and removes the users. */
export type Undone = { changes: UserChanges; removed: UserId[] }

/** Undoes a batch, except for the removal of users. `active` are users with events of their own, who are kept. */
export async function undoChanges(ctx: InTx, { undone, changes, users, untouched }: UndoBatch, active: UserId[]): Promise<Undone> {
  const mayRemove = new Set(untouched)
  for (const id of active) mayRemove.delete(id)
  const { updates, removed } = decide(changes, users, mayRemove)
  const kept = changes.filter(({ user_id }) => users.has(user_id) && !removed.has(user_id))
  await removeMembersSince(
    ctx,
    undone.list_id,
    kept.filter(({ joined }) => joined),
  )
  await withdrawImported(
    ctx,
    kept.flatMap(({ user_id, subscription_ids, at }) => subscription_ids.map((subscription_id) => ({ user_id, subscription_id, at }))),
  )
  const at = ctx.clock.now()
  const restored = await upsertUsers(
    ctx,
    [...updates].map(([user_id, profile]): UserUpdate => ({ user_id, profile, at })),
  )
  const before = new Set(changes.filter(({ is_counted }) => is_counted).map(({ user_id }) => user_id))
  const now = new Set(restored.changes.changes.map(({ user_id }) => user_id).filter((id) => !before.has(id)))
  const isLast = changes.length < UNDONE_AT_ONCE
  if (!isLast) await queries.markCounted(ctx, undone.id, [...before.union(now)])
  await queries.countUndone(ctx, undone.id, { removed: removed.size, restored: now.size - removed.intersection(before).size, isLast })
  return { changes: restored.changes, removed: [...removed] }
}

/** Goes through the changes from the last one, and finds the values to restore and the users to remove. */
function decide(changes: queries.ChangeRow[], users: Map<UserId, UserRow>, mayRemove: ReadonlySet<UserId>) {
  const current = new Map(
    [...users].map(([id, { external_id, anonymous_id, email, phone, timezone, locale, data }]) => [
      id,
      { external_id, anonymous_id, email, phone, timezone, locale, data },
    ]),
  )
  const updates = new Map<UserId, Profile>()
  const removed = new Set<UserId>()
  for (const change of changes) {
    const user = current.get(change.user_id)
    if (!user) continue
    if (change.is_new && mayRemove.has(change.user_id) && isAsCreated(user, change)) {
      removed.add(change.user_id)
      updates.delete(change.user_id)
      continue
    }
    const { data, ...fields } = formerValues(user, change) ?? {}
    Object.assign(user, fields, { data: withMembers(user.data, data) })
    const before = updates.get(change.user_id)
    if (data || Object.keys(fields).length > 0) {
      updates.set(change.user_id, { ...before, ...fields, ...((before?.data ?? data) && { data: { ...before?.data, ...data } }) })
    }
  }
  return { updates, removed }
}

/** `data` with these members; null removes one. */
const withMembers = (data: Record<string, unknown>, members: Record<string, unknown> = {}): Record<string, unknown> =>
  Object.fromEntries(Object.entries({ ...data, ...members }).filter(([, value]) => value !== null))
