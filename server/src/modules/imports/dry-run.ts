/**
 * A dry run applies every batch and undoes it. That also undoes earlier rows of the file about the same users, so these rows are stored,
 * and applied again before the batch without being counted. The counts are those of a real import. Rows without ids are the exception:
 * their users are looked up among those that are stored.
 */
import { type InTx, inSavepoint } from '../../infra/runtime/ctx.ts'
import type { ImportId } from '../../lib/ids.ts'
import type { Profile } from '../users/index.ts'
import { identifyRows } from './identify-rows.ts'
import type { Outcome, ValidRow } from './outcomes.ts'
import * as queries from './queries.ts'
import { addToList, saveRows } from './save-rows.ts'
import type { ClaimedImport } from './schema.ts'
import { keysOf } from './waves.ts'

/** The results that a real import would have. */
export type DryRun = { outcomes: Outcome[]; added: number }

class Undone extends Error {
  readonly result: DryRun
  constructor(result: DryRun) {
    super('The dry run was undone.')
    this.result = result
  }
}

/** Saves rows, undoes that, and returns the results. */
export async function dryRun(ctx: InTx, claimed: ClaimedImport, given: ValidRow[]): Promise<DryRun> {
  const { rows, failed } = await identifyRows(ctx, given)
  const before = await readEarlierRows(ctx, claimed.id, rows)
  const result = await runAndUndo(ctx, async (ctx) => {
    const again = [...new Set(before.values())].map((profile) => ({ row: { line: 0, cells: [] }, profile }))
    if (again.length > 0) await saveAndAdd(ctx, claimed, again)
    return saveAndAdd(ctx, claimed, rows)
  })
  await saveForLater(ctx, claimed.id, rows, result, before)
  return { ...result, outcomes: [...failed, ...result.outcomes] }
}

async function saveAndAdd(ctx: InTx, claimed: ClaimedImport, rows: ValidRow[]): Promise<DryRun> {
  const { outcomes, userIds } = await saveRows(ctx, claimed, rows)
  return { outcomes, added: (await addToList(ctx, claimed, userIds)).added.length }
}

async function runAndUndo(ctx: InTx, work: (ctx: InTx) => Promise<DryRun>): Promise<DryRun> {
  try {
    return await inSavepoint(ctx, async (ctx) => {
      throw new Undone(await work(ctx))
    })
  } catch (error) {
    if (error instanceof Undone) return error.result
    throw error
  }
}

/** The combined profile of the rows so far, by each of their ids. */
type EarlierRows = Map<string, Profile>

async function readEarlierRows(ctx: InTx, id: ImportId, rows: ValidRow[]): Promise<EarlierRows> {
  const keys = [...new Set(rows.flatMap(({ profile }) => keysOf(profile)))]
  const known = await queries.readDryRunRows(ctx, id, keys)
  return new Map(known.map(({ key, profile }) => [key, profile]))
}

/** Stores the rows for later batches. A skipped row changes no profile, so only its id is stored: its user is in the list now. */
async function saveForLater(ctx: InTx, id: ImportId, rows: ValidRow[], { outcomes }: DryRun, earlier: EarlierRows): Promise<void> {
  const outcomeOf = new Map(outcomes.map((outcome) => [outcome.row, outcome]))
  for (const { row, profile } of rows) {
    const outcome = outcomeOf.get(row)
    if (outcome?.is === 'failed') continue
    const applied = outcome?.is === 'skipped' ? outcome.name : profile
    for (const key of keysOf(applied)) earlier.set(key, joined(earlier.get(key), applied))
  }
  const saved = [...earlier].map(([key, profile]) => ({ key, profile }))
  if (saved.length > 0) await queries.saveDryRunRows(ctx, id, saved)
}

// The columns of a file name each value once: no path leads into the value of another column.
function joined(before: Profile | undefined, { data, paths, ...profile }: Profile): Profile {
  return {
    ...before,
    ...profile,
    ...((before?.data ?? data) && { data: { ...before?.data, ...data } }),
    ...((before?.paths ?? paths) && { paths: { ...before?.paths, ...paths } }),
  }
}
