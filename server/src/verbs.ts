/**
 * Operations across modules. `routes.ts` passes them to the routes of a module, so that no module imports one that depends on it.
 */
import { type Ctx, type InTx, inTx, type OrganisationCtx, type ProjectCtx } from './infra/runtime/ctx.ts'
import { ApiError, type Fault, notOfProject } from './lib/errors.ts'
import type { CampaignId, ListId, OrganisationId, SubscriptionId } from './lib/ids.ts'
import type { Written } from './lib/written.ts'
import {
  adaptDeadline,
  archiveCampaign as archiveAnyCampaign,
  campaignsTagged,
  campaignsUsingList,
  findCampaigns,
} from './modules/campaigns/index.ts'
import { type FindReferenceFaults, findJourneyIds, journeysTagged, journeysUsing } from './modules/journeys/index.ts'
import { archiveUnused, listNames, lockForArchiving, rebuildListsDependingOn, staticListsAmong } from './modules/lists/index.ts'
import {
  insertProject,
  type Project,
  type ProjectInput,
  type ProjectRow,
  presentProject,
  requireProjectRoom,
} from './modules/projects/index.ts'
import { referencesWithin } from './modules/rules/index.ts'
import {
  updateSubscription as changeSubscription,
  createDefaultSubscriptions,
  knownSubscriptions,
  type Subscription,
  type SubscriptionChanges,
} from './modules/subscriptions/index.ts'
import { type BatchResult, checkBatch, presentBatch, upsertUsers } from './modules/users/index.ts'
import { onUsersImported, onUsersSaved } from './user-changes.ts'

/** Creates a project of the caller's organisation. Throws 429 when the organisation has too many projects. */
export const createProject = (ctx: OrganisationCtx, input: ProjectInput): Promise<Project> =>
  inTx(ctx, async (ctx) => {
    await requireProjectRoom(ctx)
    return presentProject(await createProjectIn(ctx, ctx.organisationId, input), false)
  })

/** Creates a project with its default subscription types (D-PROJ-1). */
export const createProjectIn = (ctx: Ctx, organisationId: OrganisationId, input: ProjectInput): Promise<ProjectRow> =>
  inTx(ctx, async (ctx) => {
    const project = await insertProject(ctx, organisationId, input)
    await createDefaultSubscriptions(ctx, project.id)
    return project
  })

/**
 * Changes a subscription type. A new default state changes memberships, so the lists that depend on the type are rebuilt. Whether it is
 * transactional decides how long messages whose content comes with the request live.
 */
export const updateSubscription = (ctx: ProjectCtx, id: SubscriptionId, changes: SubscriptionChanges): Promise<Subscription> =>
  inTx(ctx, async (ctx) => {
    const { subscription, defaultChanged, kindChanged } = await changeSubscription(ctx, id, changes)
    if (defaultChanged) await rebuildListsDependingOn(ctx, `subscription:${id}`)
    if (kindChanged) await adaptDeadline(ctx, subscription)
    return subscription
  })

/** Archives a list. Throws 404, and 422 when a list, a campaign or, unless it is forced, a live journey uses it. */
export const archiveList = (ctx: ProjectCtx, id: ListId, { isForced }: { isForced: boolean }): Promise<void> =>
  inTx(ctx, async (ctx) => {
    await lockForArchiving(ctx, id)
    const campaigns = await campaignsUsingList(ctx, id)
    const journeys = isForced ? [] : await journeysUsing(ctx, { kind: 'list', id })
    await archiveUnused(
      ctx,
      id,
      campaigns.map(({ name }) => name),
      journeys,
    )
  })

const NAMED_MAX = 5

