import { isDeepStrictEqual } from 'node:util'
import type { InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import { type Fault, faultsError, notOfProject } from '../../lib/errors.ts'
import type { ListId, SubscriptionId } from '../../lib/ids.ts'
import { findProvider } from '../channels/index.ts'
import { findDomain } from '../domains/index.ts'
import { listNames, loadNames, lockUnarchived, unknownReferences } from '../lists/index.ts'
import { campaignIdsIn, eventRuleFaults, referencesOf } from '../rules/index.ts'
import { findSubscription, type SubscriptionRow } from '../subscriptions/index.ts'
import { findCampaigns } from './queries.ts'
import { campaignsThatMayUseList } from './references.queries.ts'
import type { CampaignChanges, CampaignFields, CampaignRow } from './schema.ts'

/** A subscription type. Throws 422 if the project has no such type. */
export async function subscriptionOf(ctx: ProjectCtx, id: SubscriptionId): Promise<SubscriptionRow> {
  const subscription = await findSubscription(ctx, id)
  if (!subscription) throw faultsError([notOfProject('subscription_id', 'a subscription type')])
  return subscription
}

/** The campaigns that these rules refer to, as far as they exist. */
export async function referencedCampaigns(ctx: ProjectCtx, rules: unknown[]): Promise<CampaignRow[]> {
  const ids = rules.flatMap(campaignIdsIn)
  return ids.length > 0 ? findCampaigns(ctx, ids) : []
}

const broken = (param: string, message: string): Fault => ({ code: 'validation_failed', param, message })

type References = Pick<CampaignFields, 'list_ids' | 'exclusion_list_ids' | 'event_rule' | 'provider_id' | 'custom_domain_id'>

/**
 * A fault for each reference of a write that does not exist or does not fit the campaign. What the campaign named before may be gone by now:
 * a write that repeats it must not fail, since a draft is written as a whole.
 */
export async function referenceFaults(
  ctx: ProjectCtx,
  { type, channel }: Pick<CampaignRow, 'type' | 'channel'>,
  changes: CampaignChanges,
  before?: References,
): Promise<Fault[]> {
  const { event_name, event_rule, provider_id, custom_domain_id } = changes
  const faults: Fault[] = []
  if (typeof event_name === 'string' && type === 'blast')
    faults.push(broken('event_name', 'Only campaigns of the type `trigger` are sent on an event. Omit `event_name`.'))
  if (event_rule != null && !isDeepStrictEqual(event_rule, before?.event_rule)) faults.push(...(await ruleFaults(ctx, type, event_rule)))
  if (typeof provider_id === 'number' && provider_id !== before?.provider_id) {
    const provider = await findProvider(ctx, provider_id)
    if (!provider) faults.push(notOfProject('provider_id', 'a provider'))
    else if (provider.channel !== channel)
      faults.push(broken('provider_id', `The value of \`provider_id\` must be a provider for the channel \`${channel}\`.`))
  }
  if (typeof custom_domain_id === 'number' && custom_domain_id !== before?.custom_domain_id && !(await findDomain(ctx, custom_domain_id)))
    faults.push(notOfProject('custom_domain_id', 'a domain'))
  return [...faults, ...(await listFaults(ctx, changes, before))]
}

async function listFaults(ctx: ProjectCtx, changes: ListsNamed, before: ListsNamed | undefined): Promise<Fault[]> {
  const named = listsNamed(changes).filter(({ id, in: name }) => !before?.[name]?.includes(id))
  return named.length > 0 ? unknownLists(named, await listNames(ctx, idsOf(named))) : []
}

/**
 * A fault for each list of a campaign that was archived since the campaign named it. The others are locked, so that they are not archived
 * before the campaign is saved as one that uses them.
 */
export async function usedListFaults(ctx: InTx, fields: Uses): Promise<Fault[]> {
  const used = listsUsed(fields)
  return used.length > 0 ? unknownLists(used, await lockUnarchived(ctx, idsOf(used))) : []
}

/** Campaigns that send to a list, exclude it or refer to it in their rule, now or later. */
export const campaignsUsingList = async (ctx: ProjectCtx, listId: ListId): Promise<{ name: string }[]> =>
  (await campaignsThatMayUseList(ctx, listId)).filter((campaign) => listsUsed(campaign).some(({ id }) => id === listId))

type Uses = Pick<CampaignFields, 'list_ids' | 'exclusion_list_ids' | 'event_rule'>

const listsUsed = (by: Uses): NamedList[] => [...listsNamed(by), ...listsInRule(by)]

const listsInRule = ({ event_rule }: Pick<Uses, 'event_rule'>): NamedList[] =>
  (event_rule?.user === undefined ? [] : referencesOf(event_rule.user))
    .filter(({ kind }) => kind === 'list')
    .map(({ id, param }) => ({ id, param: `event_rule.user.${param}` }))

type ListsNamed = Pick<CampaignChanges, 'list_ids' | 'exclusion_list_ids'>
type NamedList = { id: number; param: string }

const listsNamed = (by: ListsNamed): (NamedList & { in: keyof ListsNamed })[] =>
  (['list_ids', 'exclusion_list_ids'] as const).flatMap((name) =>
    (by[name] ?? []).map((id, at) => ({ id, param: `${name}[${at}]`, in: name })),
  )

const idsOf = (named: NamedList[]) => named.map(({ id }) => id)

function unknownLists(named: NamedList[], found: { id: number }[]): Fault[] {
  const known = new Set(found.map(({ id }) => id))
  return named.filter(({ id }) => !known.has(id)).map(({ param }) => notOfProject(param, 'a list'))
}

async function ruleFaults(ctx: ProjectCtx, type: CampaignRow['type'], rule: NonNullable<CampaignChanges['event_rule']>): Promise<Fault[]> {
  if (type === 'blast') return [broken('event_rule', 'Only campaigns of the type `trigger` are sent on an event. Omit `event_rule`.')]
  const faults = eventRuleFaults(rule)
  if (faults.length > 0 || rule.user === undefined) return faults
  const names = await loadNames(ctx, [rule.user], await referencedCampaigns(ctx, [rule.user]))
  return unknownReferences('event_rule.user', rule.user, names)
}
