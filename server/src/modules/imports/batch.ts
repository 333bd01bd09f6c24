/**
 * A batch of rows of an import. It is applied in one transaction, which also stores the position in the file where it ends: when a process
 * dies, the transaction and its lock on the import end, and the next process starts at the same row.
 */

import { isDatabaseAway } from '../../infra/postgres/database-away.ts'
import { oldestEntryAgeMs } from '../../infra/queue/backlog.ts'
import type { Ctx, InTx } from '../../infra/runtime/ctx.ts'
import type { ImportId } from '../../lib/ids.ts'
import { findList } from '../lists/index.ts'
import type { UserChanges } from '../users/index.ts'
import { dryRun } from './dry-run.ts'
import { failureOf } from './failures.ts'
import { rowReader } from './items.ts'
import * as queries from './queries.ts'
import { type Read, readRows } from './rows.ts'
import { addToList, type Outcome, type SavedRows, saveRows, type ValidRow } from './save-rows.ts'
import type { ClaimedImport } from './schema.ts'
import { CHUNK_BYTES } from './upload.ts'

const BATCH_ROWS = 500
/** Each batch appends changes to the ingest queue. When the queue falls behind, imports wait, so that they do not delay events. */
const QUEUE_AGE_MAX_MS = 1000
const ATTEMPTS_MAX = 5
/** The most failures stored for an import. Further failures are only counted. */
const FAILURES_KEPT = 100_000

const GIVEN_UP = 'An internal error stopped the import. The rows imported so far are kept. Upload the file again to import the rest.'

/** The next rows of an import. */
export type ImportBatch = {
  claimed: ClaimedImport
  rows: ValidRow[]
  refused: Outcome[]
  /** The position in the file where the batch ends. */
  position: number
  line: number
  /** Set when the import ends with this batch. */
  end: queries.Progress['end']
}

/** The results of saving a batch. The changes of a dry run were undone. */
export type SavedBatch = { outcomes: Outcome[]; changes: UserChanges[] } & (Pick<SavedRows, 'userIds'> | { added: number })

/** Locks an import and reads its next rows. Undefined while another process has locked it, or while the ingest queue is behind. */
export async function claimImportBatch(ctx: InTx, id: ImportId): Promise<ImportBatch | undefined> {
  if ((await oldestEntryAgeMs(ctx, ctx.projectId)) > QUEUE_AGE_MAX_MS) return undefined
  const claimed = await queries.claimImport(ctx, id)
  if (!claimed) return undefined
  if (!(await findList(ctx, claimed.list_id))) return lastBatch(claimed, 'The list was archived.')
  const read = await nextRows(ctx, claimed)
  if (read.problem !== undefined)
    return lastBatch(claimed, `${read.problem} The rows before it were imported. Correct the file and upload it again.`)
  const readRow = rowReader(claimed.columns)
  const checked = read.rows.map((row) => ({ row, ...readRow(row.cells) }))
  const position = claimed.position + read.consumed
  return {
    claimed,
    rows: checked.filter((row) => 'profile' in row),
    refused: checked.filter((row) => 'faults' in row).map((row): Outcome => ({ ...row, is: 'failed' })),
    position,
    line: read.line,
    end: position === claimed.bytes ? { state: 'finished', reason: null } : null,
  }
}

/** A batch without rows, which ends the import. */
const lastBatch = (claimed: ClaimedImport, reason: string): ImportBatch => ({
  claimed,
  rows: [],
  refused: [],
  position: claimed.position,
  line: claimed.line,
  end: { state: 'failed', reason },
})

async function nextRows(ctx: InTx, { id, bytes, position, line, delimiter }: ClaimedImport): Promise<Read> {
  const no = Math.floor(position / CHUNK_BYTES)
  const chunks = (await queries.readChunks(ctx, id, no)).map((chunk) => chunk.bytes)
  const read = Buffer.concat(chunks)
  const isLast = no * CHUNK_BYTES + read.length === bytes
  return readRows(read.subarray(position - no * CHUNK_BYTES), { delimiter, line, isLast, rowsMax: BATCH_ROWS })
}

/** Saves the users of a batch. The caller must act on the changes, wave by wave, before it finishes the batch. */
export async function saveImportedUsers(ctx: InTx, { claimed, rows }: ImportBatch): Promise<SavedBatch> {
  return claimed.dry_run ? { ...(await dryRun(ctx, claimed, rows)), changes: [] } : saveRows(ctx, claimed, rows)
}

/** Adds the users to the list, and saves the failures, the counts and the position where the next batch begins. */
export async function finishImportBatch(
  ctx: InTx,
  { claimed, refused, position, line, end }: ImportBatch,
  saved: SavedBatch,
): Promise<void> {
  const added = 'added' in saved ? saved.added : await addToList(ctx, claimed, saved.userIds)
  const outcomes = [...refused, ...saved.outcomes]
  await saveFailures(ctx, claimed, outcomes)
  await queries.saveProgress(ctx, claimed.id, { position, line, counts: countsOf(outcomes, added), end })
}

async function saveFailures(ctx: InTx, { id, failed }: ClaimedImport, outcomes: Outcome[]): Promise<void> {
  const failures = outcomes.flatMap((outcome) => (outcome.is === 'failed' ? [failureOf(outcome.row, outcome.faults)] : []))
  const kept = failures.slice(0, Math.max(0, FAILURES_KEPT - failed))
  if (kept.length > 0) await queries.insertFailures(ctx, id, kept)
}

function countsOf(outcomes: Outcome[], added: number): queries.Counts {
  const counts = { rows: outcomes.length, created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0, added }
  for (const { is } of outcomes) counts[is]++
  return counts
}

/** Counts a failed batch. The last attempt ends the import. Throws if the database was unavailable, which does not count as an attempt. */
export async function countFailedBatch(ctx: Ctx, due: queries.DueImport, error: unknown): Promise<0> {
  if (isDatabaseAway(error)) throw error
  ctx.log.error({ err: error, project_id: due.project_id, import_id: due.id }, 'import batch failed')
  await queries.countAttempt(ctx, due, ATTEMPTS_MAX, GIVEN_UP)
  return 0
}
