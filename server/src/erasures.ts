/** Erasing users from every module. */

import { eraseParked } from './infra/queue/erasing.ts'
import type { Job } from './infra/queue/jobs.ts'
import { TIMERS } from './infra/queue/partitions.ts'
import { type Ctx, type InTx, inTx, type ProjectCtx } from './infra/runtime/ctx.ts'
import { isTemporary } from './infra/runtime/save-together.ts'
import type { ImportId, UserId } from './lib/ids.ts'
import { MINUTE_MS } from './lib/times.ts'
import { eraseActivity } from './modules/activity/index.ts'
import { ERASED_AT_ONCE, eraseEvents, eraseSomeEvents } from './modules/events/index.ts'
import { deleteChangesOf, eraseRows, importsWithRows, oldestImportPosition, unfinishedImports } from './modules/imports/index.ts'
import { eraseJourneys } from './modules/journeys/index.ts'
import { eraseMemberships, lockLists } from './modules/lists/index.ts'
import { eraseMessages, eraseSubmissions } from './modules/messages/index.ts'
import { inProject } from './modules/projects/index.ts'
import { eraseSubscriptions, lockAddresses, suppressErased } from './modules/subscriptions/index.ts'
import { eraseClicks } from './modules/tracking/index.ts'
import {
  addToReceipt,
  contactsWithoutOwner,
  eraseUsers as eraseUserRows,
  findErasable,
  finishErasure,
  forgetErasedIds,
  idsWithMerged,
  namesWithMerged,
} from './modules/users/index.ts'
import { countUserData } from './user-data.ts'

type Erasable = Awaited<ReturnType<typeof findErasable>>[number]

/** A user that could not be erased is tried again after this time. */
const RETRY_MS = 5 * MINUTE_MS

/** Erases the users whose erasure was requested, from every module. One that fails does not hold up the others. */
export function createEraser(): Pick<Job, 'run' | 'nextAt'> {
  const retryAtMs = new Map<UserId, number>()
  return {
    async run(ctx, stop) {
      const nowMs = ctx.clock.now().getTime()
      // A time further ahead is one of before the clock was set back.
      for (const [id, atMs] of retryAtMs) if (nowMs >= atMs || atMs > nowMs + RETRY_MS) retryAtMs.delete(id)
      const due = await findErasable(ctx, [...retryAtMs.keys()])
      for (const user of due) {
        if (stop.aborted) break
        if (!(await couldErase(ctx, user, stop))) retryAtMs.set(user.id, nowMs + RETRY_MS)
      }
      return due.length
    },
    nextAt: async () => (retryAtMs.size === 0 ? null : new Date(Math.min(...retryAtMs.values()))),
  }
}

/** Erases a user, or only some events and rows when the process stops. Returns false if that fails, but throws if the database is away. */
async function couldErase(ctx: Ctx, user: Erasable, stop: AbortSignal): Promise<boolean> {
  try {
    await inProject(ctx, user.project_id, async (ctx) => {
      await eraseMostEvents(ctx, user.id, stop)
      if (stop.aborted) return
      const unfinished = await eraseMostRows(ctx, user.id, stop)
      if (stop.aborted) return
      await inTx(ctx, (ctx) => erase(ctx, user, unfinished))
    })
    return true
  } catch (error) {
    if (isTemporary(error)) throw error
    ctx.log.error({ err: error, project_id: user.project_id, user_id: user.id }, 'user could not be erased; it will be tried again')
    return false
  }
}

/** A user can have millions of events. They are deleted in transactions of their own, before locks are taken that batches wait for. */
async function eraseMostEvents(ctx: ProjectCtx, id: UserId, stop: AbortSignal): Promise<void> {
  const ids = await idsWithMerged(ctx, id)
  const eraseSome = async (ctx: InTx) => {
    const events = await eraseSomeEvents(ctx, ids)
    if (events > 0) await addToReceipt(ctx, id, { events })
    return events
  }
  while (!stop.aborted && (await inTx(ctx, eraseSome, { alongIndexes: true })) === ERASED_AT_ONCE);
}

/**
 * Deletes the rows of files that name a user. All refused rows of a project are read, maybe millions, so that it is done in a transaction for
 * each file, before locks are taken that batches wait for. Returns the imports that may refuse more rows meanwhile; those accepted later are not about this user.
 */
async function eraseMostRows(ctx: ProjectCtx, id: UserId, stop: AbortSignal): Promise<ImportId[]> {
  const unfinished = await unfinishedImports(ctx)
  const names = await namesWithMerged(ctx, id)
  for (const file of await importsWithRows(ctx)) {
    if (stop.aborted) break
    await inTx(ctx, (ctx) => eraseRows(ctx, names, [file]))
  }
  return unfinished
}

async function erase(ctx: InTx, { id, erase_requested_at }: Erasable, unfinished: ImportId[]): Promise<void> {
  await lockLists(ctx)
  const removed = await countUserData(ctx, await idsWithMerged(ctx, id))
  const erased = await eraseUserRows(ctx, [id])
  await eraseOtherData(ctx, erased)
  // Not when users are deleted for another reason: their rows are still to be corrected, and their applications still send to them.
  await eraseRows(ctx, erased, unfinished)
  await eraseParked(ctx, erased)
  // The request did that, unless an older version accepted it. Users who signed up with an address since keep it: one who is just lifting its
  // suppression is waited for, and then found among the owners.
  await lockAddresses(ctx, erased)
  await suppressErased(ctx, await contactsWithoutOwner(ctx, erased))
  // Later email is to whoever signed up with the address since.
  await eraseSubmissions(ctx, erased, erase_requested_at)
  await finishErasure(ctx, id, removed)
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
