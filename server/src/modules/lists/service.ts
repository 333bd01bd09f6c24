import { isDeepStrictEqual } from 'node:util'
import { mapPage, type PageOf, type PageRequest } from '../../infra/http/paging.ts'
import { type InTx, inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import { ApiError, fault, missing, refuse } from '../../lib/errors.ts'
import type { ListId } from '../../lib/ids.ts'
import type { Language } from '../../lib/languages.ts'
import { distinct } from '../../lib/shapes.ts'
import { checkRule, describeRule, type Names, type Rule } from '../rules/index.ts'
import { archiveVersions, restoreVersions, startVersion } from './building/versions.ts'
import { listsReferringTo, loadNames, type NamedCampaign, requireKnownReferences, requireShortChains } from './check-references.ts'
import { recount } from './members/queries.ts'
import * as queries from './queries.ts'
import type { List, ListChanges, ListInput, ListQuery, ListRow } from './schema.ts'

const DYNAMIC_MAX = 500

/** Creates a list and starts building a dynamic one. Throws 422 for references that do not exist, 429 when there are too many lists. */
export async function createList(ctx: ProjectCtx, input: ListInput, campaigns: NamedCampaign[]): Promise<ListRow> {
  const { name, type, rule = null, tags = [] } = input
  if (rule !== null) refuse(checkRule(rule, 'rule'))
  if (type === 'static' && rule !== null) throw staticHasNoRule()
  if (type === 'dynamic' && rule === null) throw fault('parameter_missing', 'rule', 'A dynamic list needs a `rule`.')
  return inTx(ctx, async (ctx) => {
    if (rule !== null) await admitRule(ctx, rule, campaigns)
    const { id } = await queries.insertList(ctx, { name, type, tags: distinct(tags) })
    await startVersion(ctx, id, rule)
    return getList(ctx, id)
  })
}

const staticHasNoRule = () => fault('validation_failed', 'rule', 'A static list has no rule. Omit `rule`, or create a `dynamic` list.')

async function admitRule(ctx: InTx, rule: Rule, campaigns: NamedCampaign[]): Promise<void> {
  await queries.lockRules(ctx)
  if ((await queries.countDynamic(ctx)) >= DYNAMIC_MAX) {
    throw new ApiError('quota_exceeded', `A project may have at most ${DYNAMIC_MAX} dynamic lists. Archive one that is not in use.`)
  }
  await refuseReferences(ctx, rule, null, campaigns)
}

async function refuseReferences(ctx: InTx, rule: Rule, list: ListId | null, campaigns: NamedCampaign[]): Promise<void> {
  requireKnownReferences(rule, await loadNames(ctx, [rule], campaigns))
  await requireShortChains(ctx, rule, list)
}

export const listLists = (ctx: ProjectCtx, page: PageRequest, { archived, tag }: ListQuery = {}): Promise<PageOf<ListRow>> =>
  queries.listLists(ctx, page, { isArchived: archived === 'true', ...(tag !== undefined && { tag }) })

/** Throws 404. */
export async function getList(ctx: ProjectCtx, id: ListId): Promise<ListRow> {
  const row = await queries.findList(ctx, id)
  if (!row) throw missing('list')
  return row
}

/** Locks a list until the transaction ends. Throws 404. */
async function lockedList(ctx: InTx, id: ListId): Promise<ListRow> {
  // A second statement reads the list, so that it sees what the transaction that held the lock has committed.
  if (!(await queries.lockList(ctx, id))) throw missing('list')
  return getList(ctx, id)
}

/** Changes the given members. With a new rule, the list keeps its users until the new version is built. Throws 404, 422. */
export async function updateList(ctx: ProjectCtx, id: ListId, changes: ListChanges, campaigns: NamedCampaign[]): Promise<ListRow> {
  const { rule } = changes
  if (rule !== undefined) refuse(checkRule(rule, 'rule'))
  return inTx(ctx, async (ctx) => {
    if (rule !== undefined) await queries.lockRules(ctx)
    const before = await lockedList(ctx, id)
    if (rule !== undefined && before.type === 'static') throw staticHasNoRule()
    const isNewRule = rule !== undefined && !isDeepStrictEqual(rule, before.rule)
    const after = { name: changes.name ?? before.name, tags: changes.tags ? distinct(changes.tags) : before.tags }
    if (!isNewRule && after.name === before.name && isDeepStrictEqual(after.tags, before.tags)) return before
    if (isNewRule) {
      await refuseReferences(ctx, rule, id, campaigns)
      await startVersion(ctx, id, rule)
    }
    await queries.updateList(ctx, id, after)
    return getList(ctx, id)
  })
}

/** Locks a list that is to be archived, and the rules of the project. Throws 404. */
export async function lockForArchiving(ctx: InTx, id: ListId): Promise<void> {
  await queries.lockRules(ctx)
  await lockedList(ctx, id)
}

/** Archives a locked list. Throws 422 if the rule of another list uses it, or if the caller has found campaigns or journeys that use it. */
export async function archiveUnused(ctx: InTx, id: ListId, campaignNames: string[], journeyNames: string[]): Promise<void> {
  const lists = (await listsReferringTo(ctx, id)).map((name) => `the list “${shortened(name)}”`)
  const campaigns = campaignNames.map((name) => `the campaign “${shortened(name)}”`)
  const journeys = journeyNames.map((name) => `the journey “${shortened(name)}”`)
  const uses = [...lists, ...campaigns, ...journeys]
  if (uses.length > 0) throw new ApiError('validation_failed', `The list is used by ${named(uses)}. Remove it there first.`)
  const { rule } = await getList(ctx, id)
  await queries.archiveList(ctx, id)
  await archiveVersions(ctx, id, rule)
}

/**
 * Restores an archived list: a static one with its members, a dynamic one by building it again. A list that is not archived stays as it is.
 * Throws 404, 422 for references that no longer exist, and 429 when there are too many lists.
 */
export const unarchiveList = (ctx: ProjectCtx, id: ListId, findCampaigns: (rule: Rule) => Promise<NamedCampaign[]>): Promise<ListRow> =>
  inTx(ctx, async (ctx) => {
    await queries.lockRules(ctx)
    const archived = (await queries.lockArchived(ctx, id)) && (await queries.findArchived(ctx, id))
    if (!archived) return getList(ctx, id)
    const { type, rule } = archived
    if (type === 'dynamic' && rule === null) throw new ApiError('validation_failed', RULE_WAS_NOT_KEPT)
    if (rule !== null) await admitRule(ctx, rule, await findCampaigns(rule))
    await queries.unarchiveList(ctx, id)
    await restoreVersions(ctx, id, rule)
    return getList(ctx, id)
  })

const RULE_WAS_NOT_KEPT = 'The rule of this list was not kept when it was archived. Create another list instead.'

const NAMED_MAX = 5
const NAME_LENGTH_MAX = 60

function named(things: string[]): string {
  const shown = things.slice(0, NAMED_MAX)
  const more = things.length - shown.length
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ')
}

const shortened = (text: string) => (text.length <= NAME_LENGTH_MAX ? text : `${text.slice(0, NAME_LENGTH_MAX).toWellFormed()}…`)

/** Recounts a static list, or rebuilds a dynamic list unless it is being built already. Throws 404. */
export function recountList(ctx: ProjectCtx, id: ListId): Promise<ListRow> {
  return inTx(ctx, async (ctx) => {
    const { type, rule, version_id, live_version_id } = await lockedList(ctx, id)
    if (type === 'dynamic' && version_id === live_version_id) await startVersion(ctx, id, rule)
    if (type === 'static' && live_version_id !== null) await recount(ctx, live_version_id)
    return getList(ctx, id)
  })
}

/** A list for a reply. */
export async function presentList(ctx: ProjectCtx, row: ListRow, campaigns: NamedCampaign[]): Promise<List> {
  return present(row, await namesOf(ctx, [row], campaigns), ctx.language)
}

export async function presentLists(ctx: ProjectCtx, page: PageOf<ListRow>, campaigns: NamedCampaign[]): Promise<PageOf<List>> {
  const names = await namesOf(ctx, page.results, campaigns)
  return mapPage(page, (row) => present(row, names, ctx.language))
}

const namesOf = (ctx: ProjectCtx, rows: ListRow[], campaigns: NamedCampaign[]): Promise<Names> =>
  loadNames(
    ctx,
    rows.flatMap(({ rule }) => rule ?? []),
    campaigns,
  )

function present({ version_id, live_version_id, progress, archived_at, ...row }: ListRow, names: Names, language?: Language): List {
  const isReady = archived_at !== null || version_id === live_version_id
  return {
    ...row,
    description: row.rule === null ? '' : describeRule(row.rule, names, language),
    state: isReady ? 'ready' : 'building',
    progress: isReady ? 1 : (progress ?? 0),
    ...(archived_at !== null && { archived_at }),
  }
}
