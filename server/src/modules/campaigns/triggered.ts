import type { CampaignId, SubscriptionId, UserId } from '../../lib/ids.ts'
import type { Channel } from '../../lib/shapes.ts'
import type { Fact } from '../events/index.ts'

/** A trigger campaign that is running. */
export type Trigger = { id: CampaignId; event_name: string; channel: Channel; subscription_id: SubscriptionId }

/** That a person is to get a campaign's message, and why; nobody gets one cause twice. */
export type TriggerIntent = {
  user_id: UserId
  campaign_id: CampaignId
  channel: Channel
  cause: string
  event: { name: string; data: Record<string, unknown>; created_at: string }
}

/** What follows from facts that may trigger: one intent for each event and each campaign that fires on it, in their order. */
export function triggered(facts: Fact[], triggers: Trigger[]): TriggerIntent[] {
  const byEvent = Map.groupBy(triggers, ({ event_name }) => event_name)
  return facts.flatMap(({ userId, event }) =>
    (byEvent.get(event.name) ?? []).map(({ id, channel }) => ({
      user_id: userId,
      campaign_id: id,
      channel,
      cause: `campaign:${id}:event:${event.key}`,
      event: { name: event.name, data: event.data, created_at: event.createdAt.toISOString() },
    })),
  )
}
