/** Saves a batch of user updates with a handful of statements, whatever its size. */

import { Conflict, isSqlState, UNIQUE_VIOLATION } from '../../infra/postgres/db.ts'
import type { InTx } from '../../infra/runtime/ctx.ts'
import type { Fault } from '../../lib/errors.ts'
import type { UserId } from '../../lib/ids.ts'
import { distinct } from '../../lib/shapes.ts'
import { phoneOf } from './batch.ts'
import { differences, formerValues, type UserChange, type UserChanges } from './changes.ts'
import { applyProfile, noUsers, type Profile, type UserRecord, type Users, type UserUpdate } from './identity.ts'
import * as queries from './queries.ts'
import * as saving from './save.queries.ts'

export type UpsertOutcome = { user: UserRecord } | { faults: Fault[] }

/** The outcome of an update for a user who was erased or removed before it was applied. Nothing is saved. */
export const USER_DELETED: UpsertOutcome = { faults: [{ code: 'resource_missing', message: 'The user of the update was deleted.' }] }

/** The outcome of an update of which an earlier one with the same `once` was applied. Nothing is saved. */
export const REPEATED: UpsertOutcome = { faults: [{ code: 'resource_already_exists', message: 'The update repeats an earlier one.' }] }

type Upserted = { outcomes: UpsertOutcome[]; changes: UserChanges }

/**
 * Applies updates in order. Each outcome is the user as it was right after its update. `changes` list the differences at the end,
 * for the caller to act on: other modules store data of merged users too.
 */
export async function upsertUsers(ctx: InTx, updates: UserUpdate[]): Promise<Upserted> {
  if (updates.length === 0) return { outcomes: [], changes: { changes: [], merges: [] } }
  const { users, known, before } = await load(ctx, updates)
  const normalise = phoneOf(ctx.project)
  const created: { snapshot: UserRecord; user: UserRecord }[] = []
  const done = new Set<string>()
  const outcomes = updates.map(({ profile, at, user_id, once }): UpsertOutcome => {
    if (once !== undefined && done.has(once)) return REPEATED
    const applied = user_id === undefined ? profile : boundTo(known.get(user_id), profile)
    if (!applied) return USER_DELETED
    const outcome = applyProfile(users, applied, at, normalise)
    if ('fault' in outcome) return { faults: [outcome.fault] }
    const { user } = outcome
    if (once !== undefined) done.add(once)
    const snapshot = { ...user }
    if (user.id < 0) created.push({ snapshot, user })
    return { user: snapshot }
  })
  await save(ctx, users, before)
  for (const { snapshot, user } of created) snapshot.id = user.id
  const merges = users.merges.map(({ from, into }) => ({ from_id: from.id, into_id: lastMergedInto(into).id }))
  if (merges.length > 0) await queries.moveUserRows(ctx, merges)
  if ([...users.linked].some((anonymousId) => users.stored.has(anonymousId))) await queries.endIdentityEpoch(ctx)
  return {
    outcomes,
    changes: { changes: changesOf(users, before), merges },
  }
}

function changesOf(users: Users, before: Map<UserRecord, UserRecord>): UserChange[] {
  const created = [...users.created].filter(({ mergedInto }) => !mergedInto)
  const gains = Map.groupBy(users.gains, ({ user }) => user)
  const absorbed = Map.groupBy(
    users.merges.filter(({ from }) => before.has(from)),
    ({ into }) => lastMergedInto(into),
  )
  const mergedOf = (user: UserRecord): Pick<UserChange, 'inherited' | 'absorbed'> => {
    const inherited = (gains.get(user) ?? []).flatMap(inheritedIn)
    const those = absorbed.get(user)?.flatMap(({ from }) => before.get(from) ?? [])
    return { ...(inherited.length > 0 && { inherited }), ...(those && { absorbed: those }) }
  }
  const changed = [...users.touched].flatMap((user): UserChange[] => {
    const former = before.get(user)
    if (!former || user.mergedInto) return []
    const what = differences(former, user)
    return what.length > 0 ? [{ user_id: user.id, what, ...mergedOf(user), ...formerValues(former, what), user, former }] : []
  })
  return [...created.map((user): UserChange => ({ user_id: user.id, what: [], is_new: true, ...mergedOf(user), user })), ...changed]
}

