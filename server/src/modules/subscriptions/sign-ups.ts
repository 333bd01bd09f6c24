/** Users who sign up with an address that was suppressed for a user who is gone. */
import type { InTx } from '../../infra/runtime/ctx.ts'
import type { UserChange } from '../users/index.ts'
import { insertSignUps } from './consents/queries.ts'
import { addressesOf, liftForSignUps, type SignUp } from './suppressions/service.ts'

/** The addresses that users were created with, or got. */
const signUpsIn = (changes: UserChange[]): SignUp[] =>
  changes.flatMap(({ user_id, user, former, is_new }) => {
    if (!user) return []
    const before = is_new ? [] : addressesOf(former ?? user)
    return addressesOf(user)
      .filter(({ channel, address }) => !before.some((one) => one.channel === channel && one.address === address))
      .map((address) => ({ user_id, ...address }))
  })

/** Lifts the suppressions of erased users whose addresses sign up again, with an entry in the consent log of the new user. */
export async function recordSignUps(ctx: InTx, changes: UserChange[]): Promise<void> {
  const lifted = await liftForSignUps(ctx, signUpsIn(changes))
  if (lifted.length === 0) return
  await insertSignUps(
    ctx,
    lifted.map(({ user_id, channel }) => ({ user_id, channel })),
  )
}
