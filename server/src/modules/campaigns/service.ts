import { isDeepStrictEqual } from 'node:util'
import { type InTx, inTx, type ProjectCtx } from '../../infra/ctx.ts'
import { mapPage, type PageOf, type PageRequest } from '../../infra/paging.ts'
import { requirePublisher } from '../../infra/rights.ts'
import { fault, faultsError, missing, refuse } from '../../lib/errors.ts'
import type { CampaignId } from '../../lib/ids.ts'
import { applied, copyOf, draftOf, fieldsOf } from './fields.ts'
import * as queries from './queries.ts'
import { channelOf, referenceFaults } from './references.ts'
import type { Campaign, CampaignChanges, CampaignFields, CampaignInput, CampaignRow, Delivery } from './schema.ts'
import { isLive, stateFault } from './states.ts'

/** What became of the messages of campaigns; one that has none may be left out. */
export type DeliveryOf = (ctx: ProjectCtx, ids: CampaignId[]) => Promise<Map<CampaignId, Delivery>>

/** Stops the messages of a campaign that are not sent yet; runs in the transaction that aborts it. */
export type WhenAborted = (ctx: InTx, id: CampaignId) => Promise<void>

/** Makes a draft. Throws 422 for what it names and does not exist. */
export async function createCampaign(ctx: ProjectCtx, input: CampaignInput): Promise<CampaignRow> {
  const channel = await channelOf(ctx, input.subscription_id)
  if (input.channel !== undefined && input.channel !== channel) {
    throw fault(
      'validation_failed',
      'channel',
      `The subscription type is for the channel \`${channel}\`. Leave \`channel\` out or choose another type.`,
    )
  }
  const { type, name: _, channel: __, subscription_id: ___, ...changes } = input
  refuse(await referenceFaults(ctx, type, changes))
  return created(await queries.insertCampaign(ctx, { type, channel }, draftOf(input)))
}

function created(row: CampaignRow | undefined): CampaignRow {
  if (!row) throw new Error('The campaign was not inserted.')
  return row
}

export const listCampaigns = (ctx: ProjectCtx, page: PageRequest): Promise<PageOf<CampaignRow>> => queries.listCampaigns(ctx, page)

/** Throws 404. */
export async function getCampaign(ctx: ProjectCtx, id: CampaignId): Promise<CampaignRow> {
  const row = await queries.findCampaign(ctx, id)
  if (!row) throw missing('campaign')
  return row
}

/** A campaign that this caller may change, held until the transaction ends. Throws 404, 403. */
export async function holdCampaign(ctx: InTx, id: CampaignId): Promise<CampaignRow> {
  const row = await queries.lockCampaign(ctx, id)
  if (!row) throw missing('campaign')
  if (row.state !== 'draft') requirePublisher(ctx)
  return row
}

/** Changes the members given, the state among them. Throws 403, 404, 422. */
export async function updateCampaign(
  ctx: ProjectCtx,
  id: CampaignId,
  changes: CampaignChanges,
  whenAborted: WhenAborted,
): Promise<CampaignRow> {
  if (changes.state !== undefined) requirePublisher(ctx)
  return inTx(ctx, async (ctx) => {
    const before = await holdCampaign(ctx, id)
    await checkSubscription(ctx, before, changes)
    refuse(await referenceFaults(ctx, before.type, changes))
    const after = applied(fieldsOf(before), changes)
    if (isDeepStrictEqual(fieldsOf(before), after)) return before
    await checkState(ctx, before, after)
    const saved = created(await queries.saveCampaign(ctx, id, after))
    if (after.state === 'aborted' && before.state !== 'aborted') await whenAborted(ctx, id)
    return saved
  })
}

async function checkSubscription(ctx: InTx, { channel }: CampaignRow, { subscription_id }: CampaignChanges): Promise<void> {
  if (subscription_id === undefined || (await channelOf(ctx, subscription_id)) === channel) return
  throw fault(
    'validation_failed',
    'subscription_id',
    `The value of \`subscription_id\` must be a subscription type for the channel \`${channel}\`.`,
  )
}

async function checkState(ctx: InTx, before: CampaignRow, after: CampaignFields): Promise<void> {
  const hasTemplate = (await queries.countTemplates(ctx, before.id)) > 0
  const found = stateFault(before.state, { ...after, type: before.type, hasTemplate })
  if (found) throw faultsError([found])
}

/** Takes a campaign out of every read; one that is under way is aborted first. Throws 403, 404. */
export function archiveCampaign(ctx: ProjectCtx, id: CampaignId, whenAborted: WhenAborted): Promise<void> {
  return inTx(ctx, async (ctx) => {
    const { state } = await holdCampaign(ctx, id)
    if (isLive(state)) await whenAborted(ctx, id)
    await queries.archiveCampaign(ctx, id, isLive(state) ? 'aborted' : state)
  })
}

/** Makes a draft with the same settings and templates. Throws 404. */
export function duplicateCampaign(ctx: ProjectCtx, id: CampaignId): Promise<CampaignRow> {
  return inTx(ctx, async (ctx) => {
    const original = await getCampaign(ctx, id)
    const copy = created(await queries.insertCampaign(ctx, original, copyOf(fieldsOf(original))))
    await queries.copyTemplates(ctx, original.id, copy.id)
    return copy
  })
}

const NOTHING_SENT: Delivery = { sent: 0, total: 0, opens: 0, clicks: 0, bounced: 0 }

/** A campaign as it is read: what is not set is left out, what became of its messages is added. */
export async function presentCampaign(ctx: ProjectCtx, row: CampaignRow, deliveryOf: DeliveryOf): Promise<Campaign> {
  return present(row, await deliveryOf(ctx, [row.id]))
}

export async function presentCampaigns(ctx: ProjectCtx, page: PageOf<CampaignRow>, deliveryOf: DeliveryOf): Promise<PageOf<Campaign>> {
  const deliveries = await deliveryOf(
    ctx,
    page.results.map(({ id }) => id),
  )
  return mapPage(page, (row) => present(row, deliveries))
}

function present(
  { provider_id, event_name, send_at, custom_domain_id, ...row }: CampaignRow,
  deliveries: Map<CampaignId, Delivery>,
): Campaign {
  return {
    ...row,
    ...(provider_id !== null && { provider_id }),
    ...(event_name !== null && { event_name }),
    ...(send_at !== null && { send_at }),
    ...(custom_domain_id !== null && { custom_domain_id }),
    delivery: deliveries.get(row.id) ?? NOTHING_SENT,
  }
}
