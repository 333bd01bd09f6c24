/** Finds the users of a batch of updates. Most events change no user and need no lock; the other updates are upserted. */
import { LRUCache } from 'lru-cache'
import { ahead } from '../../infra/postgres/ahead.ts'
import type { InTx } from '../../infra/runtime/ctx.ts'
import type { AddressKind } from '../../lib/channels.ts'
import type { Fault } from '../../lib/errors.ts'
import type { UserId } from '../../lib/ids.ts'
import type { UserChanges } from './changes.ts'
import { type ErasedIds, erasedIdsOf } from './erased-ids.ts'
import type { Profile, UserUpdate } from './identity.ts'
import * as queries from './queries.ts'
import type { MergedInto } from './queued-changes.ts'
import { REPEATED, USER_DELETED, upsertUsers } from './upsert-users.ts'

/** The user of an update; why the update is invalid; that its user was erased or removed before it was applied; or that it is a repeat. */
export type IdentifiedUser = { userId: UserId } | { faults: Fault[] } | { isDeleted: true } | { isRepeat: true }

/** Finds the user of each update, in order. Creates, links, merges and changes users where the updates require it. */
export async function identifyUsers(
  ctx: InTx,
  updates: UserUpdate[],
  known: KnownIds,
): Promise<{ users: IdentifiedUser[]; changes: UserChanges }> {
  const resolved = resolvedUpdates(updates, known)
  const others = updates.filter((update) => !resolved.has(update))
  const { outcomes, changes } = await upsertUsers(ctx, others)
  const upserted = outcomes.values()
  const users = updates.map((update): IdentifiedUser => {
    const userId = resolved.get(update)
    if (userId !== undefined) return { userId }
    const outcome = upserted.next().value
    if (!outcome) throw new Error('Every update that was not resolved has an outcome.')
    if (outcome === USER_DELETED) return { isDeleted: true }
    if (outcome === REPEATED) return { isRepeat: true }
    return 'user' in outcome ? { userId: outcome.user.id } : outcome
  })
  return { users, changes }
}

/** The position of the last update from the queue that gave a user an address: of each kind, by users who were not merged into others. */
export function addressPositions(
  updates: UserUpdate[],
  users: IdentifiedUser[],
  merges: queries.UserMerge[],
): Record<AddressKind, Map<UserId, number>> {
  const mergedInto = new Map(merges.map(({ from_id, into_id }) => [from_id, into_id]))
  const positions = { email: new Map<UserId, number>(), phone: new Map<UserId, number>() }
  for (const [index, { profile, position }] of updates.entries()) {
    const user = users[index]
    if (position === undefined || !user || !('userId' in user)) continue
    const id = mergedInto.get(user.userId) ?? user.userId
    if (typeof profile.email === 'string') positions.email.set(id, position)
    if (typeof profile.phone === 'string') positions.phone.set(id, position)
  }
  return positions
}

const epochs = ahead((ctx: InTx) => queries.identityEpoch(ctx))

/** Begins to read what the first `knownIds` of a transaction asks for. */
export const knownIdsAhead = (ctx: InTx): Promise<unknown> => epochs.begin(ctx)

/** The users that ids belong to. Unknown ids are not in it. */
export type KnownIds = IdMaps & { erased: ErasedIds }
type IdMaps = { byExternalId: Map<string, UserId>; byAnonymousId: Map<string, UserId> }

const CACHED_IDS = 200_000
const CACHED_CHARACTERS = 16_000_000

/** Users by project, identity epoch and id. An epoch ends when an id starts to belong to another user, or to none. */
const cache = new LRUCache<string, UserId>({
  max: CACHED_IDS,
  maxSize: CACHED_CHARACTERS,
  sizeCalculation: (_, key) => key.length,
})

/**
 * Finds the users that the ids of these updates belong to before any of them is applied. Results are cached only when `cacheable` says
 * that the transaction has written nothing which may be undone.
 */
