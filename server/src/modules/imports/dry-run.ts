/**
 * A dry run: every batch is applied and undone again. Undoing also forgets what the file said before about the same people,
 * so that is said again first, without being counted; the counts come out as they would for good.
 */
import type { InTx } from '../../infra/runtime/ctx.ts'
import type { ImportId } from '../../lib/ids.ts'
import type { Profile, WhenChanged } from '../users/index.ts'
import * as queries from './queries.ts'
import { type Saved, saveImportedUsers, type ValidRow } from './save-imported-users.ts'
import type { ClaimedImport } from './schema.ts'
import { keysOf, nameOf } from './waves.ts'

class Undone extends Error {
  readonly saved: Saved
  constructor(saved: Saved) {
    super('A dry run undoes what it did.')
    this.saved = saved
  }
}

/** What `savePeople` would answer for these rows; nothing of it stays. */
export async function dryRun(ctx: InTx, work: ClaimedImport, rows: ValidRow[], whenChanged: WhenChanged): Promise<Saved> {
  const before = await saidBefore(ctx, work.id, rows)
  const saved = await undone(ctx, async () => {
    const again = [...new Set(before.values())].map((profile) => ({ row: { line: 0, cells: [] }, profile }))
    if (again.length > 0) await saveImportedUsers(ctx, work, again, whenChanged)
    return saveImportedUsers(ctx, work, rows, whenChanged)
  })
  await remember(ctx, work.id, rows, saved, before)
  return saved
}

async function undone(ctx: InTx, work: () => Promise<Saved>): Promise<Saved> {
  try {
    return await ctx.db.savepoint(async () => {
      throw new Undone(await work())
    })
  } catch (error) {
    if (error instanceof Undone) return error.saved
    throw error
  }
}

type Said = Map<string, Profile>

async function saidBefore(ctx: InTx, id: ImportId, rows: ValidRow[]): Promise<Said> {
  const keys = [...new Set(rows.flatMap(({ profile }) => keysOf(profile)))]
  const known = await queries.readRehearsals(ctx, id, keys)
  return new Map(known.map(({ key, profile }) => [key, profile]))
}

/** Everything said so far under each id of these rows. Of who was left as they are, only who they are: they are in the list. */
async function remember(ctx: InTx, id: ImportId, rows: ValidRow[], { outcomes }: Saved, said: Said): Promise<void> {
  const became = new Map(outcomes.map(({ row, is }) => [row, is]))
  for (const { row, profile } of rows) {
    if (became.get(row) === 'failed') continue
    const heard = became.get(row) === 'skipped' ? nameOf(profile) : profile
    for (const key of keysOf(heard)) said.set(key, together(said.get(key), heard))
  }
  const rehearsals = [...said].map(([key, profile]) => ({ key, profile }))
  if (rehearsals.length > 0) await queries.saveRehearsals(ctx, id, rehearsals)
}

function together(before: Profile | undefined, { data, ...profile }: Profile): Profile {
  const both = { ...before?.data, ...data }
  return { ...before, ...profile, ...((before?.data ?? data) && { data: both }) }
}
