/**
 * Requests that were accepted before a user was erased, and are applied after it, do not create the user again (D-UREAD-4): their items are
 * dropped. For that, keyed hashes of the ids of erased users are kept until the queue has passed the erasure.
 */
import { Conflict } from '../../infra/postgres/db.ts'
import { newestPosition, oldestPosition } from '../../infra/queue/erasing.ts'
import type { Ctx, InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import { distinct } from '../../lib/shapes.ts'
import { HOUR_MS } from '../../lib/times.ts'
import * as queries from './erased-ids.queries.ts'
import type { UserUpdate } from './identity.ts'
import { identityEpoch } from './queries.ts'

const PURPOSE = 'erased id'

const hashOf = ({ secrets }: Pick<ProjectCtx, 'secrets'>, kind: string, name: string) => secrets.sign(`${kind}${name}`, PURPOSE)

/** Remembers the ids of a user who is being erased. Returns its anonymous ids, and the position up to which nothing creates it again. */
export async function rememberErased(ctx: InTx, id: UserId): Promise<{ position: number; anonymousIds: string[] }> {
  const names = await queries.namesOfUser(ctx, id)
  const position = await newestPosition(ctx)
  await queries.insertErasedIds(
    ctx,
    names.map(({ kind, name }) => hashOf(ctx, kind, name)),
    position,
  )
  return { position, anonymousIds: anonymousAmong(names) }
}

/** The anonymous ids of a user and of those merged into it. */
export const anonymousIdsOf = async (ctx: InTx, id: UserId): Promise<string[]> => anonymousAmong(await queries.namesOfUser(ctx, id))

const anonymousAmong = (names: { kind: string; name: string }[]) => names.flatMap(({ kind, name }) => (kind === 'a' ? [name] : []))

/** Whether the user of an item was erased after the item was accepted. */
export type ErasedIds = {
  /** The newest position of an erasure when this was read. */
  upTo: number
  has(kind: 'e' | 'a' | 'u', name: string | number, position: number): boolean
}

/** Reads which users of these updates were erased after they were accepted. `upTo` is the newest position of an erasure. */
export async function erasedIdsOf(ctx: InTx, updates: UserUpdate[], upTo: number): Promise<ErasedIds> {
  const old = updates.filter(({ position }) => position !== undefined && position <= upTo)
  const hashes = distinct(old.flatMap((update) => namesIn(update).map(([kind, name]) => hashOf(ctx, kind, name))))
  const rows = hashes.length === 0 ? [] : await queries.findErasedIds(ctx, hashes)
  const erased = new Map(rows.map(({ id_hash, position }) => [id_hash, position]))
  return {
    upTo,
    has: (kind, name, position) => erased.size > 0 && position <= (erased.get(hashOf(ctx, kind, String(name))) ?? -1),
  }
}

/** Reads which users of these updates were erased after they were accepted, up to the latest erasure. */
export const erasedSince = async (ctx: InTx, updates: UserUpdate[]): Promise<ErasedIds> =>
  erasedIdsOf(ctx, updates, (await identityEpoch(ctx)).erased_position)

/** Those of these email addresses, in lower case, and phone numbers that were of erased users, with the positions of the erasures. */
export async function erasedAddresses(ctx: InTx, addresses: string[]): Promise<Map<string, number>> {
  const byHash = new Map(addresses.map((address) => [hashOf(ctx, 'c', address), address]))
  const rows = byHash.size === 0 ? [] : await queries.findErasedIds(ctx, [...byHash.keys()])
  return new Map(
    rows.flatMap(({ id_hash, position }) => {
      const address = byHash.get(id_hash)
      return address === undefined ? [] : [[address, position] as const]
    }),
  )
}

function namesIn({ profile: { external_id, anonymous_id }, user_id }: UserUpdate): [kind: string, name: string][] {
  const names: [string, string | undefined][] = [
    ['e', external_id],
    ['a', anonymous_id],
    ['u', user_id?.toString()],
  ]
  return names.flatMap(([kind, name]) => (name === undefined ? [] : [[kind, name] as [string, string]]))
}

/** The update without an anonymous id that was erased after it was accepted; null if its user was. */
export function withoutErased(update: UserUpdate, erased: ErasedIds): UserUpdate | null {
  const { profile, position, user_id } = update
  if (position === undefined || position > erased.upTo) return update
  const { external_id, anonymous_id, ...rest } = profile
  if (user_id !== undefined && erased.has('u', user_id, position)) return null
  if (external_id !== undefined && erased.has('e', external_id, position)) return null
  if (anonymous_id === undefined || !erased.has('a', anonymous_id, position)) return update
  return external_id === undefined ? null : { ...update, profile: { ...rest, external_id } }
}

/** Throws a conflict if a user was erased since these ids were read: one that was just created may be that user. */
export async function requireSameErasures(ctx: InTx, { upTo }: ErasedIds): Promise<void> {
  if ((await identityEpoch(ctx)).erased_position !== upTo) throw new Conflict('A user was erased while a batch was applied.')
}

/** Another process may be about to append what it accepted before an erasure. */
const KEPT_MS = HOUR_MS

/**
 * Forgets ids when everything that was accepted before their erasure has been applied. `oldestElsewhere` is the oldest position of what is not
 * in the queue.
 */
export async function forgetErasedIds(ctx: Ctx, oldestElsewhere: number | null): Promise<number> {
  const oldest = [await oldestPosition(ctx), oldestElsewhere].filter((position) => position !== null)
  return queries.purgeErasedIds(ctx, new Date(ctx.clock.now().getTime() - KEPT_MS), oldest.length === 0 ? null : Math.min(...oldest))
}
