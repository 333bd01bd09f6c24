/** Requests confirmations of subscriptions. */
import type { InTx } from '../../../infra/runtime/ctx.ts'
import { HOUR_MS } from '../../../lib/times.ts'
import type { QueuedUserChange } from '../../users/index.ts'
import { confirmUrl } from '../links.ts'
import type { SubscriptionPair } from '../schema.ts'
import { normalisedOf } from '../suppressions/addresses.ts'
import * as queries from './queries.ts'

/** A user who subscribes again with the same address within this time gets no second request. */
const REQUEST_AGAIN_AFTER_MS = HOUR_MS

// By the keys of the server: with others, a user may get one request more.
const hashOf = ({ secrets, projectId }: InTx, address: string) => secrets.sign(`${projectId} ${address}`, 'address of a confirmation')

const nameOf = ({ user_id, subscription_id }: SubscriptionPair) => `${user_id} ${subscription_id}`

/**
 * Requests a confirmation from the users who have not confirmed yet. The event has the link, for a trigger campaign to send. Returns the
 * user changes to queue.
 */
export async function requestConfirmations(ctx: InTx, pairs: SubscriptionPair[]): Promise<QueuedUserChange[]> {
  const unconfirmed = pairs.length > 0 ? await queries.unconfirmedAmong(ctx, pairs) : []
  if (unconfirmed.length === 0) return []
  const addresses = new Map(unconfirmed.map(({ channel, ...pair }) => [nameOf(pair), normalisedOf(ctx, channel, pair)]))
  const asked = unconfirmed.map(({ user_id, subscription_id }): queries.ConfirmationRequest => {
    const address = addresses.get(nameOf({ user_id, subscription_id })) ?? null
    return { user_id, subscription_id, address_hash: address === null ? null : hashOf(ctx, address) }
  })
  const now = ctx.clock.now()
  const requests = await queries.insertConfirmations(ctx, asked, new Date(now.getTime() - REQUEST_AGAIN_AFTER_MS))
  return requests.map(({ id, ...pair }) => ({
    user_id: pair.user_id,
    what: [],
    event: {
      name: 'subscription_confirmation_requested',
      data: {
        subscription_id: pair.subscription_id,
        confirm_url: confirmUrl(ctx, ctx.projectId, id, addresses.get(nameOf(pair)) ?? null),
      },
      created_at: now.toISOString(),
    },
  }))
}
