import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { type Fault, fault } from '../../lib/errors.ts'
import type { CampaignId, SubscriptionId } from '../../lib/ids.ts'
import type { Channel } from '../../lib/shapes.ts'
import { findProvider } from '../channels/index.ts'
import { findListIds } from '../lists/index.ts'
import { eventRuleFaults, referencesOf } from '../rules/index.ts'
import { findSubscription, knownSubscriptions } from '../subscriptions/index.ts'
import { findDomain } from '../tracking/index.ts'
import { findCampaigns } from './queries.ts'
import type { CampaignChanges, CampaignRow } from './schema.ts'

/** The channel of a subscription type. Throws 422 if the project has no such type. */
export async function channelOf(ctx: ProjectCtx, id: SubscriptionId): Promise<Channel> {
  const subscription = await findSubscription(ctx, id)
  if (!subscription)
    throw fault('validation_failed', 'subscription_id', 'The value of `subscription_id` is not a subscription type of this project.')
  return subscription.channel
}

const broken = (param: string, message: string): Fault => ({ code: 'validation_failed', param, message })

/** A fault for each reference of a write that does not exist or does not fit the campaign. */
export async function referenceFaults(
  ctx: ProjectCtx,
  { type, channel }: Pick<CampaignRow, 'type' | 'channel'>,
  changes: CampaignChanges,
): Promise<Fault[]> {
  const { event_name, event_rule, provider_id, custom_domain_id } = changes
  const faults: Fault[] = []
  if (typeof event_name === 'string' && type === 'blast')
    faults.push(broken('event_name', 'Only campaigns of the type `trigger` are sent on an event. Omit `event_name`.'))
  if (event_rule != null) faults.push(...(await ruleFaults(ctx, type, event_rule)))
  if (typeof provider_id === 'number') {
    const provider = await findProvider(ctx, provider_id)
    if (!provider) faults.push(broken('provider_id', 'The value of `provider_id` is not a provider of this project.'))
    else if (provider.channel !== channel)
      faults.push(broken('provider_id', `The value of \`provider_id\` must be a provider for the channel \`${channel}\`.`))
  }
  if (typeof custom_domain_id === 'number' && !(await findDomain(ctx, custom_domain_id)))
    faults.push(broken('custom_domain_id', 'The value of `custom_domain_id` is not a domain of this project.'))
  return [...faults, ...(await listFaults(ctx, changes))]
}

async function listFaults(ctx: ProjectCtx, changes: CampaignChanges): Promise<Fault[]> {
  const named = (['list_ids', 'exclusion_list_ids'] as const).flatMap((name) =>
    (changes[name] ?? []).map((id, at) => ({ id, param: `${name}[${at}]` })),
  )
  if (named.length === 0) return []
  const known = new Set(
    await findListIds(
      ctx,
      named.map(({ id }) => id),
    ),
  )
  return named
    .filter(({ id }) => !known.has(id))
    .map(({ param }) => broken(param, `The value of \`${param}\` is not a list of this project.`))
}

async function ruleFaults(ctx: ProjectCtx, type: CampaignRow['type'], rule: NonNullable<CampaignChanges['event_rule']>): Promise<Fault[]> {
  if (type === 'blast') return [broken('event_rule', 'Only campaigns of the type `trigger` are sent on an event. Omit `event_rule`.')]
  const faults = eventRuleFaults(rule)
  return faults.length > 0 || rule.user === undefined ? faults : ruleReferenceFaults(ctx, referencesOf(rule.user))
}

const NAMES = { list: 'a list', subscription: 'a subscription type', campaign: 'a campaign' }

async function ruleReferenceFaults(ctx: ProjectCtx, references: ReturnType<typeof referencesOf>): Promise<Fault[]> {
  const idsOf = (wanted: keyof typeof NAMES) => references.filter(({ kind }) => kind === wanted).map(({ id }) => id)
  const [lists, subscriptions, campaigns] = [idsOf('list'), idsOf('subscription'), idsOf('campaign')]
  const known = {
    list: new Set(lists.length > 0 ? await findListIds(ctx, lists) : []),
    subscription: idSet(subscriptions.length > 0 ? await knownSubscriptions(ctx, subscriptions as SubscriptionId[], false) : []),
    campaign: idSet(campaigns.length > 0 ? await findCampaigns(ctx, campaigns as CampaignId[]) : []),
  }
  return references
    .filter(({ kind, id }) => !known[kind].has(id))
    .map(({ kind, param }) => {
      const at = `event_rule.user.${param}`
      return broken(at, `The value of \`${at}\` is not ${NAMES[kind]} of this project.`)
    })
}

const idSet = (rows: { id: number }[]): Set<number> => new Set(rows.map(({ id }) => id))
