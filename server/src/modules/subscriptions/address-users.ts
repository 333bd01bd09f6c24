/** Opt-outs by address (D-SUB-4): they concern every user who has it. */
import { Conflict } from '../../infra/postgres/db.ts'
import type { InTx } from '../../infra/runtime/ctx.ts'
import { type Addressed, type Channel, hasAddresses } from '../../lib/channels.ts'
import type { SubscriptionId, UserId } from '../../lib/ids.ts'
import { findMergedInto, findUsers, type UserRow } from '../users/index.ts'
import type { Evidence } from './consents/schema.ts'
import * as queries from './queries.ts'
import { writeStates } from './states.ts'
import { normalised, normalisedOf } from './suppressions/addresses.ts'

/**
 * A locked user, and the other live users with the same address, by channel. They are locked too. Of the channel of a message, `others` are
 * those with the address that it went to, and `presentOthers` those with the present one of the user.
 */
export type AddressUsers = {
  user: UserRow
  others: ReadonlyMap<Channel, UserId[]>
  presentOthers: ReadonlyMap<Channel, UserId[]>
}

/** The address that a message went to. The user may have another one by now. */
export type KnownAddress = { channel: Channel; address: string }

/**
 * Locks a user, or the user it was merged into, and the users with the same addresses against being merged or erased until the transaction
 * ends. Undefined for an erased user. All are locked by one statement, in the order of their ids.
 */
export async function lockAddressUsers(
  ctx: InTx,
  id: UserId,
  channels: ReadonlySet<Channel>,
  known?: KnownAddress,
): Promise<AddressUsers | undefined> {
  const [mergedInto] = await findMergedInto(ctx, ctx.projectId, [id])
  const [user] = mergedInto ? await findUsers(ctx, [mergedInto.merged_into]) : []
  if (!user) return undefined
  const [found, present] = [new Map<Channel, UserId[]>(), new Map<Channel, UserId[]>()]
  const idsWith = async (channel: Addressed, form: string) => (await queries.usersWithAddress(ctx, channel, form)).map(({ id }) => id)
  for (const channel of channels) {
    if (!hasAddresses(channel)) continue
    const own = normalisedOf(ctx, channel, user)
    const form = known?.channel === channel ? normalised(channel, known.address, ctx.project) : own
    if (form !== null) found.set(channel, await idsWith(channel, form))
    if (own !== null) present.set(channel, own === form ? (found.get(channel) ?? []) : await idsWith(channel, own))
  }
  const held = await queries.lockUsers(ctx, [...new Set([user.id, ...[...found.values(), ...present.values()].flat()])])
  const live = new Set(held.filter(({ is_there }) => is_there).map(({ id }) => id))
  if (!live.has(user.id)) throw new Conflict('The user has since been merged or erased.')
  const othersIn = (ids: typeof found) =>
    new Map([...ids].map(([channel, those]) => [channel, those.filter((other) => other !== user.id && live.has(other))]))
  return { user, others: othersIn(found), presentOthers: othersIn(present) }
}

/** A subscription type to unsubscribe from. */
export type LeftType = { id: SubscriptionId; channel: Channel }

/** Unsubscribes the users of an address from these types. Each gets consent entries; those of the others name the user of the request. */
export async function leaveTypes(ctx: InTx, { user, others }: AddressUsers, types: LeftType[], evidence: Evidence): Promise<void> {
  const leaving = (user_id: UserId, subscription_id: SubscriptionId) => ({ user_id, subscription_id, state: 0 as const })
  await writeStates(
    ctx,
    types.map(({ id }) => leaving(user.id, id)),
    evidence,
  )
  await writeStates(
    ctx,
    types.flatMap(({ id, channel }) => (others.get(channel) ?? []).map((other) => leaving(other, id))),
    { ...evidence, proof: { ...evidence.proof, same_address_as: user.id } },
  )
}
