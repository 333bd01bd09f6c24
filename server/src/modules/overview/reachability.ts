import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { CHANNELS } from '../../lib/channels.ts'
import { unreachable } from '../channels/index.ts'
import { isSubscribed, suppressionsOf, typesWithState } from '../subscriptions/index.ts'
import { requireUser } from '../users/index.ts'
import type { Reachability } from './schema.ts'

/** Which channels reach a user, and why others do not. Throws 404. */
export async function reachabilityOf(ctx: ProjectCtx, name: string): Promise<Reachability> {
  const user = await requireUser(ctx, name)
  const suppressions = await suppressionsOf(ctx, user)
  const types = await typesWithState(ctx, user.id)
  return {
    results: CHANNELS.map((channel) => {
      const ofChannel = types.filter((type) => type.channel === channel)
      const stopping = suppressions.filter((found) => found.channel === channel)
      const subscribed = ofChannel.filter(
        (type) => isSubscribed(type) && !stopping.some(({ stops_transactional }) => stops_transactional || !type.is_transactional),
      ).length
      const [suppression] = stopping
      const unsubscribed = ofChannel.some(({ state }) => state > 0) ? 'not_confirmed' : 'not_subscribed'
      const reason = unreachable(channel, user) ?? (subscribed > 0 ? null : suppression ? 'suppressed' : unsubscribed)
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
