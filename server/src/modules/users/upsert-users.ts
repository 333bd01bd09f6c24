/** Saves a batch of profiles in one transaction with a handful of statements, whatever its size. */

import { Conflict, isSqlState, UNIQUE_VIOLATION } from '../../infra/postgres/db.ts'
import { type InTx, inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { Fault } from '../../lib/errors.ts'
import type { UserId } from '../../lib/ids.ts'
import { phoneOf } from './batch.ts'
import { differences, type UserChange, type WhenChanged } from './changes.ts'
import { applyProfile, noUsers, type Profile, type UserRecord, type Users } from './identity.ts'
import * as queries from './queries.ts'

/** A profile and when it arrived; `user_id` stands for the ids when a user token said who it is. */
export type UserUpdate = { profile: Profile; at: Date; user_id?: UserId }

export type UpsertOutcome = { user: UserRecord } | { faults: Fault[] }

/** Applies the arrivals in order and saves the outcome, all or nothing. Each answer is the person right after its item. */
export const upsertUsers = (ctx: ProjectCtx, arrivals: UserUpdate[], whenChanged: WhenChanged): Promise<UpsertOutcome[]> =>
  inTx(ctx, (ctx) => upsertInside(ctx, arrivals, whenChanged))

async function upsertInside(ctx: InTx, arrivals: UserUpdate[], whenChanged: WhenChanged): Promise<UpsertOutcome[]> {
  const { people: users, known, before } = await load(ctx, arrivals)
  const normalise = phoneOf(ctx.project)
  const outcomes = arrivals.map(({ profile, at, user_id }): UpsertOutcome => {
    const bound = user_id === undefined ? undefined : known.get(user_id)
    const outcome = applyProfile(users, bound ? boundTo(bound, profile) : profile, at, normalise)
    return 'fault' in outcome ? { faults: [outcome.fault] } : { user: { ...outcome.user } }
  })
  await save(ctx, users, before)
  const merges = users.merges.map(({ from, into }) => ({ from_id: from.id, into_id: lastMergedInto(into).id }))
  if (merges.length > 0) await queries.moveUserRows(ctx, merges)
  const changes = changesOf(users, before)
  if (merges.length + changes.length > 0) await whenChanged(ctx, { changes, merges })
  if ([...users.linked].some((anonymousId) => users.stored.has(anonymousId))) await queries.endIdentityEpoch(ctx)
  return outcomes.map((outcome) => ('user' in outcome ? { user: withId(outcome.user, users) } : outcome))
}

function changesOf(users: Users, before: Map<UserRecord, UserRecord>): UserChange[] {
  const created = [...users.created].filter(({ mergedInto }) => !mergedInto)
  const changed = [...users.touched].flatMap((user): UserChange[] => {
    const former = before.get(user)
    if (!former || user.mergedInto) return []
    const what = differences(former, user)
    return what.length > 0 ? [{ user_id: user.id, what, user }] : []
  })
  return [...created.map((user): UserChange => ({ user_id: user.id, what: [], is_new: true, user })), ...changed]
}

// A token names a person by number; the item then speaks of that person by whichever id it has.
function boundTo(user: UserRecord, profile: Profile): Profile {
  const { external_id, anonymous_id } = user
  if (external_id !== null) return { ...profile, external_id }
  return anonymous_id === null ? profile : { ...profile, anonymous_id }
}

type Loaded = {
  people: Users
  known: Map<UserId, UserRecord>
  /** Each of them as they were. */
  before: Map<UserRecord, UserRecord>
}

async function load(ctx: InTx, arrivals: UserUpdate[]): Promise<Loaded> {
  const anonymousIds = idsOf(arrivals, 'anonymous_id')
  const aliases = anonymousIds.length > 0 ? await queries.lockAliases(ctx, anonymousIds) : []
  const bound = arrivals.flatMap(({ user_id }) => (user_id === undefined ? [] : [user_id]))
  const ids = [...aliases.map(({ user_id }) => user_id), ...bound]
  // Which other anonymous ids somebody has matters only when one of them moves.
  const rows = await queries.lockUsers(ctx, idsOf(arrivals, 'external_id'), ids, anonymousIds.length > 0)
  const users = noUsers()
  const known = new Map(
    rows.map(({ aliases, ...row }): [UserId, UserRecord] => [row.id, { ...row, aliases: aliases ?? [], mergedInto: null }]),
  )
  for (const user of known.values()) if (user.external_id !== null) users.byExternalId.set(user.external_id, user)
  for (const { anonymous_id, user_id } of aliases) {
    const user = known.get(user_id)
    // We hold the id: if its person is not there, the person is gone, and the id is anybody's.
    if (user) users.byAnonymousId.set(anonymous_id, user)
    users.stored.add(anonymous_id)
  }
  for (const id of bound) holdAnonymous(users, known.get(id))
  return { people: users, known, before: new Map([...known.values()].map((user) => [user, { ...user }])) }
}

function holdAnonymous(users: Users, user: UserRecord | undefined) {
  if (!user?.anonymous_id) return
  users.byAnonymousId.set(user.anonymous_id, user)
  users.stored.add(user.anonymous_id)
}

const idsOf = (arrivals: UserUpdate[], name: 'external_id' | 'anonymous_id') => [
  ...new Set(arrivals.flatMap(({ profile }) => profile[name] ?? [])),
]

// U+001F cannot stand in any of them, so that no search matches across two.
const searchText = ({ external_id, email, phone, anonymous_id }: UserRecord) =>
  [external_id, email, phone, anonymous_id].filter((part) => part !== null).join('\u001f')

async function save(ctx: InTx, users: Users, before: Map<UserRecord, UserRecord>): Promise<void> {
  const created = [...users.created]
  if (created.length > 0) {
    const ids = await queries.reserveIds(ctx, created.length)
    for (const [index, user] of created.entries()) user.id = (ids[index] as { id: UserId }).id
    if (
      (await queries.insertUsers(
        ctx,
        created.map((user) => toRow(user, undefined)),
      )) < created.length
    )
      throw new Conflict('A person was created at the same time.')
  }
  const changed = [...users.touched].filter((user) => before.has(user))
  if (changed.length > 0) {
    const rows = changed.map((user) => toRow(user, before.get(user)))
    // A visitor who gets an external id may meet somebody who was created with it a moment ago.
    await queries.updateUsers(ctx, rows).catch((error: unknown) => {
      throw isSqlState(error, UNIQUE_VIOLATION) ? new Conflict('An external id was taken at the same time.') : error
    })
  }
  await saveAliases(ctx, users)
}

async function saveAliases(ctx: InTx, users: Users): Promise<void> {
  const links = [...users.linked].map((anonymous_id) => ({
    anonymous_id,
    user_id: (users.byAnonymousId.get(anonymous_id) as UserRecord).id,
    linked_at: ctx.clock.now(),
  }))
  const fresh = links.filter(({ anonymous_id }) => !users.stored.has(anonymous_id))
  const moved = links.filter(({ anonymous_id }) => users.stored.has(anonymous_id))
  if (fresh.length > 0 && (await queries.insertAliases(ctx, fresh)) < fresh.length)
    throw new Conflict('An anonymous id was linked at the same time.')
  if (moved.length > 0) await queries.repointAliases(ctx, moved)
}

function toRow(user: UserRecord, before: UserRecord | undefined): queries.SavedUser {
  const { aliases: _, mergedInto, ...row } = user
  const text = searchText(user)
  return {
    ...row,
    merged_into: mergedInto ? lastMergedInto(mergedInto).id : null,
    search_text: mergedInto || (before && text === searchText(before)) ? null : text,
  }
}

const lastMergedInto = (user: UserRecord): UserRecord => (user.mergedInto ? lastMergedInto(user.mergedInto) : user)

// Snapshots of people that were new then still carry the provisional id.
function withId(snapshot: UserRecord, users: Users): UserRecord {
  if (snapshot.id > 0) return snapshot
  const user = [...users.created][-snapshot.id - 1] as UserRecord
  return { ...snapshot, id: user.id }
}
