import type { ProjectCtx } from '../../infra/ctx.ts'
import { type Fault, fault } from '../../lib/errors.ts'
import type { SubscriptionId } from '../../lib/ids.ts'
import type { Channel } from '../../lib/shapes.ts'
import { findListIds } from '../segments/index.ts'
import { findSubscription } from '../subscriptions/index.ts'
import type { CampaignChanges } from './schema.ts'
import type { CampaignType } from './states.ts'

/** The channel of a subscription type. Throws 422 when there is no such type. */
export async function channelOf(ctx: ProjectCtx, id: SubscriptionId): Promise<Channel> {
  const subscription = await findSubscription(ctx, id)
  if (!subscription)
    throw fault('validation_failed', 'subscription_id', 'The value of `subscription_id` is not a subscription type of this project.')
  return subscription.channel
}

/** What a write names that does not exist, or does not fit the type of the campaign. */
export async function referenceFaults(ctx: ProjectCtx, type: CampaignType, changes: CampaignChanges): Promise<Fault[]> {
  return [...ownFaults(type, changes), ...(await listFaults(ctx, changes))]
}

function ownFaults(type: CampaignType, { event_name, provider_id, custom_domain_id }: CampaignChanges): Fault[] {
  const faults: Fault[] = []
  const broken = (param: string, message: string) => faults.push({ code: 'validation_failed', param, message })
  if (typeof event_name === 'string' && type === 'blast')
    broken('event_name', 'Only campaigns of the type `trigger` fire on an event. Leave `event_name` out.')
  // Every project sends through the sandbox, which has no id, and has no domain of its own.
  if (typeof provider_id === 'number') broken('provider_id', 'The value of `provider_id` is not a provider of this project.')
  if (typeof custom_domain_id === 'number') broken('custom_domain_id', 'The value of `custom_domain_id` is not a domain of this project.')
  return faults
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
    .map(({ param }) => ({ code: 'validation_failed', param, message: `The value of \`${param}\` is not a list of this project.` }))
}