/** The attributes that a merge changed, and no update after it. */
function inheritedIn({ user, before, after }: Users['gains'][number]): string[] {
  const later = new Set(differences(after, user))
  return differences(before, after).filter((name) => !later.has(name))
}

// A user token contains the id of the row. The update then applies to the external or anonymous id of that user, or of the one it was merged
// into. Without any id, the profile would create a user that nothing names.
function boundTo(user: UserRecord | undefined, profile: Profile): Profile | null {
  if (!user) return null
  const { external_id, anonymous_id } = lastMergedInto(user)
  if (external_id !== null) return { ...profile, external_id }
  return anonymous_id === null ? null : { ...profile, anonymous_id }
}

type Loaded = {
  users: Users
  known: Map<UserId, UserRecord>
  /** A copy of each user as it was loaded. */
  before: Map<UserRecord, UserRecord>
}

async function load(ctx: InTx, updates: UserUpdate[]): Promise<Loaded> {
  const anonymousIds = idsOf(updates, 'anonymous_id')
  const aliases = anonymousIds.length > 0 ? await queries.lockAliases(ctx, anonymousIds) : []
  const bound = updates.flatMap(({ user_id }) => (user_id === undefined ? [] : [user_id]))
  const ids = [...aliases.map(({ user_id }) => user_id), ...bound]
  // The other anonymous ids of a user matter only when one of them moves.
  const rows = await queries.lockUsers(ctx, idsOf(updates, 'external_id'), ids, anonymousIds.length > 0)
  const users = noUsers()
  const known = new Map(rows.map((row): [UserId, UserRecord] => [row.id, recordOf(row)]))
  await addMerged(ctx, known, bound, anonymousIds.length > 0)
  for (const user of known.values()) if (user.external_id !== null) users.byExternalId.set(user.external_id, user)
  for (const { anonymous_id, user_id } of aliases) {
    const user = known.get(user_id)
    // The id is locked. If its user is not there, the user was erased, and the id is free.
    if (user) users.byAnonymousId.set(anonymous_id, user)
    users.stored.add(anonymous_id)
  }
  for (const id of bound) addAnonymousId(users, known.get(id))
  return { users, known, before: new Map([...known.values()].map((user) => [user, { ...user }])) }
}

/**
 * Adds those of these users who were merged: their ids stand for the users they were merged into, who are locked too. Few users are merged: most
 * of the time nothing is read here. Throws a conflict if one is merged or erased meanwhile.
 */
async function addMerged(ctx: InTx, known: Map<UserId, UserRecord>, ids: UserId[], withAliases: boolean): Promise<void> {
  const others = distinct(ids).filter((id) => !known.has(id))
  if (others.length === 0) return
  const merged = await queries.findMergedInto(ctx, ctx.projectId, others)
  const unlocked = distinct(merged.map(({ merged_into }) => merged_into)).filter((id) => !known.has(id))
  const rows = unlocked.length > 0 ? await queries.lockUsers(ctx, [], unlocked, withAliases) : []
  for (const row of rows) known.set(row.id, recordOf(row))
  for (const { id, merged_into } of merged) {
    const user = known.get(merged_into)
    if (!user) throw new Conflict('Another transaction merged or erased one of the users.')
    known.set(id, user)
  }
}

