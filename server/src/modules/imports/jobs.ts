import { job } from '../../infra/queue/jobs.ts'
import type { Ctx } from '../../infra/runtime/ctx.ts'
import { DAY_MS, HOUR_MS } from '../../lib/times.ts'
import * as queries from './queries.ts'
import * as undo from './undo.queries.ts'

const DELETE_IDLE_MS = 60_000

const UPLOAD_SILENCE_MAX_MS = HOUR_MS
const FAILURES_KEPT_DAYS = 30

const UPLOADS_AT_ONCE = 1
const CHUNKS_AT_ONCE = 100
const DRY_RUN_ROWS_AT_ONCE = 5000
const FAILURES_AT_ONCE = 5000

const CHANGES_KEPT_HOURS = 24
const CHANGES_AT_ONCE = 5000

/** Jobs that delete what imports leave behind. */
export const importJobs = [
  job({ name: 'imports.delete-uploads', idleMs: DELETE_IDLE_MS, run: deleteUploads }),
  job({ name: 'imports.purge', idleMs: HOUR_MS, run: purge }),
  job({ name: 'imports.delete-changes', idleMs: HOUR_MS, run: deleteOldChanges }),
]

/** Deletes incomplete uploads, and a part of a file that is no longer needed. */
async function deleteUploads(ctx: Ctx): Promise<number> {
  const before = new Date(ctx.clock.now().getTime() - UPLOAD_SILENCE_MAX_MS)
  const stopped = await queries.purgeUploads(ctx, before, UPLOADS_AT_ONCE)
  const finished = await queries.importToClear(ctx)
  if (!finished) return stopped
  const deleted = await queries.clearSome(ctx, finished, CHUNKS_AT_ONCE, DRY_RUN_ROWS_AT_ONCE)
  return stopped + (deleted || (await queries.markCleared(ctx, finished)))
}

/** Deletes the refused rows of imports that ended 30 days ago. */
async function purge(ctx: Ctx): Promise<number> {
  const old = await queries.importToPurge(ctx, new Date(ctx.clock.now().getTime() - FAILURES_KEPT_DAYS * DAY_MS))
  if (!old) return 0
  return (await queries.purgeFailures(ctx, old, FAILURES_AT_ONCE)) || queries.markPurged(ctx, old)
}

/** Deletes what is recorded for undoing imports that ended 24 hours ago, and the first rows of dry runs. */
async function deleteOldChanges(ctx: Ctx): Promise<number> {
  const old = await undo.importsWithOldChanges(ctx, new Date(ctx.clock.now().getTime() - CHANGES_KEPT_HOURS * HOUR_MS))
  if (old.length === 0) return 0
  const deleted = await undo.deleteChanges(ctx, old, CHANGES_AT_ONCE)
  return deleted < CHANGES_AT_ONCE ? undo.markChangesDeleted(ctx, old) : deleted
}
