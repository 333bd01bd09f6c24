import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId } from '../../../lib/ids.ts'
import type { SendingCampaign } from '../eligibility.ts'

/**
 * Reads campaigns that are not archived. Handed in, because campaigns stand above messages and the sender reads them again just before
 * it sends. With `share` they are locked until the transaction ends, so that none is stopped meanwhile.
 */
export type FindSendingCampaigns = (ctx: ProjectCtx | InTx, ids: CampaignId[], lock?: 'share') => Promise<SendingCampaign[]>
