import { readPageRequest } from '../../infra/http/paging.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { CHANNELS } from '../../lib/channels.ts'
import { unreachable } from '../channels/index.ts'
import { isSubscribed, listUserSubscriptions, subscriptionStates, suppressionsOf, userSubscriptionListing } from '../subscriptions/index.ts'
import { requireUser } from '../users/index.ts'
import type { Reachability } from './schema.ts'

/** Which channels reach a user, and why others do not. Throws 404. */
export async function reachabilityOf(ctx: ProjectCtx, name: string): Promise<Reachability> {
  const user = await requireUser(ctx, name)
  const suppressions = await suppressionsOf(ctx, user)
  const { request } = readPageRequest(userSubscriptionListing, { limit: '100' })
  const types = (await listUserSubscriptions(ctx, { id: user.id, isThemself: false }, request)).results
  const consents = await subscriptionStates(
    ctx,
    types.map(({ subscription_id }) => ({ user_id: user.id, subscription_id })),
  )
  const received = new Set(consents.filter(isSubscribed).map(({ subscription_id }) => subscription_id))
  return {
    results: CHANNELS.map((channel) => {
      const ofChannel = types.filter((type) => type.channel === channel)
      const subscribed = ofChannel.filter(({ subscription_id }) => received.has(subscription_id)).length
      const suppression = suppressions.find((found) => found.channel === channel)
      const reason = unreachable(channel, user) ?? (suppression ? 'suppressed' : subscribed === 0 ? 'not_subscribed' : null)
      return {
        channel,
        is_reachable: reason === null,
        reason,
        detail: reason === 'suppressed' ? (suppression?.reason ?? null) : null,
        subscribed,
        subscriptions: ofChannel.length,
      }
    }),
  }
}
