/** Opting in on a page after an opt-out from everything. */
import type { InTx } from '../../../infra/runtime/ctx.ts'
import { type Addressed, hasAddresses } from '../../../lib/channels.ts'
import type { MessageId } from '../../../lib/ids.ts'
import type { AddressUsers, KnownAddress } from '../address-users.ts'
import type { Evidence } from '../consents/schema.ts'
import * as queries from '../queries.ts'
import type { TypeWithState } from '../schema.ts'
import { writeStates } from '../states.ts'
import { normalised } from '../suppressions/addresses.ts'
import { liftUnsubscribed, lockSuppressed, type OptOut, optOutsFromAll } from '../suppressions/opt-outs.ts'
import { type Address, addressesOf } from '../suppressions/service.ts'
import type { FindRecipient } from './page-user.ts'

/** The types that the user of a page opts in to, and the address that the page stands for: that which its message went to, if known. */
export type OptIn = {
  types: readonly Pick<TypeWithState, 'id' | 'channel'>[]
  known: KnownAddress | undefined
  findRecipient?: FindRecipient
}

/**
 * Lifts suppressions that came from unsubscribing from everything, for the addresses of a user who opted in to types. The page stands for
 * one address: it lifts the opt-out of that, and of another one only if that came from a page of a message to the same address. The opt-out
 * stays for all other types of these channels, and for every other user of the address.
 */
export async function liftOptOuts(ctx: InTx, users: AddressUsers, optIn: OptIn, evidence: Evidence): Promise<void> {
  const addresses = addressesOf(users.user).filter(({ channel }) => optIn.types.some((type) => type.channel === channel))
  const found = await liftableAmong(ctx, addresses, optIn)
  if (found.length === 0) return
  const channels = found.map(({ channel }) => channel)
  await leaveOthers(ctx, users, { channels, types: optIn.types }, evidence)
  // STOP may have come since they were read.
  await lockSuppressed(ctx, found)
  await liftUnsubscribed(ctx, await liftableAmong(ctx, found, optIn))
}

/** Those of the addresses of a user whose opt-out from everything the page lifts. */
async function liftableAmong(ctx: InTx, addresses: Address[], { known, findRecipient }: OptIn): Promise<Address[]> {
  const liftable: Address[] = []
  for (const optOut of await optOutsFromAll(ctx, addresses)) {
    const own = addresses.filter(({ channel }) => channel === optOut.channel)
    const sentTo = optOut.channel === known?.channel ? own.map(({ address }) => address) : []
    const stoodFor = [...sentTo, ...(await pageRecipientsOf(ctx, optOut, findRecipient))]
    if (stoodFor.some((address) => isKnown(ctx, known, address))) liftable.push(...own)
  }
  return liftable
}

/** The address of the message on whose page the owner of an address unsubscribed from everything. Empty if that came otherwise. */
async function pageRecipientsOf(ctx: InTx, { origin }: OptOut, findRecipient?: FindRecipient): Promise<string[]> {
  if (!findRecipient || origin.by !== 'preference_page' || typeof origin.message_id !== 'number') return []
  const recipient = await findRecipient(ctx, origin.message_id as MessageId)
  return recipient === null ? [] : [recipient]
}

const isKnown = ({ project }: InTx, known: KnownAddress | undefined, address: string): boolean =>
  known !== undefined &&
  hasAddresses(known.channel) &&
  normalised(known.channel, address, project) === normalised(known.channel, known.address, project)

/**
 * Writes the opt-out as states, which a suppression made over the API did not; also for types that users get only once they opt in, because an
 * import subscribes those who have no state.
 */
async function leaveOthers(
  ctx: InTx,
  { user, presentOthers }: AddressUsers,
  { channels, types }: { channels: Addressed[] } & Pick<OptIn, 'types'>,
  evidence: Evidence,
): Promise<void> {
  const members = channels.flatMap((channel) => [user.id, ...(presentOthers.get(channel) ?? [])].map((user_id) => ({ user_id, channel })))
  const left = (await queries.typesNotLeft(ctx, members)).map((pair) => ({ ...pair, state: 0 as const }))
  const unchosen = unchosenBy(evidence)
  await writeStates(
    ctx,
    left.filter(({ user_id, subscription_id }) => user_id === user.id && !types.some(({ id }) => id === subscription_id)),
    unchosen,
  )
  await writeStates(
    ctx,
    left.filter(({ user_id }) => user_id !== user.id),
    { ...unchosen, proof: { ...unchosen.proof, same_address_as: user.id } },
  )
}

/**
 * The evidence for types that a user had given up with everything and did not choose now. It is no opt-out by the message, which must not count
 * it, and none from everything, which START would reverse. Its `request_id` is that of the choice.
 */
export function unchosenBy({ proof = {}, ...evidence }: Evidence): Evidence {
  const { message_id: _, ...request } = proof
  return { ...evidence, proof: { ...request, not_chosen: true } }
}