// Its members are in the order of those of a new user: what reads users is quicker when all have one shape.
const recordOf = (row: queries.LockedUser): UserRecord => ({
  id: row.id,
  external_id: row.external_id,
  anonymous_id: row.anonymous_id,
  aliases: new Set(row.aliases ?? (row.anonymous_id === null ? [] : [row.anonymous_id])),
  email: row.email,
  phone: row.phone,
  timezone: row.timezone,
  locale: row.locale,
  data: row.data,
  has_push_device: row.has_push_device,
  created_at: row.created_at,
  updated_at: row.updated_at,
  mergedInto: null,
})

function addAnonymousId(users: Users, user: UserRecord | undefined) {
  if (!user?.anonymous_id) return
  users.byAnonymousId.set(user.anonymous_id, user)
  users.stored.add(user.anonymous_id)
}

const idsOf = (updates: UserUpdate[], name: 'external_id' | 'anonymous_id') => [
  ...new Set(updates.flatMap(({ profile }) => profile[name] ?? [])),
]

// None of them can contain U+001F, so that no search matches across two of them.
const searchText = ({ external_id, email, phone, anonymous_id }: UserRecord) =>
  [external_id, email, phone, anonymous_id].filter((part) => part !== null).join('\u001f')

async function save(ctx: InTx, users: Users, before: Map<UserRecord, UserRecord>): Promise<void> {
  const created = [...users.created]
  await create(
    ctx,
    created.filter(({ mergedInto }) => !mergedInto),
  )
  // Those that were merged at once refer to those that remain.
  await create(
    ctx,
    created.filter(({ mergedInto }) => mergedInto),
  )
  const changed = [...users.touched].filter((user) => before.has(user))
  if (changed.length > 0) {
    const rows = changed.map((user) => toRow(user, before.get(user)))
    // Another transaction may have created a user with the external id that an anonymous user gets here.
    await saving.updateUsers(ctx, rows).catch((error: unknown) => {
      throw isSqlState(error, UNIQUE_VIOLATION) ? new Conflict('Another transaction took an external id.') : error
    })
  }
  await saveAliases(ctx, users)
}

async function create(ctx: InTx, users: UserRecord[]): Promise<void> {
  if (users.length === 0) return
  const inserted = await saving.insertUsers(
    ctx,
    users.map((user) => toRow(user, undefined)),
  )
  if (inserted.length < users.length) throw new Conflict('Another transaction created one of the users.')
  for (const [at, user] of users.entries()) user.id = (inserted[at] as { id: UserId }).id
}

async function saveAliases(ctx: InTx, users: Users): Promise<void> {
  const links = linksOf(users, ctx.clock.now())
  const fresh = links.filter(({ anonymous_id }) => !users.stored.has(anonymous_id))
  const moved = links.filter(({ anonymous_id }) => users.stored.has(anonymous_id))
  if (fresh.length > 0 && (await queries.insertAliases(ctx, fresh)) < fresh.length)
    throw new Conflict('Another transaction linked an anonymous id.')
  if (moved.length > 0) await queries.repointAliases(ctx, moved)
}

/** The anonymous ids that were linked. Those of one user get times in the order in which they were linked, by which they are read again. */
function linksOf(users: Users, now: Date): { anonymous_id: string; user_id: UserId; linked_at: Date }[] {
  const before = new Map<UserRecord, number>()
  return [...users.linked].map((anonymous_id) => {
    const user = users.byAnonymousId.get(anonymous_id) as UserRecord
    const place = before.get(user) ?? 0
    before.set(user, place + 1)
    return { anonymous_id, user_id: user.id, linked_at: new Date(now.getTime() + place) }
  })
}

function toRow(user: UserRecord, before: UserRecord | undefined): saving.SavedUser {
  const { aliases: _, mergedInto, ...row } = user
  const text = searchText(user)
  return {
    ...row,
    merged_into: mergedInto ? lastMergedInto(mergedInto).id : null,
    search_text: mergedInto || (before && text === searchText(before)) ? null : text,
  }
}

const lastMergedInto = (user: UserRecord): UserRecord => (user.mergedInto ? lastMergedInto(user.mergedInto) : user)
