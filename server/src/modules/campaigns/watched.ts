import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { CampaignId } from '../../lib/ids.ts'
import { messageCountsOf } from '../messages/index.ts'
import { findCampaigns } from './queries.ts'
import type { DeliveryReport } from './recipients/schema.ts'
import { reportOf } from './recipients/service.ts'
import type { Campaign } from './schema.ts'
import { present } from './service.ts'

/** The state of campaigns with their counts, as they are when they are watched. Archived campaigns are left out. */
export async function progressOf(
  ctx: ProjectCtx,
  ids: CampaignId[],
): Promise<Map<CampaignId, { campaign: Campaign; delivery: DeliveryReport }>> {
  const counts = await messageCountsOf(ctx, ids)
  const rows = await findCampaigns(ctx, ids)
  return new Map(rows.map((row) => [row.id, { campaign: present(row, counts.get(row.id)), delivery: reportOf(counts.get(row.id)) }]))
}
