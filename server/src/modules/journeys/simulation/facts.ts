/** Reads what a simulation needs to know, for many users at once. */
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, ListId, SubscriptionId, UserId } from '../../../lib/ids.ts'
import { type SimulatedCampaign, simulatedCampaigns } from '../../campaigns/index.ts'
import { type ListWithRule, listsOfUsers, listsThrough } from '../../lists/index.ts'
import { type Consent, subscriptionStates } from '../../subscriptions/index.ts'
import { devicesOf, type UserRow } from '../../users/index.ts'
import type { CompiledStep, Graph } from '../engine/graph.ts'
import type { KnownEvent, SimulatedUser } from './user.ts'

/** What a graph depends on. */
export type Needed = {
  lists: ListWithRule[]
  campaigns: Map<CampaignId, SimulatedCampaign>
  subscriptionIds: SubscriptionId[]
  /** Of events that rules count. */
  eventNames: string[]
}

const LIST = 'list:'

export async function neededBy(ctx: ProjectCtx, graph: Graph): Promise<Needed> {
  const steps = [...graph.steps.values()]
  const campaigns = await simulatedCampaigns(ctx, idsIn<CampaignId>(steps, 'action', 'campaign_id'))
  const exclusions = [...campaigns.values()].flatMap(({ campaign }) => campaign.exclusion_list_ids as ListId[])
  const lists = await listsThrough(ctx, listsNamed(graph, steps).union(new Set(exclusions)))
  const rules = [...steps.flatMap((step) => step.rules.map(({ rule }) => rule)), ...lists.flatMap(({ rule }) => rule ?? [])]
  const subscriptions = new Set<SubscriptionId>([
    ...rules.flatMap(({ references }) => references.subscriptions as SubscriptionId[]),
    ...idsIn<SubscriptionId>(steps, 'subscription', 'subscription_id'),
    ...[...campaigns.values()].map(({ campaign }) => campaign.subscription_id),
  ])
  const eventNames = new Set(rules.flatMap(({ trackers }) => trackers.flatMap(({ names }) => names)))
  return { lists, campaigns, subscriptionIds: [...subscriptions], eventNames: [...eventNames] }
}

function listsNamed({ watches, settings }: Graph, steps: CompiledStep[]): Set<ListId> {
  const watched = [...watches].filter((what) => what.startsWith(LIST)).map((what) => Number(what.slice(LIST.length)) as ListId)
  const inSteps = steps.flatMap((step) => [...step.lists, ...step.rules.flatMap(({ rule }) => rule.references.lists as ListId[])])
  return new Set([...watched, ...inSteps, ...idsIn<ListId>(steps, 'list', 'list_id'), ...(settings.exclusion_list_ids ?? [])])
}

const idsIn = <I extends number>(steps: CompiledStep[], type: string, member: string): I[] => [
  ...new Set(
    steps.flatMap(({ type: own, settings }) => (own === type && typeof settings[member] === 'number' ? [settings[member] as I] : [])),
  ),
]

/** No user has this id: it stands for one who is made up. */
export const MADE_UP = Number.MAX_SAFE_INTEGER as UserId

/** Users as they are now, with the events that `eventsOf` knows. */
export async function simulatedUsers(
  ctx: ProjectCtx,
  { lists, subscriptionIds }: Pick<Needed, 'lists' | 'subscriptionIds'>,
  rows: UserRow[],
  eventsOf: (id: UserId) => KnownEvent[],
): Promise<SimulatedUser[]> {
  const ids = rows.map(({ id }) => id)
  const pairs = ids.flatMap((user_id) => subscriptionIds.map((subscription_id) => ({ user_id, subscription_id })))
  const states: Consent[] = pairs.length > 0 ? await subscriptionStates(ctx, pairs) : []
  const devices = Map.groupBy(await devicesOf(ctx, ids), ({ user_id }) => user_id)
  const memberships = await listsOfUsers(
    ctx,
    lists.map(({ id }) => id),
    ids,
  )
  const byUser = Map.groupBy(states, ({ user_id }) => user_id)
  return rows.map((user) => ({
    user,
    devices: devices.get(user.id) ?? [],
    lists: memberships.get(user.id) ?? new Set(),
    subscriptions: new Map(
      (byUser.get(user.id) ?? []).map(({ subscription_id, state, consent_id }) => [
        subscription_id as number,
        { state, isDefault: consent_id === null },
      ]),
    ),
    events: eventsOf(user.id),
    journeys: new Map(),
  }))
}
