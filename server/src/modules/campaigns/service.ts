import { isDeepStrictEqual } from 'node:util'
import { mapPage, type PageOf, type PageRequest } from '../../infra/http/paging.ts'
import { requirePublisher } from '../../infra/http/require-publisher.ts'
import { type InTx, inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import { ApiError, type Fault, fault, faultsError, missing, refuse } from '../../lib/errors.ts'
import type { CampaignId, ProviderId } from '../../lib/ids.ts'
import { type Counts, countInFlight, messageCountsOf } from '../messages/index.ts'
import { copyAttachments, copyTemplates, keepFirstVersions, variantName, variantsWithTemplate } from '../templates/index.ts'
import { directCampaigns } from './direct/queries.ts'
import { applied, copyName, copyOf, draftOf, fieldsOf, lateChanges } from './fields.ts'
import { LAUNCH, PENDING_ACTIONS } from './job-names.ts'
import * as queries from './queries.ts'
import type { CampaignQuery } from './query.schema.ts'
import { referenceFaults, subscriptionOf, usedListFaults } from './references.ts'
import { retryFaults } from './retry-faults.ts'
import type { Campaign, CampaignChanges, CampaignFields, CampaignInput, CampaignRow, Delivery, PendingAction } from './schema.ts'
import { freeSlug, restoredSlug, savingSlug } from './slugs.ts'
import { splitFaults } from './split.ts'
import { type CampaignState, isLive, stateFault } from './states.ts'

/** Creates a draft. Throws 422 for references that do not exist. */
export async function createCampaign(ctx: ProjectCtx, input: CampaignInput): Promise<CampaignRow> {
  const { channel, is_transactional } = await subscriptionOf(ctx, input.subscription_id)
  if (input.channel !== undefined && input.channel !== channel) {
    throw fault(
      'validation_failed',
      'channel',
      `The subscription type is for the channel \`${channel}\`. Omit \`channel\` or choose another type.`,
    )
  }
  const { type, name: _, slug: ____, channel: __, subscription_id: ___, ...changes } = input
  const expires_after_hours = defaultExpiry(is_transactional)
  return inTx(ctx, async (ctx) => {
    const fields = draftOf(input, { slug: input.slug ?? (await freeSlug(ctx, input.name)), expires_after_hours })
    refuse([
      ...(await referenceFaults(ctx, { type, channel }, changes)),
      ...splitFaults({ type, channel }, fields),
      ...retryFaults({ channel }, fields),
    ])
    return savingSlug(() => queries.insertCampaign(ctx, { type, channel }, fields), input.slug !== undefined)
  })
}

const EXPIRY_H = 72
const EXPIRY_TRANSACTIONAL_H = 1

/** The default of `expires_after_hours`. A password reset that is hours late is of no use. */
export const defaultExpiry = (isTransactional: boolean): number => (isTransactional ? EXPIRY_TRANSACTIONAL_H : EXPIRY_H)

export const listCampaigns = (
  ctx: ProjectCtx,
  page: PageRequest,
  { provider_id, archived }: CampaignQuery = {},
): Promise<PageOf<CampaignRow>> =>
  queries.listCampaigns(ctx, page, {
    isArchived: archived === 'true',
    ...(provider_id !== undefined && { providerId: Number(provider_id) as ProviderId }),
  })

/** Throws 404. */
export async function getCampaign(ctx: ProjectCtx, id: CampaignId): Promise<CampaignRow> {
  const row = await queries.findCampaign(ctx, id)
  if (!row) throw missing('campaign')
  return row
}

/** Locks a campaign until the transaction ends. Throws 404. */
export async function lockCampaign(ctx: InTx, id: CampaignId): Promise<CampaignRow> {
  const row = await queries.lockCampaign(ctx, id)
  if (!row) throw missing('campaign')
  return row
}

/** Locks a campaign that this caller may change until the transaction ends. Throws 403, 404. */
export async function lockEditable(ctx: InTx, id: CampaignId): Promise<CampaignRow> {
  const row = await lockCampaign(ctx, id)
  if (row.state !== 'draft') requirePublisher(ctx)
  return row
}

/** A campaign after a write and, if it was aborted, how many of its messages were in flight. */
export type SavedCampaign = { row: CampaignRow; in_flight?: number }

/**
 * Changes the given members, which may include the state. Once this returns, no more messages of a stopped campaign are given to a
 * provider; a job withdraws the unsent ones. Throws 403, 404, 422.
 */
export async function updateCampaign(ctx: ProjectCtx, id: CampaignId, changes: CampaignChanges): Promise<SavedCampaign> {
  if (changes.state !== undefined) requirePublisher(ctx)
  const written = await inTx(ctx, async (ctx): Promise<SavedCampaign> => {
    const before = await lockEditable(ctx, id)
    refuse(directFaults(before, changes))
    await checkSubscription(ctx, before, changes)
    refuse(await referenceFaults(ctx, before, changes, before))
    const after = applied(before.type, fieldsOf(before), changes)
    const row = isDeepStrictEqual(fieldsOf(before), after) ? before : await save(ctx, before, after)
    return { row, ...(changes.state === 'aborted' && { in_flight: await countInFlight(ctx, id) }) }
  })
  ctx.wake(LAUNCH)
  ctx.wake(PENDING_ACTIONS)
  return written
}

async function save(ctx: InTx, before: CampaignRow, after: CampaignFields): Promise<CampaignRow> {
  refuse([...lateFaults(before, after), ...splitFaults(before, after), ...retryFaults(before, after)])
  await checkState(ctx, before, after)
  if (beginsToUseLists(before, after)) refuse(await usedListFaults(ctx, after))
  return savingSlug(() => queries.saveCampaign(ctx, before.id, after, pendingActionAfter(before, after)), true)
}

/** A list is not archived while an active campaign uses it, so only a new state or another list can bring in one that was. */
const beginsToUseLists = (before: CampaignRow, after: CampaignFields): boolean =>
  isLive(after.state) &&
  (before.state !== after.state ||
    !isDeepStrictEqual(before.list_ids, after.list_ids) ||
    !isDeepStrictEqual(before.exclusion_list_ids, after.exclusion_list_ids) ||
    !isDeepStrictEqual(before.event_rule, after.event_rule))

/** A campaign for messages whose content comes with the request has no templates and no event. */
const NOT_DIRECT = ['subscription_id', 'event_name', 'event_rule', 'variants', 'winner'] as const

const directFaults = ({ is_direct }: CampaignRow, changes: CampaignChanges): Fault[] =>
  NOT_DIRECT.filter((param) => is_direct && changes[param] !== undefined).map((param) => ({
    code: 'validation_failed',
    param,
    message: `This campaign sends messages whose content is in the request, so \`${param}\` cannot change. Create another campaign.`,
  }))

const STOPPED: CampaignState[] = ['aborting', 'aborted']

/** What waits is withdrawn when a campaign stops, and when a trigger is finished while it is paused: a pause must not end in delivery. */
function pendingActionAfter(before: CampaignRow, { state }: CampaignFields): PendingAction | null {
  const isStopped = state !== before.state && STOPPED.includes(state)
  return isStopped || (state === 'finished' && before.paused_at !== null) ? 'withdraw' : null
}

const lateFaults = (before: CampaignRow, after: CampaignFields): Fault[] =>
  lateChanges(before, after).map((param) => ({
    code: 'validation_failed',
    param,
    message:
      before.state === 'finished'
        ? `The campaign is \`finished\`, so \`${param}\` can no longer change. Duplicate the campaign instead.`
        : `The campaign is being sent, so \`${param}\` can no longer change. Give it a new \`send_at\` as well, or abort and duplicate it.`,
  }))

async function checkSubscription(ctx: InTx, { channel }: CampaignRow, { subscription_id }: CampaignChanges): Promise<void> {
  if (subscription_id === undefined || (await subscriptionOf(ctx, subscription_id)).channel === channel) return
  throw fault(
    'validation_failed',
    'subscription_id',
    `The value of \`subscription_id\` must be a subscription type for the channel \`${channel}\`.`,
  )
}

async function checkState(ctx: InTx, before: CampaignRow, after: CampaignFields): Promise<void> {
  const hasTemplate = before.is_direct || (await variantsToWrite(ctx, before.id, after)).length === 0
  const found = stateFault(before.state, { ...after, type: before.type, hasTemplate })
  if (found) throw faultsError([found])
}

/** The variants of a campaign that have no template yet. Without variants, users get the templates of the first. */
export async function variantsToWrite(ctx: ProjectCtx, id: CampaignId, { variants }: Pick<CampaignFields, 'variants'>): Promise<number[]> {
  const written = await variantsWithTemplate(ctx, id)
  return Array.from({ length: Math.max(1, variants.length) }, (_, variant) => variant).filter((variant) => !written.has(variant))
}

/** Archives a campaign, so that only the listing of archived campaigns shows it. An active campaign is aborted first. Throws 403, 404. */
export async function archiveCampaign(ctx: ProjectCtx, id: CampaignId): Promise<void> {
  await inTx(ctx, async (ctx) => {
    const { state } = await lockEditable(ctx, id)
    const isStopped = isLive(state)
    await queries.archiveCampaign(ctx, id, isStopped ? 'aborted' : state, isStopped ? 'withdraw' : null)
  })
  ctx.wake(PENDING_ACTIONS)
}

/**
 * Restores an archived campaign. What was aborted when it was archived stays aborted. A campaign that is not archived stays as it is.
 * Throws 403, 404, and 409 for a campaign that the server made and has since replaced by another.
 */
export const unarchiveCampaign = (ctx: ProjectCtx, id: CampaignId): Promise<CampaignRow> =>
  inTx(ctx, async (ctx) => {
    const archived = await queries.lockArchived(ctx, id)
    if (!archived) return getCampaign(ctx, id)
    const { state, slug, is_direct, subscription_id } = archived
    if (state !== 'draft') requirePublisher(ctx)
    if (is_direct && (await directCampaigns(ctx, [subscription_id])).length > 0) throw new ApiError('resource_already_exists', REPLACED)
    return savingSlug(async () => queries.unarchiveCampaign(ctx, id, slug === null ? null : await restoredSlug(ctx, slug)), false)
  })

const REPLACED = 'Another campaign has replaced this one. It sends the messages of this subscription type whose content is in the request.'

/** Creates a draft with the same settings and templates. Throws 404. */
export function duplicateCampaign(ctx: ProjectCtx, id: CampaignId): Promise<CampaignRow> {
  return inTx(ctx, async (ctx) => {
    // Each statement sees what was committed before it: without the lock, a template could be copied with the files of its next version.
    const original = await lockCampaign(ctx, id)
    const slug = await freeSlug(ctx, copyName(original.name))
    const copy = await savingSlug(() => queries.insertCampaign(ctx, original, copyOf(fieldsOf(original), slug)), false)
    await copyTemplates(ctx, original.id, copy.id)
    await copyAttachments(ctx, original.id, copy.id)
    await keepFirstVersions(ctx, copy.id)
    return copy
  })
}

/** A campaign for a reply, with its message counts. */
export const presentCampaign = async (ctx: ProjectCtx, row: CampaignRow): Promise<Campaign> =>
  present(row, (await messageCountsOf(ctx, [row.id])).get(row.id))

/** A campaign for the reply to a write. */
export const presentWritten = async (ctx: ProjectCtx, { row, ...more }: SavedCampaign): Promise<Campaign> => ({
  ...(await presentCampaign(ctx, row)),
  ...more,
})

/**
 * The reply to an abort with what was in flight once it had committed: email of the own delivery looks at its campaign without a lock, so that some
 * may have begun since it was counted in the transaction.
 */
export const countedInFlight = async (ctx: ProjectCtx, reply: Campaign): Promise<Campaign> =>
  reply.in_flight === undefined ? reply : { ...reply, in_flight: await countInFlight(ctx, reply.id) }

export async function presentCampaigns(ctx: ProjectCtx, page: PageOf<CampaignRow>): Promise<PageOf<Campaign>> {
  const ids = page.results.map(({ id }) => id)
  const counts = ids.length > 0 ? await messageCountsOf(ctx, ids) : new Map<CampaignId, Counts>()
  return mapPage(page, (row) => present(row, counts.get(row.id)))
}

/** The latest blasts that are being sent, and campaigns that are paused, with their counts. */
export async function campaignsInProgress(ctx: ProjectCtx, limit: number): Promise<Campaign[]> {
  const results = await queries.findInProgress(ctx, limit)
  return (await presentCampaigns(ctx, { results, limit, nextCursor: null, prevCursor: null })).results
}

const NOTHING_SENT: Delivery = { sent: 0, total: 0, opens: 0, clicks: 0, bounced: 0 }

const deliveryOf = ({ sent, total, opens, clicks, bounced }: Delivery): Delivery => ({ sent, total, opens, clicks, bounced })

/** A campaign for replies, with its counts. Leaves out members that are not set. */
export const present = ({ winner_variant, is_direct, ...row }: CampaignRow, counts: Counts | undefined): Campaign => ({
  ...(Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Omit<Campaign, 'delivery'>),
  ...(is_direct && { is_direct }),
  ...(row.paused_at !== null && { is_paused: true }),
  ...(winner_variant !== null && { winner_variant: variantName(winner_variant) }),
  delivery: counts ? deliveryOf(counts) : NOTHING_SENT,
})