export async function knownIds(ctx: InTx, updates: UserUpdate[], cacheable: boolean): Promise<KnownIds> {
  if (updates.length === 0) return { byExternalId: new Map(), byAnonymousId: new Map(), erased: await erasedIdsOf(ctx, [], 0) }
  // What was read ahead is outdated by what the transaction has written.
  const { epoch, erased_position } = await (cacheable ? epochs.read(ctx) : queries.identityEpoch(ctx))
  const scope = `${ctx.projectId} ${epoch}`
  const erased = await erasedIdsOf(ctx, updates, erased_position)
  const known: KnownIds = { byExternalId: new Map(), byAnonymousId: new Map(), erased }
  const readCache = (name: 'external_id' | 'anonymous_id', into: Map<string, UserId>) => {
    const unknown = new Set<string>()
    for (const { profile } of updates) {
      const id = profile[name]
      if (id === undefined || into.has(id) || unknown.has(id)) continue
      const userId = cache.get(`${scope} ${name} ${id}`)
      if (userId === undefined) unknown.add(id)
      else into.set(id, userId)
    }
    return [...unknown]
  }
  const unknown = { external: readCache('external_id', known.byExternalId), anonymous: readCache('anonymous_id', known.byAnonymousId) }
  if (unknown.external.length + unknown.anonymous.length === 0) return known
  for (const { id, external_id, anonymous_id } of await queries.resolveIds(ctx, unknown.external, unknown.anonymous)) {
    if (external_id !== null) known.byExternalId.set(external_id, id)
    if (anonymous_id !== null) known.byAnonymousId.set(anonymous_id, id)
    if (cacheable) cache.set(`${scope} ${external_id === null ? 'anonymous_id' : 'external_id'} ${external_id ?? anonymous_id}`, id)
  }
  return known
}

/**
 * The users of updates that change nothing and name a known user. An update that shares an id with one that has to be upserted is not
 * resolved here: which user the id belongs to depends on their order.
 */
export function resolvedUpdates(updates: UserUpdate[], known: IdMaps): Map<UserUpdate, UserId> {
  const resolved = new Map<UserUpdate, UserId>()
  const unresolved = new Set<string>()
  for (const update of updates) {
    const userId = userOf(update, known)
    if (userId === undefined) for (const key of keysOf(update)) unresolved.add(key)
    else resolved.set(update, userId)
  }
  let before: number
  do {
    before = resolved.size
    for (const update of [...resolved.keys()]) {
      const keys = keysOf(update)
      if (!keys.some((key) => unresolved.has(key))) continue
      resolved.delete(update)
      for (const key of keys) unresolved.add(key)
    }
  } while (resolved.size < before)
  return resolved
}

/** Updates that share one of these keys are about the same user, or may be after another update links their ids. */
const keysOf = ({ profile: { external_id, anonymous_id }, user_id }: UserUpdate) => [
  ...(external_id === undefined ? [] : [`e${external_id}`]),
  ...(anonymous_id === undefined ? [] : [`a${anonymous_id}`]),
  ...(user_id === undefined ? [] : [`u${user_id}`]),
]

/**
 * The keys by which updates are about the same user: their ids, and the users that the ids belong to, because two ids of a user share that
 * user. The id of a token may be that of a user who was merged since the update was accepted.
 */
export function keysOfUpdate(update: UserUpdate, known: KnownIds, mergedInto: MergedInto): string[] {
  const { external_id, anonymous_id } = update.profile
  const users = [
    external_id === undefined ? undefined : known.byExternalId.get(external_id),
    anonymous_id === undefined ? undefined : known.byAnonymousId.get(anonymous_id),
    update.user_id === undefined ? undefined : mergedInto.get(update.user_id),
  ]
  return [...keysOf(update), ...users.flatMap((id) => (id === undefined ? [] : [`u${id}`]))]
}

/** Whether an update is applied whoever its user is: only the names that it gives a user can be new. */
export const isAlwaysApplied = ({ profile, user_id }: UserUpdate): boolean => !changesSomething(profile) && user_id === undefined

function userOf(update: UserUpdate, { byExternalId, byAnonymousId }: IdMaps): UserId | undefined {
  if (!isAlwaysApplied(update) || update.once !== undefined) return undefined
  const { profile } = update
  const { external_id, anonymous_id } = profile
  const byExternal = external_id === undefined ? undefined : byExternalId.get(external_id)
  const byAnonymous = anonymous_id === undefined ? undefined : byAnonymousId.get(anonymous_id)
  if (external_id === undefined) return byAnonymous
  if (anonymous_id === undefined) return byExternal
  return byExternal === byAnonymous ? byExternal : undefined
}

const changesSomething = ({ external_id: _, anonymous_id: __, ...rest }: Profile) =>
  Object.values(rest).some((value) => value !== undefined)
