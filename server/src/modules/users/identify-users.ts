/** Whom do these arrivals mean? Most events change nothing about anybody and need no lock; the others go the whole way. */
import { LRUCache } from 'lru-cache'
import type { InTx } from '../../infra/runtime/ctx.ts'
import type { Fault } from '../../lib/errors.ts'
import type { UserId } from '../../lib/ids.ts'
import type { WhenChanged } from './changes.ts'
import type { Profile } from './identity.ts'
import * as queries from './queries.ts'
import { type UserUpdate, upsertUsers } from './upsert-users.ts'

export type Identified = { userId: UserId } | { faults: Fault[] }

/** The person of each arrival, in order; people are created, linked, merged and changed as the arrivals say. */
export async function identifyUsers(ctx: InTx, arrivals: UserUpdate[], known: KnownIds, whenChanged: WhenChanged): Promise<Identified[]> {
  const settled = resolvedUpdates(arrivals, known)
  const moving = arrivals.filter((arrival) => !settled.has(arrival))
  const moved = (moving.length > 0 ? await upsertUsers(ctx, moving, whenChanged) : []).values()
  return arrivals.map((arrival): Identified => {
    const userId = settled.get(arrival)
    if (userId !== undefined) return { userId }
    const outcome = moved.next().value
    if (!outcome) throw new Error('Every arrival that was not settled has an outcome.')
    return 'user' in outcome ? { userId: outcome.user.id } : outcome
  })
}

/** Whom ids mean, as far as anybody is known by them. */
export type KnownIds = { byExternalId: Map<string, UserId>; byAnonymousId: Map<string, UserId> }

const REMEMBERED_IDS = 200_000

/** Whom ids mean, under the project, its epoch and the id. An epoch ends when an id comes to mean somebody else, or nobody. */
const remembered = new LRUCache<string, UserId>({ max: REMEMBERED_IDS })

/**
 * Whom the ids of these arrivals mean before any of them is applied. What is found is remembered only when `remember` says that
 * the transaction has written nothing that may be undone.
 */
export async function knownIds(ctx: InTx, arrivals: UserUpdate[], remember: boolean): Promise<KnownIds> {
  const known: KnownIds = { byExternalId: new Map(), byAnonymousId: new Map() }
  if (arrivals.length === 0) return known
  const scope = `${ctx.projectId} ${(await queries.identityEpoch(ctx))?.epoch ?? 0}`
  const recall = (name: 'external_id' | 'anonymous_id', into: Map<string, UserId>) => {
    const unknown = new Set<string>()
    for (const { profile } of arrivals) {
      const id = profile[name]
      if (id === undefined || into.has(id) || unknown.has(id)) continue
      const userId = remembered.get(`${scope} ${name} ${id}`)
      if (userId === undefined) unknown.add(id)
      else into.set(id, userId)
    }
    return [...unknown]
  }
  const unknown = { external: recall('external_id', known.byExternalId), anonymous: recall('anonymous_id', known.byAnonymousId) }
  if (unknown.external.length + unknown.anonymous.length === 0) return known
  for (const { id, external_id, anonymous_id } of await queries.resolveIds(ctx, unknown.external, unknown.anonymous)) {
    if (external_id !== null) known.byExternalId.set(external_id, id)
    if (anonymous_id !== null) known.byAnonymousId.set(anonymous_id, id)
    if (remember) remembered.set(`${scope} ${external_id === null ? 'anonymous_id' : 'external_id'} ${external_id ?? anonymous_id}`, id)
  }
  return known
}

/**
 * Arrivals that only name somebody we know. One that shares an id with an arrival that moves something
 * is not settled: which person the id means depends on their order.
 */
export function resolvedUpdates(arrivals: UserUpdate[], known: KnownIds): Map<UserUpdate, UserId> {
  const settled = new Map<UserUpdate, UserId>()
  const unsettled = new Set<string>()
  for (const arrival of arrivals) {
    const userId = meant(arrival, known)
    if (userId === undefined) for (const key of keysOf(arrival)) unsettled.add(key)
    else settled.set(arrival, userId)
  }
  let before: number
  do {
    before = settled.size
    for (const arrival of [...settled.keys()]) {
      const keys = keysOf(arrival)
      if (!keys.some((key) => unsettled.has(key))) continue
      settled.delete(arrival)
      for (const key of keys) unsettled.add(key)
    }
  } while (settled.size < before)
  return settled
}

/** Arrivals that share one of these keys speak of the same person, or may come to. */
const keysOf = ({ profile: { external_id, anonymous_id }, user_id }: UserUpdate) => [
  ...(external_id === undefined ? [] : [`e${external_id}`]),
  ...(anonymous_id === undefined ? [] : [`a${anonymous_id}`]),
  ...(user_id === undefined ? [] : [`u${user_id}`]),
]

/** The same with the people behind the ids, so that two ids of one person are one key. */
export function identityKeysOf(arrival: UserUpdate, known: KnownIds): string[] {
  const { external_id, anonymous_id } = arrival.profile
  const users = [
    external_id === undefined ? undefined : known.byExternalId.get(external_id),
    anonymous_id === undefined ? undefined : known.byAnonymousId.get(anonymous_id),
  ]
  return [...keysOf(arrival), ...users.flatMap((id) => (id === undefined ? [] : [`u${id}`]))]
}

function meant({ profile, user_id }: UserUpdate, { byExternalId, byAnonymousId }: KnownIds): UserId | undefined {
  if (changesSomething(profile) || user_id !== undefined) return undefined
  const { external_id, anonymous_id } = profile
  const byExternal = external_id === undefined ? undefined : byExternalId.get(external_id)
  const byAnonymous = anonymous_id === undefined ? undefined : byAnonymousId.get(anonymous_id)
  if (external_id === undefined) return byAnonymous
  if (anonymous_id === undefined) return byExternal
  return byExternal === byAnonymous ? byExternal : undefined
}

const changesSomething = ({ external_id: _, anonymous_id: __, ...rest }: Profile) =>
  Object.values(rest).some((value) => value !== undefined)
