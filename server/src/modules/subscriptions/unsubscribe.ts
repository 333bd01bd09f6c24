import { inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { SubscriptionId, UserId } from '../../lib/ids.ts'
import { leaveTypes, lockAddressUsers } from './address-users.ts'
import type { Evidence } from './consents/schema.ts'
import { findSubscription } from './queries.ts'

/** An opt-out with its evidence. `address` is where the message went; by default it is the present address of the user. */
export type Unsubscription = { userId: UserId; subscriptionId: SubscriptionId; address?: string | undefined } & Evidence

/** What happened to an opt-out. Nothing changes for a transactional type, and for an erased user. */
export type Unsubscribed = 'unsubscribed' | 'transactional' | 'no_user'

/**
 * Unsubscribes a user, or the user it was merged into, and every other user with the address from one type. Only a complaint is recorded for
 * a transactional type: it also suppresses the address (D-SUB-5).
 */
export const unsubscribeBy = (ctx: ProjectCtx, { userId, subscriptionId, address, ...evidence }: Unsubscription): Promise<Unsubscribed> =>
  inTx(ctx, async (ctx) => {
    const type = await findSubscription(ctx, subscriptionId)
    if (!type) return 'no_user'
    const { id, channel, is_transactional } = type
    if (is_transactional && evidence.source !== 'complaint') return 'transactional'
    const users = await lockAddressUsers(ctx, userId, new Set([channel]), address === undefined ? undefined : { channel, address })
    if (!users) return 'no_user'
    await leaveTypes(ctx, users, [{ id, channel }], evidence)
    return 'unsubscribed'
  })
