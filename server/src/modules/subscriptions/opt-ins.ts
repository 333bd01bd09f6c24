/** Opting in on a page after an opt-out from everything. */
import type { InTx } from '../../infra/runtime/ctx.ts'
import type { Addressed } from '../../lib/channels.ts'
import type { SubscriptionId } from '../../lib/ids.ts'
import type { AddressUsers } from './address-users.ts'
import type { Evidence } from './consents/schema.ts'
import * as queries from './queries.ts'
import type { TypeWithState } from './schema.ts'
import { writeStates } from './states.ts'
import { addressesOf, channelsUnsubscribedFromAll, liftUnsubscribed } from './suppressions/service.ts'

/**
 * Lifts suppressions that came from unsubscribing from everything, for the addresses of a user who opted in to these types. The opt-out stays
 * for all other types of their channels, and for every other user of the address.
 */
export async function liftOptOuts(
  ctx: InTx,
  users: AddressUsers,
  optedIn: readonly Pick<TypeWithState, 'id' | 'channel'>[],
  evidence: Evidence,
): Promise<void> {
  const addresses = addressesOf(users.user).filter(({ channel }) => optedIn.some((type) => type.channel === channel))
  const unsubscribed = await channelsUnsubscribedFromAll(ctx, addresses)
  const lifted = addresses.filter(({ channel }) => unsubscribed.has(channel))
  if (lifted.length === 0) return
  await leaveOthers(
    ctx,
    users,
    lifted.map(({ channel }) => channel),
    optedIn.map(({ id }) => id),
    evidence,
  )
  // An opt-out that came since it was read is not lifted.
  await liftUnsubscribed(ctx, lifted)
}

/** Writes the opt-out as states, which a suppression made over the API did not. */
async function leaveOthers(
  ctx: InTx,
  { user, others }: AddressUsers,
  channels: Addressed[],
  optedIn: SubscriptionId[],
  evidence: Evidence,
): Promise<void> {
  const members = channels.flatMap((channel) => [user.id, ...(others.get(channel) ?? [])].map((user_id) => ({ user_id, channel })))
  const wanted = await queries.wantedTypes(ctx, members)
  const left = wanted.map((pair) => ({ ...pair, state: 0 as const }))
  const proof = { ...evidence.proof, everything: true }
  await writeStates(
    ctx,
    left.filter(({ user_id, subscription_id }) => user_id === user.id && !optedIn.includes(subscription_id)),
    { ...evidence, proof },
  )
  await writeStates(
    ctx,
    left.filter(({ user_id }) => user_id !== user.id),
    { ...evidence, proof: { ...proof, same_address_as: user.id } },
  )
}
