/** Erasing users from every module. */

import { eraseParked } from './infra/queue/erasing.ts'
import { TIMERS } from './infra/queue/partitions.ts'
import type { Ctx, InTx } from './infra/runtime/ctx.ts'
import type { UserId } from './lib/ids.ts'
import { eraseActivity } from './modules/activity/index.ts'
import { eraseEvents } from './modules/events/index.ts'
import { deleteChangesOf, eraseRows, oldestImportPosition } from './modules/imports/index.ts'
import { eraseJourneys } from './modules/journeys/index.ts'
import { eraseMemberships, lockLists } from './modules/lists/index.ts'
import { eraseMessages, eraseSubmissions } from './modules/messages/index.ts'
import { inEachProject } from './modules/projects/index.ts'
import { eraseSubscriptions, lockAddresses, suppressErased } from './modules/subscriptions/index.ts'
import { eraseClicks } from './modules/tracking/index.ts'
import {
  contactsWithoutOwner,
  eraseUsers as eraseUserRows,
  findErasable,
  finishErasure,
  forgetErasedIds,
  idsWithMerged,
} from './modules/users/index.ts'
import { countUserData } from './user-data.ts'

/** Erases the users whose erasure was requested, from every module. */
export const eraseUsers = async (ctx: Ctx): Promise<number> => inEachProject(ctx, await findErasable(ctx), erase)

async function erase(ctx: InTx, { id, erase_requested_at }: { id: UserId; erase_requested_at: Date }): Promise<number> {
  await lockLists(ctx)
  const removed = await countUserData(ctx, await idsWithMerged(ctx, id))
  const erased = await eraseUserRows(ctx, [id])
  await eraseOtherData(ctx, erased)
  // Not when users are deleted for another reason: their rows are still to be corrected, and their applications still send to them.
  await eraseRows(ctx, erased)
  await eraseParked(ctx, erased)
  // The request did that, unless an older version accepted it. Users who signed up with an address since keep it: one who is just lifting its
  // suppression is waited for, and then found among the owners.
  await lockAddresses(ctx, erased)
  await suppressErased(ctx, await contactsWithoutOwner(ctx, erased))
  // Later email is to whoever signed up with the address since.
  await eraseSubmissions(ctx, erased, erase_requested_at)
  await finishErasure(ctx, id, removed)
  return 1
}

/** Forgets the ids of erased users when nothing that was accepted before is left: in the queue, or in imports. */
export const forgetErased = async (ctx: Ctx): Promise<number> => forgetErasedIds(ctx, await oldestImportPosition(ctx))

/** Deletes what the other modules store about users whose rows were deleted. The caller holds the lock on lists. */
export async function eraseOtherData(ctx: InTx, erased: Awaited<ReturnType<typeof eraseUserRows>>): Promise<void> {
  const ids = erased.map(({ id }) => id)
  if (ids.length === 0) return
  await eraseMemberships(ctx, ids, TIMERS)
  await eraseMessages(ctx, ids)
  await eraseSubscriptions(ctx, ids)
  await deleteChangesOf(ctx, ids)
  await eraseJourneys(ctx, ids)
  await eraseActivity(ctx, ids)
  await eraseEvents(ctx, ids)
  // Last, because it locks links, which senders need.
  await eraseClicks(ctx, ids)
}
