/** Users who sign up with an address that was suppressed for a user who is gone. */
import type { InTx } from '../../infra/runtime/ctx.ts'
import { addressKindOf } from '../../lib/channels.ts'
import { distinct } from '../../lib/shapes.ts'
import {
  addressPositions,
  type ErasedIds,
  erasedAddresses,
  type IdentifiedUser,
  requireSameErasures,
  type UserChange,
  type UserChanges,
  type UserMerge,
  type UserUpdate,
} from '../users/index.ts'
import { insertSignUps } from './consents/queries.ts'
import { normalised } from './suppressions/addresses.ts'
import { type Address, addressesOf, liftForSignUps, type SignUp } from './suppressions/service.ts'

/**
 * The addresses that a user was created with, or got. Another notation is the same address. One that a merged user had before is not new,
 * however it is written now.
 */
function signUpsOf({ project }: InTx, { user_id, user, former, is_new, absorbed = [] }: UserChange): SignUp[] {
  if (!user) return []
  const formOf = ({ channel, address }: Address) => `${channel} ${normalised(channel, address, project)}`
  const before = new Set([...(is_new ? [] : [former ?? user]), ...absorbed].flatMap(addressesOf).map(formOf))
  return addressesOf(user).flatMap((one) => (before.has(formOf(one)) ? [] : [{ user_id, ...one }]))
}

const NO_ADDRESSES = { email: null, phone: null }

/** Most changes are about something else, and most projects have no suppressions, so that the addresses are not needed. */
function mayBeSignUp({ user, former, is_new }: UserChange): boolean {
  if (!user) return false
  const before = is_new ? NO_ADDRESSES : (former ?? user)
  return (user.email !== null && user.email !== before.email) || (user.phone !== null && user.phone !== before.phone)
}

/** The updates from the queue that changes come from, with their users, and the erasures that they were compared with. */
type Accepted = { updates: UserUpdate[]; users: IdentifiedUser[]; erased: ErasedIds }

/** The sign-ups without those that were accepted before a user with the address was erased. */
async function withoutErased(ctx: InTx, signUps: SignUp[], merges: UserMerge[], accepted: Accepted): Promise<SignUp[]> {
  const positions = addressPositions(accepted.updates, accepted.users, merges)
  const positionOf = ({ user_id, channel }: SignUp) => positions[addressKindOf(channel)].get(user_id) ?? Infinity
  const formOf = ({ channel, address }: Address) => normalised(channel, address, ctx.project)
  const old = signUps.filter((one) => positionOf(one) <= accepted.erased.upTo)
  const erasures = await erasedAddresses(ctx, distinct(old.map(formOf)))
  return signUps.filter((one) => positionOf(one) > (erasures.get(formOf(one)) ?? -1))
}

/**
 * Lifts the suppressions of erased users whose addresses sign up again, with an entry in the consent log of the new user. What a request
 * saves at once cannot be older than an erasure; `accepted` is given for what comes from the queue.
 */
export async function recordSignUps(ctx: InTx, { changes, merges }: UserChanges, accepted?: Accepted): Promise<void> {
  const possible = changes.filter(mayBeSignUp)
  if (possible.length === 0) return
  const signUpsIn = async () => {
    const signUps = possible.flatMap((change) => signUpsOf(ctx, change))
    return accepted ? withoutErased(ctx, signUps, merges, accepted) : signUps
  }
  const lifted = await liftForSignUps(ctx, signUpsIn)
  if (lifted.length === 0) return
  // An erasure that was committed meanwhile may be the one that suppressed the address.
  if (accepted) await requireSameErasures(ctx, accepted.erased)
  await insertSignUps(
    ctx,
    lifted.map(({ user_id, channel }) => ({ user_id, channel })),
  )
}
