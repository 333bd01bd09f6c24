import type { InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { CampaignId, SubscriptionId, UserId } from '../../lib/ids.ts'
import type { Channel } from '../../lib/shapes.ts'
import type { Fact } from '../events/index.ts'
import { loadFacts } from '../lists/index.ts'
import { type CompiledRule, compileEventRule, type EventRule } from '../rules/index.ts'
import { findSurvivors } from '../users/index.ts'
import { runningTriggers } from './queries.ts'

/** A trigger campaign that is running. */
export type Trigger = {
  id: CampaignId
  event_name: string
  event_rule: EventRule | null
  channel: Channel
  subscription_id: SubscriptionId
  expires_after_hours: number
}

/** That a person is to get a campaign's message, and why; nobody gets one cause twice. */
export type TriggerIntent = {
  user_id: UserId
  campaign_id: CampaignId
  channel: Channel
  cause: string
  event: { name: string; data: Record<string, unknown>; created_at: string }
  expires_at: Date
}

const HOUR_MS = 3_600_000

/** What somebody gets because of an event. */
export const intentOf = (
  { id, channel, expires_after_hours }: Pick<Trigger, 'id' | 'channel' | 'expires_after_hours'>,
  user_id: UserId,
  cause: string,
  event: TriggerIntent['event'],
  now: Date,
): TriggerIntent => ({
  user_id,
  campaign_id: id,
  channel,
  cause: `campaign:${id}:${cause}`,
  event,
  expires_at: new Date(now.getTime() + expires_after_hours * HOUR_MS),
})

/** An intent that holds only for who is such and such; null: for everybody. */
export type Conditional = { intent: TriggerIntent; person: CompiledRule | null }

/** What follows from facts that may trigger: one intent for each event and each campaign that fires on it, in their order. */
export function triggered(facts: Fact[], triggers: Trigger[], now: Date): Conditional[] {
  const ready = triggers.map((trigger) => ({ trigger, rule: compileEventRule(trigger.event_rule ?? {}) }))
  const byEvent = Map.groupBy(ready, ({ trigger }) => trigger.event_name)
  return facts.flatMap(({ userId, event }) =>
    (byEvent.get(event.name) ?? [])
      .filter(({ rule }) => rule.passes(event.data, now.getTime()))
      .map(({ trigger, rule }) => {
        const about = { name: event.name, data: event.data, created_at: event.createdAt.toISOString() }
        return { intent: intentOf(trigger, userId, `event:${event.key}`, about, now), person: rule.person }
      }),
  )
}

/** What is owed to whom by the running triggers because of what happened. */
export async function intentsOf(ctx: InTx, facts: Fact[]): Promise<TriggerIntent[]> {
  const triggers = await runningTriggers(ctx, [...new Set(facts.map(({ event }) => event.name))])
  if (triggers.length === 0) return []
  const conditional = triggered(facts, triggers, ctx.clock.now())
  const allowed = new Set<TriggerIntent>()
  for (const [person, some] of Map.groupBy(conditional, ({ person }) => person)) {
    const intents = some.map(({ intent }) => intent)
    for (const intent of person === null ? intents : await amongThose(ctx, person, intents)) allowed.add(intent)
  }
  return conditional.map(({ intent }) => intent).filter((intent) => allowed.has(intent))
}

/** The intents for people of whom a rule holds; who was merged since is who they are now. */
async function amongThose(ctx: ProjectCtx, rule: CompiledRule, intents: TriggerIntent[]): Promise<TriggerIntent[]> {
  const ids = [...new Set(intents.map(({ user_id }) => user_id))]
  const survivors = new Map((await findSurvivors(ctx, ctx.projectId, ids)).map(({ id, survivor_id }) => [id, survivor_id]))
  const facts = await loadFacts(ctx, rule, 'events', [...new Set(survivors.values())])
  const nowMs = ctx.clock.now().getTime()
  const holds = (id: UserId) => {
    const known = facts.get(survivors.get(id) ?? id)
    return known !== undefined && rule.holds(known, nowMs)
  }
  return intents.filter(({ user_id }) => holds(user_id))
}
