import { job } from '../../infra/queue/jobs.ts'
import type { Ctx } from '../../infra/runtime/ctx.ts'
import { importNext, type Surroundings } from './apply.ts'
import * as queries from './queries.ts'

const IMPORT_IDLE_MS = 500
const CLEAR_IDLE_MS = 5000
const HOUR_MS = 3_600_000

const UPLOAD_SILENCE_MAX_MS = HOUR_MS
const FAILURES_KEPT_DAYS = 30

const UPLOADS_AT_ONCE = 1
const CHUNKS_AT_ONCE = 100
const REHEARSALS_AT_ONCE = 5000
const FAILURES_AT_ONCE = 5000

/** Imports, one batch a project at a time, and what they leave behind. */
export const importJobs = (surroundings: Surroundings) => [
  job({ name: 'imports', idleMs: IMPORT_IDLE_MS, run: (ctx) => importNext(ctx, surroundings) }),
  job({ name: 'imports.clear', idleMs: CLEAR_IDLE_MS, run: clear }),
  job({ name: 'imports.purge', idleMs: HOUR_MS, run: purge }),
]

/** Deletes files that are not needed any more, some of one at a time, and uploads that stopped. */
async function clear(ctx: Ctx): Promise<number> {
  const before = new Date(ctx.clock.now().getTime() - UPLOAD_SILENCE_MAX_MS)
  const stopped = await queries.purgeUploads(ctx, before, UPLOADS_AT_ONCE)
  const over = await queries.importToClear(ctx)
  if (!over) return stopped
  const cleared = await queries.clearSome(ctx, over, CHUNKS_AT_ONCE, REHEARSALS_AT_ONCE)
  return stopped + (cleared || (await queries.markCleared(ctx, over)))
}

/** Deletes refused rows when their time is over. */
async function purge(ctx: Ctx): Promise<number> {
  const old = await queries.importToPurge(ctx, new Date(ctx.clock.now().getTime() - FAILURES_KEPT_DAYS * 24 * HOUR_MS))
  if (!old) return 0
  return (await queries.purgeFailures(ctx, old, FAILURES_AT_ONCE)) || queries.markPurged(ctx, old)
}
