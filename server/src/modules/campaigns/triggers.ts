import type { InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { CampaignId, SubscriptionId, UserId } from '../../lib/ids.ts'
import type { Channel } from '../../lib/shapes.ts'
import { HOUR_MS } from '../../lib/times.ts'
import type { StoredEvent } from '../events/index.ts'
import { loadFacts } from '../lists/index.ts'
import type { MessageIntent as IntentOfMessages, MessageOrigin } from '../messages/index.ts'
import { type CompiledRule, compileEventRule, type EventRule } from '../rules/index.ts'
import { findMergedInto } from '../users/index.ts'
import { findCampaigns } from './queries.ts'
import { runningTriggers } from './triggers.queries.ts'

/** A running trigger campaign. */
export type Trigger = {
  id: CampaignId
  event_name: string
  event_rule: EventRule | null
  channel: Channel
  subscription_id: SubscriptionId
  expires_after_hours: number
}

/** The decision that a user is to get a campaign. The same cause never makes a second message. */
export type MessageIntent = {
  user_id: UserId
  campaign_id: CampaignId
  channel: Channel
  cause: string
  event: { name: string; data: Record<string, unknown>; created_at: string }
  expires_at: Date
}

/** The intent to send a trigger campaign to a user. */
export const intentFor = (
  { id, channel, expires_after_hours }: Pick<Trigger, 'id' | 'channel' | 'expires_after_hours'>,
  user_id: UserId,
  cause: string,
  event: MessageIntent['event'],
  now: Date,
): MessageIntent => ({
  user_id,
  campaign_id: id,
  channel,
  cause: `campaign:${id}:${cause}`,
  event,
  expires_at: new Date(now.getTime() + expires_after_hours * HOUR_MS),
})

/** A message that a step of a journey asks for. */
export type JourneyMessage = Pick<IntentOfMessages, 'user_id' | 'campaign_id' | 'cause' | 'event'> & { journey: MessageOrigin }

/** The intents of messages that steps ask for; null for those of campaigns that are not running. */
export async function journeyIntents(ctx: InTx, asked: JourneyMessage[]): Promise<(IntentOfMessages | null)[]> {
  const ids = [...new Set(asked.map(({ campaign_id }) => campaign_id))]
  const campaigns = new Map((await findCampaigns(ctx, ids)).map((row) => [row.id, row]))
  const nowMs = ctx.clock.now().getTime()
  return asked.map((message) => {
    const campaign = campaigns.get(message.campaign_id)
    if (campaign?.type !== 'trigger' || campaign.state !== 'running') return null
    return { ...message, channel: campaign.channel, expires_at: new Date(nowMs + campaign.expires_after_hours * HOUR_MS) }
  })
}

/** An intent that depends on a rule about the user; null means that it does not. */
export type ConditionalIntent = { intent: MessageIntent; user: CompiledRule | null }

/** One intent for each event and each trigger campaign that it matches, in the order of the events. */
export function matchesOf(events: StoredEvent[], triggers: Trigger[], now: Date): ConditionalIntent[] {
  const compiled = triggers.map((trigger) => ({ trigger, rule: compileEventRule(trigger.event_rule ?? {}) }))
  const byEvent = Map.groupBy(compiled, ({ trigger }) => trigger.event_name)
  return events.flatMap(({ userId, event }) =>
    (byEvent.get(event.name) ?? [])
      .filter(({ rule }) => rule.passes(event.data, now.getTime()))
      .map(({ trigger, rule }) => {
        const sent = { name: event.name, data: event.data, created_at: event.createdAt.toISOString() }
        return { intent: intentFor(trigger, userId, `event:${event.key}`, sent, now), user: rule.user }
      }),
  )
}

/** The running trigger campaigns of some events. */
export type TriggersOf = { names: ReadonlySet<string>; triggers: Trigger[] }

/** Finds the running trigger campaigns of these events. */
export async function findTriggers(ctx: InTx, eventNames: Iterable<string>): Promise<TriggersOf> {
  const names = new Set(eventNames)
  return { names, triggers: names.size === 0 ? [] : await runningTriggers(ctx, [...names]) }
}

/** The intents that stored events cause through the running trigger campaigns. Those of the events in `known` are not looked up again. */
export async function matchTriggers(ctx: InTx, events: StoredEvent[], known?: TriggersOf): Promise<MessageIntent[]> {
  const triggering = events.filter(({ triggers }) => triggers)
  if (triggering.length === 0) return []
  const others = triggering.map(({ event }) => event.name).filter((name) => !known?.names.has(name))
  const triggers = [...(known?.triggers ?? []), ...(await findTriggers(ctx, others)).triggers]
  if (triggers.length === 0) return []
  const conditional = matchesOf(triggering, triggers, ctx.clock.now())
  const allowed = new Set<MessageIntent>()
  for (const [user, some] of Map.groupBy(conditional, ({ user }) => user)) {
    const intents = some.map(({ intent }) => intent)
    for (const intent of user === null ? intents : await intentsThatPass(ctx, user, intents)) allowed.add(intent)
  }
  return conditional.map(({ intent }) => intent).filter((intent) => allowed.has(intent))
}

/** The intents whose users pass a rule. For a merged user, the remaining user is checked. */
async function intentsThatPass(ctx: ProjectCtx, rule: CompiledRule, intents: MessageIntent[]): Promise<MessageIntent[]> {
  const ids = [...new Set(intents.map(({ user_id }) => user_id))]
  const mergedInto = new Map((await findMergedInto(ctx, ctx.projectId, ids)).map(({ id, merged_into }) => [id, merged_into]))
  const facts = await loadFacts(ctx, rule, 'events', [...new Set(mergedInto.values())])
  const nowMs = ctx.clock.now().getTime()
  const holds = ({ user_id, event }: MessageIntent) => {
    const known = facts.get(mergedInto.get(user_id) ?? user_id)
    // An event that is dated ahead counts from its instant, and so it counts for the campaign that it triggers (D-EVT-3).
    return known !== undefined && rule.holds(known, Math.max(nowMs, Date.parse(event.created_at)))
  }
  return intents.filter(holds)
}
