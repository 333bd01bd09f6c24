import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, SubscriptionId } from '../../../lib/ids.ts'
import type { SendingCampaign } from '../eligibility.ts'

/**
 * Reads campaigns that are not archived. It is passed in, because the module of campaigns depends on this one, and the sender reads the
 * campaigns again just before it sends. With `share` they are locked until the transaction ends, so that none can be stopped before. With
 * `archived`, archived campaigns are read too: what they have sent can be read as long as the message is kept.
 */
export type FindSendingCampaigns = (ctx: ProjectCtx | InTx, ids: CampaignId[], how?: 'share' | 'archived') => Promise<SendingCampaign[]>

/** Reads the subscription types of campaigns, archived ones included: their messages are reported on for as long as they exist. Passed in too. */
export type FindCampaignSubscriptions = (ctx: InTx, ids: CampaignId[]) => Promise<{ id: CampaignId; subscription_id: SubscriptionId }[]>

/** Counts messages whose template exceeded its budget, by campaign. Pauses campaigns that have many. Passed in for the same reason. */
export type RecordOverBudget = (ctx: ProjectCtx, messages: ReadonlyMap<CampaignId, number>) => Promise<void>
