/** Users who sign up with an address that was suppressed for a user who is gone. */
import type { InTx } from '../../infra/runtime/ctx.ts'
import type { UserChange } from '../users/index.ts'
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

/** Lifts the suppressions of erased users whose addresses sign up again, with an entry in the consent log of the new user. */
export async function recordSignUps(ctx: InTx, changes: UserChange[]): Promise<void> {
  const possible = changes.filter(mayBeSignUp)
  if (possible.length === 0) return
  const lifted = await liftForSignUps(ctx, () => possible.flatMap((change) => signUpsOf(ctx, change)))
  if (lifted.length === 0) return
  await insertSignUps(
    ctx,
    lifted.map(({ user_id, channel }) => ({ user_id, channel })),
  )
}
