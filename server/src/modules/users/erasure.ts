/** Removing users from every read, with the receipts of their erasures. Their data is deleted by a job, from every module. */
import { Conflict } from '../../infra/postgres/db.ts'
import { eraseParkedAnonymous } from '../../infra/queue/erasing.ts'
import { moveAll } from '../../infra/queue/log/move.ts'
import { type InTx, inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import { missing } from '../../lib/errors.ts'
import type { ErasureId, UserId } from '../../lib/ids.ts'
import { distinct } from '../../lib/shapes.ts'
import { anonymousIdsOf, rememberErased } from './erased-ids.ts'
import * as erasure from './erasure.queries.ts'
import { ERASE } from './job-names.ts'
import * as queries from './queries.ts'
import type { Erasure, UserRow } from './schema.ts'
import { requireUser } from './service.ts'
import { anonymousIdStore } from './user-data.queries.ts'

/** What other modules do at once: suppress the addresses of erased users, and delete the rows of files with their anonymous ids. */
export type EraseElsewhere = {
  suppressErased(ctx: InTx, users: Pick<UserRow, 'email' | 'phone'>[]): Promise<void>
  eraseAnonymousRows(ctx: InTx, anonymousIds: string[]): Promise<void>
}

/**
 * Removes a user from every read at once, and suppresses its addresses: who signs up with one of them from now on lifts that. A job erases the
 * data. Returns the id of the receipt. Throws 404.
 */
export async function deleteUser(ctx: ProjectCtx, name: string, elsewhere: EraseElsewhere): Promise<{ id: ErasureId }> {
  const { id } = await requireUser(ctx, name)
  // What was accepted before has its place in the queue then, by which it is known not to create the user again.
  await moveAll(ctx)
  return inTx(ctx, async (ctx) => {
    // The job cannot know them any more.
    const known = new Set(await anonymousIdsOf(ctx, id))
    await elsewhere.eraseAnonymousRows(ctx, [...known])
    if ((await erasure.requestErasure(ctx, id)) === 0) throw missing('user')
    const anonymous_ids = await anonymousIdStore.count(ctx, [id])
    const { position, anonymousIds } = await rememberErased(ctx, id)
    if (!anonymousIds.every((one) => known.has(one))) throw new Conflict('Another transaction linked an anonymous id.')
    if (anonymousIds.length > 0) await eraseParkedAnonymous(ctx, anonymousIds)
    await erasure.unlinkUsers(ctx, [id])
    // In the order in which a batch locks them.
    await queries.endIdentityEpoch(ctx, position)
    await elsewhere.suppressErased(ctx, await erasure.contactsWithMerged(ctx, id))
    ctx.wake(ERASE)
    return { id: await erasure.insertErasure(ctx, id, { [anonymousIdStore.name]: anonymous_ids }) }
  })
}

/** The receipt of an erasure. Throws 404. */
export async function getErasure(ctx: ProjectCtx, id: ErasureId): Promise<Erasure> {
  const row = await erasure.findErasure(ctx, id)
  if (!row) throw missing('erasure')
  return row
}

/** Takes locked users out of every read at once, ids included. The caller deletes their data in the same transaction. */
export async function unlinkRemoved(ctx: InTx, ids: UserId[]): Promise<void> {
  await erasure.unlinkUsers(ctx, ids)
  await queries.endIdentityEpoch(ctx)
}

/**
 * Holds users about whom something is stored until the transaction ends: an erasure, which deletes users before what is stored about them, waits.
 * Throws a conflict if one of them was merged or erased meanwhile.
 */
export async function holdLiveUsers(ctx: InTx, ids: UserId[]): Promise<void> {
  const wanted = distinct(ids)
  if (wanted.length === 0) return
  const kept = await erasure.keepLiveUsers(ctx, wanted)
  if (kept.length < wanted.length) throw new Conflict('Another transaction merged or erased one of the users.')
}
