/** Rows of users who were erased after the import was accepted are refused, and nothing of them is kept (D-UREAD-4). Stored rows of erased users are deleted. */
import type { InTx } from '../../infra/runtime/ctx.ts'
import type { Fault } from '../../lib/errors.ts'
import type { ImportId } from '../../lib/ids.ts'
import { normalisePhone, regionsOfPhone } from '../../lib/phone.ts'
import { distinct } from '../../lib/shapes.ts'
import { trimWhiteSpace } from '../../lib/text.ts'
import { type ErasedIds, erasedAddresses, erasedSince, type Profile, phoneOf, withoutErased } from '../users/index.ts'
import * as queries from './erased-rows.queries.ts'
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

/**
 * The outcomes, without the cells of refused rows that name an erased user, because the cells of refused rows are stored for the caller to
 * correct.
 */
export async function withoutErasedCells(ctx: InTx, claimed: ClaimedImport, outcomes: Outcome[]): Promise<Outcome[]> {
  const named = outcomes.flatMap(({ row, is }) => (is === 'failed' ? [{ row, profile: idsIn(claimed, row) }] : []))
  if (named.length === 0) return outcomes
  const { rows, erased } = await withoutErasedRows(ctx, claimed, named)
  if (claimed.accepted_position > erased.upTo) return outcomes
  const kept = new Map(rows.map(({ row, profile }) => [row, profile]))
  const addressesOf = addressesIn(ctx, claimed)
  const erasures = await erasedAddresses(ctx, distinct(named.flatMap(({ row }) => addressesOf(row))))
  const isErased = (address: string) => (erasures.get(address) ?? -1) >= claimed.accepted_position
  const namesErased = ({ row, profile }: ValidRow) =>
    !kept.has(row) || kept.get(row)?.anonymous_id !== profile.anonymous_id || addressesOf(row).some(isErased)
  const emptied = new Set(named.filter(namesErased).map(({ row }) => row))
  return outcomes.map((one) => (emptied.has(one.row) ? { ...one, row: withoutCells(one.row) } : one))
}

const cellsIn = ({ columns }: ClaimedImport, { cells }: Row) => {
  return (name: string) => trimWhiteSpace(cells[columns.findIndex(({ field }) => field === name)] ?? '')
}

/** The ids in the cells of a row, which need not be valid. */
function idsIn(claimed: ClaimedImport, row: Row): Profile {
  const cellOf = cellsIn(claimed, row)
  const [external_id, anonymous_id] = [cellOf('external_id'), cellOf('anonymous_id')]
  return { ...(external_id !== '' && { external_id }), ...(anonymous_id !== '' && { anonymous_id }) }
}

/** What may be an email address or a phone number in the cells of a row, as it is stored. Columns that are skipped may have some too. */
function addressesIn(ctx: InTx, claimed: ClaimedImport): (row: Row) => string[] {
  const normalise = phoneOf(ctx.project)
  return (row) => {
    const phone = normalise({ phone: cellsIn(claimed, row)('phone') }, null)
    const cells = row.cells.map((cell) => trimWhiteSpace(cell).toLowerCase()).filter((cell) => cell !== '')
    return phone === null ? cells : [...cells, phone]
  }
}

/** No country has shorter numbers. */
const DIGITS_COMPARED = 4

/** Deletes refused rows and the first rows of dry runs that name erased users (D-IMP-5). It reads all refused rows of these imports. */
export async function eraseRows(ctx: InTx, users: queries.ErasedUser[], among: ImportId[]): Promise<void> {
  if (among.length === 0) return
  const phones = users.flatMap(({ phone }) => phone ?? [])
  const isOne = (cell: string) => phones.some((phone) => normalisePhone(trimWhiteSpace(cell), regionsOfPhone(phone)) === phone)
  const digits = phones.map((phone) => phone.slice(-DIGITS_COMPARED))
  const written = digits.length === 0 ? [] : await queries.phonesWithLastDigits(ctx, digits, among)
  await queries.eraseNamed(ctx, users, written.filter(isOne), among)
}

/**
 * Deletes refused rows and first rows with these anonymous ids. Run it before users are locked: a batch of an import locks the import first.
 */
export async function eraseAnonymousRows(ctx: InTx, anonymousIds: string[]): Promise<void> {
  if (anonymousIds.length > 0) await queries.eraseAnonymous(ctx, anonymousIds)
}
