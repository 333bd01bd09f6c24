/** Requests confirmations of subscriptions. */
import type { InTx } from '../../../infra/runtime/ctx.ts'
import { HOUR_MS } from '../../../lib/times.ts'
import type { QueuedUserChange } from '../../users/index.ts'
import { confirmUrl } from '../links.ts'
import type { SubscriptionPair } from '../schema.ts'
import { normalisedOf } from '../suppressions/addresses.ts'
import * as queries from './queries.ts'

/** A user who subscribes again within this time gets no second request. */
const REQUEST_AGAIN_AFTER_MS = HOUR_MS

/**
 * Requests a confirmation from the users who have not confirmed yet. The event has the link, for a trigger campaign to send. Returns the
 * user changes to queue.
 */
export async function requestConfirmations(ctx: InTx, pairs: SubscriptionPair[]): Promise<QueuedUserChange[]> {
  if (pairs.length === 0) return []
  const now = ctx.clock.now()
  const requests = await queries.insertConfirmations(ctx, pairs, new Date(now.getTime() - REQUEST_AGAIN_AFTER_MS))
  return requests.map(({ id, user_id, subscription_id, channel, ...user }) => ({
    user_id,
    what: [],
    event: {
      name: 'subscription_confirmation_requested',
      data: { subscription_id, confirm_url: confirmUrl(ctx, ctx.projectId, id, normalisedOf(ctx, channel, user)) },
      created_at: now.toISOString(),
    },
  }))
}
