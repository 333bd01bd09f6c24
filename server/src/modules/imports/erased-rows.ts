/** Rows of users who were erased after the import was accepted are refused, and nothing of them is kept (D-UREAD-4). */
import type { InTx } from '../../infra/runtime/ctx.ts'
import type { Fault } from '../../lib/errors.ts'
import { trimWhiteSpace } from '../../lib/text.ts'
import { type ErasedIds, erasedSince, type Profile, withoutErased } from '../users/index.ts'
import type { Outcome, ValidRow } from './outcomes.ts'
import type { Row } from './rows.ts'
import type { ClaimedImport } from './schema.ts'

const ERASED: Fault = {
  code: 'resource_missing',
  message: 'The user of the row was erased after the import was accepted. To create the user again, import the row again.',
}

/** A refused row without its cells, which are about an erased user. */
const withoutCells = ({ line, cells }: Row): Row => ({ line, cells: cells.map(() => '') })

/** The rows of users who were not erased, each without an anonymous id that was. `erased` is what they were compared with. */
export async function withoutErasedRows(
  ctx: InTx,
  { accepted_position }: ClaimedImport,
  rows: ValidRow[],
): Promise<{ rows: ValidRow[]; refused: Outcome[]; erased: ErasedIds }> {
  const updates = rows.map(({ profile }) => ({ profile, at: ctx.clock.now(), position: accepted_position }))
  const erased = await erasedSince(ctx, updates)
  const kept: ValidRow[] = []
  const refused: Outcome[] = []
  for (const [at, update] of updates.entries()) {
    const { row } = rows[at] as ValidRow
    const remains = withoutErased(update, erased)
    if (remains) kept.push({ row, profile: remains.profile })
    else refused.push({ row: withoutCells(row), is: 'failed', faults: [ERASED] })
  }
  return { rows: kept, refused, erased }
}

/** Refused rows, those that name an erased user without their cells: they are stored for the caller to correct. */
export async function withoutErasedCells<T extends { row: Row }>(ctx: InTx, claimed: ClaimedImport, refused: T[]): Promise<T[]> {
  if (refused.length === 0) return refused
  const named = refused.map(({ row }) => ({ row, profile: idsIn(claimed, row) }))
  const { rows } = await withoutErasedRows(ctx, claimed, named)
  const kept = new Map(rows.map(({ row, profile }) => [row, profile]))
  const isWhole = ({ row, profile }: ValidRow) => kept.get(row)?.anonymous_id === profile.anonymous_id && kept.has(row)
  return refused.map((one, at) => (isWhole(named[at] as ValidRow) ? one : { ...one, row: withoutCells(one.row) }))
}

/** The ids in the cells of a row, which need not be valid. */
function idsIn({ columns }: ClaimedImport, { cells }: Row): Profile {
  const cellOf = (name: string) => trimWhiteSpace(cells[columns.findIndex(({ field }) => field === name)] ?? '')
  const [external_id, anonymous_id] = [cellOf('external_id'), cellOf('anonymous_id')]
  return { ...(external_id !== '' && { external_id }), ...(anonymous_id !== '' && { anonymous_id }) }
}
