/** Whom do these arrivals mean? Most events change nothing about anybody and need no lock; the others go the whole way. */
import type { InTx } from '../../infra/ctx.ts'
import type { Fault } from '../../lib/errors.ts'
import type { UserId } from '../../lib/ids.ts'
import type { Profile } from './identity.ts'
import * as queries from './queries.ts'
import { type Arrival, upsertPeople, type WhenMerged } from './upsert-people.ts'

export type Identified = { userId: UserId } | { faults: Fault[] }

/** The person of each arrival, in order; people are created, linked, merged and changed as the arrivals say. */
export async function identify(ctx: InTx, arrivals: Arrival[], whenMerged: WhenMerged): Promise<Identified[]> {
  const known = await knownIds(ctx, arrivals)
  const settled = settledArrivals(arrivals, known)
  const moving = arrivals.filter((arrival) => !settled.has(arrival))
  const moved = (moving.length > 0 ? await upsertPeople(ctx, moving, whenMerged) : []).values()
  return arrivals.map((arrival): Identified => {
    const userId = settled.get(arrival)
    if (userId !== undefined) return { userId }
    const outcome = moved.next().value
    if (!outcome) throw new Error('Every arrival that was not settled has an outcome.')
    return 'person' in outcome ? { userId: outcome.person.id } : outcome
  })
}

type KnownIds = { byExternalId: Map<string, UserId>; byAnonymousId: Map<string, UserId> }

async function knownIds(ctx: InTx, arrivals: Arrival[]): Promise<KnownIds> {
  const given = (name: 'external_id' | 'anonymous_id') => [...new Set(arrivals.flatMap(({ profile }) => profile[name] ?? []))]
  const rows = await queries.resolveIds(ctx, given('external_id'), given('anonymous_id'))
  const known: KnownIds = { byExternalId: new Map(), byAnonymousId: new Map() }
  for (const { id, external_id, anonymous_id } of rows) {
    if (external_id !== null) known.byExternalId.set(external_id, id)
    if (anonymous_id !== null) known.byAnonymousId.set(anonymous_id, id)
  }
  return known
}

/**
 * Arrivals that only name somebody we know. One that shares an id with an arrival that moves something
 * is not settled: which person the id means depends on their order.
 */
export function settledArrivals(arrivals: Arrival[], known: KnownIds): Map<Arrival, UserId> {
  const settled = new Map<Arrival, UserId>()
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

const keysOf = ({ profile: { external_id, anonymous_id }, user_id }: Arrival) => [
  ...(external_id === undefined ? [] : [`e${external_id}`]),
  ...(anonymous_id === undefined ? [] : [`a${anonymous_id}`]),
  ...(user_id === undefined ? [] : [`u${user_id}`]),
]

function meant({ profile, user_id }: Arrival, { byExternalId, byAnonymousId }: KnownIds): UserId | undefined {
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
