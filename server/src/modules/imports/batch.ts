/**
 * A batch of rows of an import. It is read before, and applied in one transaction, which also stores the position in the file where it ends: when a process
 * dies, the transaction and its lock on the import end, and the next process starts at the same row.
 */

import { isDatabaseAway } from '../../infra/postgres/database-away.ts'
import type { Ctx, InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import { findList } from '../lists/index.ts'
import type { UserChanges } from '../users/index.ts'
import { dryRun } from './dry-run.ts'
import { withoutErasedCells } from './erased-rows.ts'
import { insertFailures } from './failures.queries.ts'
import { failureOf } from './failures.ts'
import { FIRST_ROWS_MAX, firstRowsOf } from './first-rows.ts'
import type { Outcome, ValidRow } from './outcomes.ts'
import * as queries from './queries.ts'
import { isQueueBehind } from './queue-age.ts'
import { linkedIds, recordedChanges } from './recorded-changes.ts'
import { CHUNK_BYTES, type Read } from './rows.ts'
import { addToList, type SavedRows, saveRows } from './save-rows.ts'
import type { ClaimedImport } from './schema.ts'
import { type CheckedRow, readNextRows } from './tasks.ts'
import { insertChanges, insertLinkedIds } from './undo.queries.ts'

const BATCH_ROWS = 500
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

/** The next rows of an import from `position`, or the error that reading them led to. */
type ReadRows = { position: number; rows: CheckedRow[] } & Omit<Read, 'rows'>
export type ReadImport = queries.DueImport & { read: ReadRows | { error: unknown } | null }

/**
 * Reads the next rows of an import in a worker thread, before a transaction begins: it would hold a connection while it waits. Null while
 * the ingest queue is behind. Never throws.
 */
export async function readImport(ctx: ProjectCtx, due: queries.DueImport): Promise<ReadImport> {
  try {
    const row = (await isQueueBehind(ctx)) ? undefined : await queries.findUnfinished(ctx, due.id)
    return { ...due, read: row ? await nextRows(ctx, row) : null }
  } catch (error) {
    return { ...due, read: { error } }
  }
}

/** Locks an import for the rows that were read. Undefined if another process has locked it or imported them. Throws if reading failed. */
export async function claimImportBatch(ctx: InTx, { id, read }: ReadImport): Promise<ImportBatch | undefined> {
  if (read === null) return undefined
  if ('error' in read) throw read.error
  const claimed = await queries.claimImport(ctx, id)
  if (!claimed || claimed.position !== read.position) return undefined
  if (!(await findList(ctx, claimed.list_id))) return lastBatch(claimed, 'The list was archived.')
  if (read.problem !== undefined)
    return lastBatch(claimed, `${read.problem} The rows before it were imported. Correct the file and upload it again.`)
  const position = claimed.position + read.consumed
  return {
    claimed,
    rows: read.rows.filter((row) => 'profile' in row),
    refused: read.rows.flatMap((row): Outcome[] => ('faults' in row ? [{ ...row, is: 'failed' }] : [])),
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

async function nextRows(ctx: ProjectCtx, { id, bytes, position, line, delimiter, columns }: ClaimedImport): Promise<ReadRows> {
  const no = Math.floor(position / CHUNK_BYTES)
  const chunks = (await queries.readChunks(ctx, id, no)).map((chunk) => chunk.bytes)
  const whole = Buffer.concat(chunks)
  const isLast = no * CHUNK_BYTES + whole.length === bytes
  const outcome = await ctx.threads.run(ctx, readNextRows, {
    bytes: whole.subarray(position - no * CHUNK_BYTES),
    reading: { delimiter, line, isLast, rowsMax: BATCH_ROWS },
    columns,
  })
  if ('value' in outcome) return { position, ...outcome.value }
  return { position, rows: [], consumed: 0, line, problem: `The rows from line ${line} cannot be read, because ${outcome.exceeded}.` }
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
  const added = 'added' in saved ? saved.added : await addAndRecord(ctx, claimed, saved)
  const outcomes = await withoutErasedCells(ctx, claimed, [...refused, ...saved.outcomes])
  await saveFailures(ctx, claimed, outcomes)
  const stored = claimed.created + claimed.updated + claimed.unchanged
  const firstRows = claimed.dry_run ? firstRowsOf(outcomes, Math.max(0, FIRST_ROWS_MAX - stored)) : []
  await queries.saveProgress(ctx, claimed.id, { position, line, counts: countsOf(outcomes, added), firstRows, end })
}

/** Adds the users to the list, and records what the batch changed, so that it can be undone. Returns the number of new members. */
async function addAndRecord(ctx: InTx, claimed: ClaimedImport, saved: Pick<SavedRows, 'changes' | 'userIds'>): Promise<number> {
  const joined = await addToList(ctx, claimed, saved.userIds)
  const recorded = recordedChanges(saved.changes, joined)
  if (recorded.length > 0) await insertChanges(ctx, claimed.id, claimed.position, recorded)
  const linked = linkedIds(saved.changes)
  if (linked.length > 0) await insertLinkedIds(ctx, claimed.id, linked)
  return joined.added.length
}

async function saveFailures(ctx: InTx, { id, failed, columns }: ClaimedImport, outcomes: Outcome[]): Promise<void> {
  const added = columns.filter((column) => column.added).length
  const failures = outcomes.flatMap((outcome) => (outcome.is === 'failed' ? [failureOf(outcome.row, outcome.faults, added)] : []))
  const kept = failures.slice(0, Math.max(0, FAILURES_KEPT - failed))
  if (kept.length > 0) await insertFailures(ctx, id, kept)
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