/** Archives a campaign. Throws 403, 404, and 422 when a live journey uses it, unless it is forced. */
export const archiveCampaign = (ctx: ProjectCtx, id: CampaignId, { isForced }: { isForced: boolean }): Promise<void> =>
  inTx(ctx, async (ctx) => {
    await archiveAnyCampaign(ctx, id)
    const journeys = isForced ? [] : await journeysUsing(ctx, { kind: 'campaign', id })
    if (journeys.length === 0) return
    const more = journeys.length > NAMED_MAX ? ` and ${journeys.length - NAMED_MAX} more` : ''
    const named = journeys.slice(0, NAMED_MAX).map((name) => `the journey “${name}”`)
    throw new ApiError(
      'validation_failed',
      `The campaign is used by ${named.join(', ')}${more}. Remove it there first, or add \`force=true\`.`,
    )
  })

/** Saves the valid items of a batch. Returns a result for each item. */
export async function saveUsers(ctx: ProjectCtx, items: unknown[], { isImport }: { isImport: boolean }): Promise<Written<BatchResult>> {
  const batch = checkBatch(items, ctx.clock.now())
  const save = async (ctx: InTx) => {
    const { outcomes, changes } = await upsertUsers(ctx, batch.updates)
    await (isImport ? onUsersImported : onUsersSaved)(ctx, changes)
    return outcomes
  }
  const outcomes = await inTx(ctx, save, { pipelined: true })
  return presentBatch(ctx, batch, outcomes)
}

const REFERENCED = { campaign: 'a campaign', journey: 'a journey', list: 'a list', subscription: 'a subscription type' }

const idsOf = (rows: { id: number }[]): number[] => rows.map(({ id }) => id)

/** Returns a fault for each id in the steps of a journey, also in their rules, that is not of this project or was archived. */
export const stepReferenceFaults: FindReferenceFaults = async (ctx, { ids, rules }) => {
  const inRules = rules.flatMap(({ rule, param }) =>
    referencesWithin(rule).map((found) => ({ ...found, param: `${param}.${found.param}` })),
  )
  const references = [...ids, ...inRules]
  const named = (wanted: keyof typeof REFERENCED) =>
    references.filter(({ kind, id }) => kind === wanted && Number.isSafeInteger(id)).map(({ id }) => id)
  const [campaigns, journeys, lists, subscriptions] = [named('campaign'), named('journey'), named('list'), named('subscription')]
  const known: Record<keyof typeof REFERENCED, Set<number>> = {
    campaign: new Set(campaigns.length > 0 ? idsOf(await findCampaigns(ctx, campaigns as CampaignId[])) : []),
    journey: new Set(journeys.length > 0 ? await findJourneyIds(ctx, journeys) : []),
    list: new Set(lists.length > 0 ? idsOf(await listNames(ctx, lists)) : []),
    subscription: new Set(subscriptions.length > 0 ? idsOf(await knownSubscriptions(ctx, subscriptions as SubscriptionId[], false)) : []),
  }
  const missing = references.filter(({ kind, id }) => !known[kind].has(id)).map(({ kind, param }) => notOfProject(param, REFERENCED[kind]))
  return [
    ...missing,
    ...(await dynamicFaults(
      ctx,
      ids.filter(({ kind, id, isStatic }) => kind === 'list' && isStatic && known.list.has(id)),
    )),
  ]
}

/** A step can add users to static lists only, because the members of dynamic ones follow from their rule. */
async function dynamicFaults(ctx: ProjectCtx, changed: { id: number; param: string }[]): Promise<Fault[]> {
  if (changed.length === 0) return []
  const found = await staticListsAmong(
    ctx,
    changed.map(({ id }) => id),
  )
  const isStatic = new Set(idsOf(found))
  return changed
    .filter(({ id }) => !isStatic.has(id))
    .map(({ param }) => ({ code: 'validation_failed', param, message: `The list in \`${param}\` must be of the type \`static\`.` }))
}

/** The campaigns and journeys with a tag: what the sandbox shows by tag. */
export const taggedWith = async (ctx: ProjectCtx, tag: string) => ({
  campaigns: await campaignsTagged(ctx, tag),
  journeys: await journeysTagged(ctx, tag),
})
