/**
 * One batch of an import, in one transaction with the place in the file where it ends. Whoever dies on the way leaves nothing
 * behind: the lock on the import goes with the transaction, and the next one begins at the same row.
 */

import { isDatabaseAway } from '../../infra/http/error-reply.ts'
import { oldestEntryAgeMs } from '../../infra/queue/backlog.ts'
import { type Ctx, type InTx, inTx } from '../../infra/runtime/ctx.ts'
import { findList } from '../lists/index.ts'
import { inProject } from '../projects/index.ts'
import type { WhenChanged } from '../users/index.ts'
import { dryRun } from './dry-run.ts'
import { failureOf } from './failures.ts'
import { rowReader } from './items.ts'
import * as queries from './queries.ts'
import { type Read, readRows } from './rows.ts'
import { type Outcome, type Saved, saveImportedUsers } from './save-imported-users.ts'
import type { ClaimedImport } from './schema.ts'
import { CHUNK_BYTES } from './upload.ts'

const BATCH_ROWS = 500
/** Each batch hands changes to the log. When that falls behind, what people do comes before what a file says. */
const LOG_LAG_MAX_MS = 1000
const ATTEMPTS_MAX = 5
/** Of one import; further ones are counted and not kept. */
const FAILURES_KEPT = 100_000

const GIVEN_UP = 'Something went wrong on our side. What was imported stays; upload the file again to go on.'

/** What imports need of modules that they do not know. */
export type Surroundings = {
  /** Tells the other modules what became different about people. */
  whenChanged: WhenChanged
}

/** One batch for each project that has an import, so that no project waits for another. Answers how many were made. */
export async function importNext(ctx: Ctx, surroundings: Surroundings): Promise<number> {
  let done = 0
  for (const due of await queries.importsDue(ctx)) {
    if ((await oldestEntryAgeMs(ctx, due.project_id)) <= LOG_LAG_MAX_MS) done += await importBatch(ctx, due, surroundings)
  }
  return done
}

async function importBatch(ctx: Ctx, due: queries.DueImport, { whenChanged }: Surroundings): Promise<number> {
  try {
    return await inProject(ctx, due.project_id, (ctx) =>
      inTx(ctx, async (ctx) => {
        const work = await queries.claimImport(ctx, due.id)
        if (!work) return 0
        await applyBatch(ctx, work, whenChanged)
        return 1
      }),
    )
  } catch (error) {
    // The batch is still there.
    if (isDatabaseAway(error)) throw error
    ctx.log.error({ err: error, project_id: due.project_id, import_id: due.id }, 'import batch failed')
    await queries.countAttempt(ctx, due, ATTEMPTS_MAX, GIVEN_UP)
    return 0
  }
}

async function applyBatch(ctx: InTx, work: ClaimedImport, whenChanged: WhenChanged): Promise<void> {
  if (!(await findList(ctx, work.list_id))) {
    return end(ctx, work, 'The list was archived.')
  }
  const read = await nextRows(ctx, work)
  if (read.problem !== undefined) {
    return end(ctx, work, `${read.problem} The rows before it are imported; correct it and upload the file again.`)
  }
  const readRow = rowReader(work.columns)
  const checked = read.rows.map((row) => ({ row, ...readRow(row.cells) }))
  const sound = checked.filter((row) => 'profile' in row)
  const refused = checked.filter((row) => 'faults' in row).map((row): Outcome => ({ ...row, is: 'failed' }))
  const { outcomes, added } = await (work.dry_run ? dryRun : saveImportedUsers)(ctx, work, sound, whenChanged)
  const all = [...refused, ...outcomes]
  await keepFailures(ctx, work, all)
  const position = work.position + read.consumed
  const isOver = position === work.bytes
  await queries.saveProgress(ctx, work.id, {
    position,
    line: read.line,
    counts: countsOf(all, added),
    end: isOver ? { state: 'finished', reason: null } : null,
  })
}

const end = async (ctx: InTx, { id, position, line }: ClaimedImport, reason: string): Promise<void> => {
  await queries.saveProgress(ctx, id, { position, line, counts: countsOf([], 0), end: { state: 'failed', reason } })
}

async function nextRows(ctx: InTx, { id, bytes, position, line, delimiter }: ClaimedImport): Promise<Read> {
  const no = Math.floor(position / CHUNK_BYTES)
  const chunks = (await queries.readChunks(ctx, id, no)).map((chunk) => chunk.bytes)
  const window = Buffer.concat(chunks)
  const isLast = no * CHUNK_BYTES + window.length === bytes
  return readRows(window.subarray(position - no * CHUNK_BYTES), { delimiter, line, isLast, rowsMax: BATCH_ROWS })
}

async function keepFailures(ctx: InTx, { id, failed }: ClaimedImport, outcomes: Outcome[]): Promise<void> {
  const failures = outcomes.flatMap((outcome) => (outcome.is === 'failed' ? [failureOf(outcome.row, outcome.faults)] : []))
  const kept = failures.slice(0, Math.max(0, FAILURES_KEPT - failed))
  if (kept.length > 0) await queries.insertFailures(ctx, id, kept)
}

function countsOf(outcomes: Outcome[], added: Saved['added']): queries.Counts {
  const counts = { rows: outcomes.length, created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0, added }
  for (const { is } of outcomes) counts[is]++
  return counts
}
