import type { InTx, ProjectCtx } from '../../infra/ctx.ts'
import { missing } from '../../lib/errors.ts'
import type { CampaignId, MessageId, UserId } from '../../lib/ids.ts'
import { REPEATABLE_PROVIDERS } from '../channels/index.ts'
import { emit, signals } from '../signals/index.ts'
import { findUsers, type Merge } from '../users/index.ts'
import * as queries from './queries.ts'
import type { Delivery, Intent, SandboxMessageWhole } from './schema.ts'

/** Writes down what people are to get, each cause once; sending follows after the commit. */
export async function enqueue(ctx: InTx, intents: Intent[]): Promise<void> {
  const written = await queries.insertMessages(ctx, intents)
  await emit(
    ctx,
    written.map(({ id, campaign_id, channel, bytes }) =>
      signals.queueMessageAuthenticated.of({ message_id: id, campaign_id, channel, size: bytes }),
    ),
  )
}

/** What was meant for people who turned out to be one goes to the survivor, each cause once. */
export async function mergeMessages(ctx: InTx, merges: Merge[]): Promise<void> {
  await queries.skipDuplicates(ctx, merges)
  await queries.moveMessages(ctx, merges)
}

/** Removes what messages said to these people. That there were some, and what became of them, stays without anything personal. */
export async function eraseMessages(ctx: InTx, userIds: UserId[]): Promise<void> {
  await queries.eraseMessages(ctx, userIds, REPEATABLE_PROVIDERS)
  await queries.eraseCaptures(ctx, userIds)
}

/** Nothing more is sent for a campaign, except what a provider holds already. */
export async function cancelCampaign(ctx: InTx, id: CampaignId): Promise<void> {
  await queries.abortMessages(ctx, id, REPEATABLE_PROVIDERS)
}

/** What became of the messages of campaigns: `total` is all of them, `sent` those that a provider took. */
export async function deliveryOf(ctx: ProjectCtx, ids: CampaignId[]): Promise<Map<CampaignId, Delivery>> {
  const rows = await queries.countMessages(ctx, ids)
  return new Map(rows.map(({ campaign_id, ...counts }) => [campaign_id, { ...counts, opens: 0, clicks: 0 }]))
}

/** One captured message with everything it says. Throws 404. */
export async function getCapture(ctx: ProjectCtx, id: MessageId): Promise<SandboxMessageWhole> {
  const row = await queries.findCapture(ctx, id)
  if (!row) throw missing('message')
  const [person] = await findUsers(ctx, [row.user_id])
  return { ...row, external_id: person?.external_id ?? null }
}
