/** What follows when users change outside the ingest queue: by a request or an import. */
import type { InTx } from './infra/runtime/ctx.ts'
import { mergeMessages } from './modules/messages/index.ts'
import { mergeSubscriptions, recordSignUps } from './modules/subscriptions/index.ts'
import { mergeClicks } from './modules/tracking/index.ts'
import { appendSavedChanges, type UserChanges, type UserMerge } from './modules/users/index.ts'

/** Follows up changes of users that did not come through the ingest queue. They are appended to it, and lists follow from there. */
export async function onUsersChanged(ctx: InTx, changes: UserChanges): Promise<void> {
  await mergeUserData(ctx, changes.merges)
  await appendSavedChanges(ctx, changes)
}

/**
 * Follows up changes of users that an import made: they enter journeys only where the entrance says so, and have not signed up, because the data
 * may be older than an erasure.
 */
export const onUsersImported = (ctx: InTx, { changes, merges }: UserChanges): Promise<void> =>
  onUsersChanged(ctx, { changes: changes.map((change) => ({ ...change, is_import: true })), merges })

/** Follows up changes of users that requests saved: users who sign up with the address of an erased user can be reached again. */
export async function onUsersSaved(ctx: InTx, changes: UserChanges): Promise<void> {
  await mergeUserData(ctx, changes.merges)
  // Asked for together, so that they share a round trip.
  await Promise.all([appendSavedChanges(ctx, changes), recordSignUps(ctx, changes)])
}

/** Moves what other modules store about merged users to the users who remain. */
export async function mergeUserData(ctx: InTx, merges: UserMerge[]): Promise<void> {
  if (merges.length === 0) return
  await mergeSubscriptions(ctx, merges)
  await mergeMessages(ctx, merges)
  await mergeClicks(ctx, merges)
}
