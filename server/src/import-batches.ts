/** Importing users from files and undoing that: batch by batch, each one transaction. */

import { eraseOtherData } from './erasures.ts'
import type { Started } from './infra/queue/jobs.ts'
import { type Ctx, type InTx, inClaim, inTx } from './infra/runtime/ctx.ts'
import { CHANNELS } from './lib/channels.ts'
import type { ProjectId } from './lib/ids.ts'
import { usersWithEvents } from './modules/events/index.ts'
import {
  claimImportBatch,
  claimUndo,
  countFailedBatch,
  type DueImport,
  finishImportBatch,
  type ImportToUndo,
  importsDue,
  importsToUndo,
  type ReadImport,
  readImport,
  saveImportedUsers,
  UNDO_IMPORT,
  undoChanges,
} from './modules/imports/index.ts'
import { eachFoundAlone, failedIn, inEachProject, inProject } from './modules/projects/index.ts'
import { eraseUsers as eraseUserRows, unlinkRemoved } from './modules/users/index.ts'
import { onUsersChanged, onUsersImported } from './user-changes.ts'

const IMPORTS_AT_ONCE = 4

/** Events that the server writes about a user. They do not tell that the user has done anything. */
const WRITTEN_BY_SERVER = [
  ...['user_created', 'user_updated', 'subscribed', 'unsubscribed', 'list_entered', 'list_left'],
  ...CHANNELS.flatMap((channel) => ['sent', 'delivered', 'bounced', 'failed'].map((action) => `${channel}_${action}`)),
]

/** Imports users from files: one batch for each project that has an import. */
export async function importUsers(ctx: Ctx): Promise<number> {
  const readNext = (due: DueImport) => inProject(ctx, due.project_id, (ctx) => readImport(ctx, due))
  const due = await inClaim(ctx, importsDue)
  let done = 0
  // What was read is in memory until it is saved, and another process may save it meanwhile.
  for (let at = 0; at < due.length; at += IMPORTS_AT_ONCE) {
    const read = await Promise.all(due.slice(at, at + IMPORTS_AT_ONCE).map(readNext))
    done += await inEachProject(ctx, read, importBatch, countFailedBatch)
  }
  return done
}

async function importBatch(ctx: InTx, read: ReadImport): Promise<number> {
  const batch = await claimImportBatch(ctx, read)
  if (!batch) return 0
  const saved = await saveImportedUsers(ctx, batch)
  for (const changes of saved.changes) await onUsersImported(ctx, changes)
  await finishImportBatch(ctx, batch, saved)
  return 1
}

/**
 * Undoes imports: one batch for each project that has one to undo. A project of which one fails is left out for a time, with its older imports:
 * what it changed is restored last.
 */
export async function undoImports(ctx: Ctx): Promise<Started> {
  const find = async (leftOut: ProjectId[]) => (await importsToUndo(ctx, leftOut)).map((due) => ({ ...due, ids: [due.project_id] }))
  const done = await eachFoundAlone(ctx, UNDO_IMPORT, find, (ctx, due) => inTx(ctx, (ctx) => undoBatch(ctx, due)))
  // Now, if some wait for the ingest queue.
  const hasMore = done === 0 && (await find(failedIn<ProjectId>(ctx, UNDO_IMPORT))).length > 0
  return { done, finished: Promise.resolve(), nextAt: hasMore ? ctx.clock.now() : null }
}

async function undoBatch(ctx: InTx, due: ImportToUndo): Promise<number> {
  const batch = await claimUndo(ctx, due)
  if (!batch) return 0
  const active = await usersWithEvents(ctx, batch.untouched, WRITTEN_BY_SERVER)
  const { changes, removed } = await undoChanges(
    ctx,
    batch,
    active.map(({ user_id }) => user_id),
  )
  await onUsersChanged(ctx, changes)
  if (removed.length > 0) {
    await unlinkRemoved(ctx, removed)
    // Their addresses are not suppressed: they may be in the corrected file.
    await eraseOtherData(ctx, await eraseUserRows(ctx, removed))
  }
  return 1
}
