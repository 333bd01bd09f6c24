/** What rows say about people becomes so: profiles, membership of the list, consent. */

import { Conflict } from '../../infra/postgres/db.ts'
import type { InTx } from '../../infra/runtime/ctx.ts'
import type { Fault } from '../../lib/errors.ts'
import type { UserId } from '../../lib/ids.ts'
import { addMembers } from '../lists/index.ts'
import { subscribeNew } from '../subscriptions/index.ts'
import { type Profile, resolveIds, type UserMerge, type UserUpdate, upsertUsers, type WhenChanged } from '../users/index.ts'
import type { Row } from './rows.ts'
import type { ClaimedImport } from './schema.ts'
import { nameOf, wavesOf } from './waves.ts'

/** A row that can be applied. */
export type ValidRow = { row: Row; profile: Profile }

export type Outcome = { row: Row } & ({ is: 'created' | 'updated' | 'unchanged' | 'skipped' } | { is: 'failed'; faults: Fault[] })

export type Saved = { outcomes: Outcome[]; added: number }

/** Applies rows in their order. */
export async function saveImportedUsers(ctx: InTx, work: ClaimedImport, rows: ValidRow[], whenChanged: WhenChanged): Promise<Saved> {
  const users: (UserId | undefined)[] = []
  const outcomes: Outcome[] = []
  const merges: UserMerge[] = []
  for (const wave of wavesOf(rows)) {
    const saved = await saveWave(ctx, work, wave, whenChanged)
    outcomes.push(...saved.outcomes)
    users.push(...saved.people)
    merges.push(...saved.merges)
  }
  const ids = mergedIntoOf(users, merges)
  const added = await addMembers(ctx, work.list_id, ids)
  if (work.subscription_ids.length > 0) await subscribeNew(ctx, ids, work.subscription_ids, work.consent_source ?? '')
  return { outcomes, added: added.length }
}

/** Each person once; who was merged on the way is the survivor. */
function mergedIntoOf(users: (UserId | undefined)[], merges: UserMerge[]): UserId[] {
  const into = new Map(merges.map(({ from_id, into_id }) => [from_id, into_id]))
  const mergedInto = (id: UserId): UserId => {
    const next = into.get(id)
    return next === undefined ? id : mergedInto(next)
  }
  return [...new Set(users.flatMap((id) => (id === undefined ? [] : [mergedInto(id)])))].sort((a, b) => a - b)
}

type SavedWave = { outcomes: Outcome[]; people: (UserId | undefined)[]; merges: UserMerge[] }

async function saveWave(ctx: InTx, work: ClaimedImport, rows: ValidRow[], whenChanged: WhenChanged): Promise<SavedWave> {
  const isKnown = work.update_existing ? () => false : await knownAmong(ctx, rows)
  const at = ctx.clock.now()
  const created = new Set<UserId>()
  const changed = new Set<UserId>()
  const merges: UserMerge[] = []
  const arrivals = rows.map(({ profile }): UserUpdate => ({ profile: isKnown(profile) ? nameOf(profile) : profile, at }))
  const upserted = await upsertUsers(ctx, arrivals, async (ctx, news) => {
    for (const { user_id, is_new } of news.changes) (is_new ? created : changed).add(user_id)
    for (const { into_id } of news.merges) changed.add(into_id)
    merges.push(...news.merges)
    await whenChanged(ctx, news)
  })
  const outcomes = rows.map(({ row, profile }, index): Outcome => {
    const outcome = upserted[index]
    if (!outcome || 'faults' in outcome) return { row, is: 'failed', faults: outcome?.faults ?? [] }
    const { id } = outcome.user
    if (!isKnown(profile)) return { row, is: created.has(id) ? 'created' : changed.has(id) ? 'updated' : 'unchanged' }
    if (created.has(id)) throw new Conflict('A person was erased at the same time.')
    return { row, is: 'skipped' }
  })
  return { outcomes, people: upserted.map((outcome) => ('user' in outcome ? outcome.user.id : undefined)), merges }
}

/** Who is there already: by external id, and where there is none, by anonymous id. */
async function knownAmong(ctx: InTx, rows: ValidRow[]): Promise<(profile: Profile) => boolean> {
  const given = (name: 'external_id' | 'anonymous_id') => rows.flatMap(({ profile }) => profile[name] ?? [])
  const known = await resolveIds(ctx, given('external_id'), given('anonymous_id'))
  const externalIds = new Set(known.map((row) => row.external_id))
  const anonymousIds = new Set(known.map((row) => row.anonymous_id))
  return ({ external_id, anonymous_id }) =>
    external_id === undefined ? anonymousIds.has(anonymous_id ?? null) : externalIds.has(external_id)
}
