/** Saves the rows of an import: profiles first, then membership of the list and consent. */

import { Conflict } from '../../infra/postgres/db.ts'
import type { InTx } from '../../infra/runtime/ctx.ts'
import type { SubscriptionId, UserId } from '../../lib/ids.ts'
import { addMembers } from '../lists/index.ts'
import { subscribeNew } from '../subscriptions/index.ts'
import {
  type ErasedIds,
  findUsers,
  type Profile,
  requireSameErasures,
  resolveIds,
  type UserChanges,
  type UserUpdate,
  upsertUsers,
} from '../users/index.ts'
import { withoutErasedRows } from './erased-rows.ts'
import { identifyRows, runsOf } from './identify-rows.ts'
import type { Outcome, ValidRow } from './outcomes.ts'
import type { ClaimedImport } from './schema.ts'
import { wavesOf } from './waves.ts'

export type SavedRows = {
  outcomes: Outcome[]
  /** The changes of users, by wave. */
  changes: UserChanges[]
  /** The users of the rows, each once. A merged user is replaced by the one who remains. */
  userIds: UserId[]
}

/** Saves the profiles of rows in their order. */
export async function saveRows(ctx: InTx, claimed: ClaimedImport, rows: ValidRow[]): Promise<SavedRows> {
  const waves: SavedWave[] = []
  const refused: Outcome[] = []
  // A row without ids belongs to the user who has its address after the rows before it.
  for (const run of runsOf(rows)) {
    const identified = await identifyRows(ctx, run)
    const kept = await withoutErasedRows(ctx, claimed, identified.rows)
    refused.push(...identified.failed, ...kept.refused)
    for (const wave of wavesOf(kept.rows)) waves.push(await saveWave(ctx, claimed, wave, kept.erased))
  }
  const changes = waves.map((wave) => wave.changes)
  const ids = waves.flatMap(({ userIds }) => userIds)
  return { outcomes: [...refused, ...waves.flatMap(({ outcomes }) => outcomes)], changes, userIds: afterMerges(ids, changes) }
}

function afterMerges(ids: UserId[], changes: UserChanges[]): UserId[] {
  const into = new Map(changes.flatMap(({ merges }) => merges).map(({ from_id, into_id }) => [from_id, into_id]))
  const mergedInto = (id: UserId): UserId => {
    const next = into.get(id)
    return next === undefined ? id : mergedInto(next)
  }
  return [...new Set(ids.map(mergedInto))].sort((a, b) => a - b)
}

type SavedWave = { outcomes: Outcome[]; changes: UserChanges; userIds: UserId[] }

async function saveWave(ctx: InTx, claimed: ClaimedImport, rows: ValidRow[], erased: ErasedIds): Promise<SavedWave> {
  const knownAs = claimed.update_existing ? () => undefined : await knownAmong(ctx, rows)
  const at = ctx.clock.now()
  const updates = rows.map(({ profile }): UserUpdate => ({ profile: knownAs(profile) ?? profile, at }))
  const upserted = await upsertUsers(ctx, updates)
  const created = new Set(upserted.changes.changes.filter(({ is_new }) => is_new).map(({ user_id }) => user_id))
  if (created.size > 0) await requireSameErasures(ctx, erased)
  const changed = changedBy(upserted.changes)
  const outcomes = rows.map(({ row, profile }, index): Outcome => {
    const outcome = upserted.outcomes[index]
    if (!outcome || 'faults' in outcome) return { row, is: 'failed', faults: outcome?.faults ?? [] }
    const { user } = outcome
    const isNew = created.has(user.id)
    if (claimed.update_existing) return { row, is: isNew ? 'created' : changed.has(user.id) ? 'updated' : 'unchanged', profile, user }
    const name = knownAs(profile)
    if ((name !== undefined) === isNew) throw new Conflict('Another transaction created or erased one of the users.')
    if (name === undefined) return { row, is: 'created', profile, user }
    const isOfOther = name.external_id === undefined && profile.external_id !== undefined && user.external_id !== null
    if (isOfOther) throw new Conflict('Another transaction identified one of the users.')
    return { row, is: 'skipped', profile, user, name }
  })
  const userIds = upserted.outcomes.flatMap((outcome) => ('user' in outcome ? [outcome.user.id] : []))
  return { outcomes, changes: upserted.changes, userIds }
}

const changedBy = ({ changes, merges }: UserChanges): Set<UserId> =>
  new Set([...changes.filter(({ is_new }) => !is_new).map(({ user_id }) => user_id), ...merges.map(({ into_id }) => into_id)])

/**
 * Finds stored users. The function that it returns gives the id by which a profile names one of them, undefined if it names none. An update
 * with that id locks the user and changes nothing.
 */
async function knownAmong(ctx: InTx, rows: ValidRow[]): Promise<(profile: Profile) => Profile | undefined> {
  const given = (name: 'external_id' | 'anonymous_id') => rows.flatMap(({ profile }) => profile[name] ?? [])
  const known = await resolveIds(ctx, given('external_id'), given('anonymous_id'))
  const externalIds = new Set(known.map((row) => row.external_id))
  const owners = new Map(known.flatMap(({ anonymous_id, id }) => (anonymous_id === null ? [] : [[anonymous_id, id] as const])))
  const identified = new Set(
    (await findUsers(ctx, [...owners.values()])).flatMap(({ id, external_id }) => (external_id === null ? [] : [id])),
  )
  return ({ external_id, anonymous_id }) => {
    if (external_id !== undefined && externalIds.has(external_id)) return { external_id }
    if (anonymous_id === undefined) return undefined
    const owner = owners.get(anonymous_id)
    // The anonymous id of somebody else moves to the user of the row, who is created (D-USER-1).
    return owner === undefined || (external_id !== undefined && identified.has(owner)) ? undefined : { anonymous_id }
  }
}

/** The users who were not in the list before, and the states of subscriptions that were stored. */
export type Joined = { added: UserId[]; subscribed: { user_id: UserId; subscription_id: SubscriptionId }[] }

/**
 * Adds the users of rows to the list, and subscribes them to the types of the import unless they have a state already. Call it
 * after their merges are complete: a merged user may bring a state along.
 */
export async function addToList(ctx: InTx, claimed: ClaimedImport, userIds: UserId[]): Promise<Joined> {
  const added = await addMembers(ctx, claimed.list_id, userIds)
  if (userIds.length === 0 || claimed.subscription_ids.length === 0) return { added, subscribed: [] }
  const evidence = { wording: claimed.consent_source ?? '', proof: proofOf(claimed) }
  return { added, subscribed: await subscribeNew(ctx, userIds, claimed.subscription_ids, evidence) }
}

/** What proves the consent: the import, the file and the key. The file is deleted after the import; its name and hash stay. */
const proofOf = ({ id, filename, file_sha256, key_id }: ClaimedImport): Record<string, unknown> => ({
  import_id: id,
  ...(filename !== null && { file: filename }),
  ...(file_sha256 !== null && { file_sha256 }),
  ...(key_id !== null && { key_id }),
})
