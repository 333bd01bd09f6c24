/** Deletes the addresses of blasts that are over and will send no more messages. */
import type { Ctx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, ProjectId } from '../../../lib/ids.ts'
import { type CampaignKey, campaignsWithAddresses, forgetAddresses } from '../../messages/index.ts'
import { eachAlone, failedIn, inProject, onItsOwn } from '../../projects/index.ts'
import { FORGET_ADDRESSES } from '../job-names.ts'
import * as queries from './queries.ts'

const CAMPAIGNS_AT_ONCE = 1000
const CHUNK_ADDRESSES = 5000

const FIRST: CampaignKey = { project_id: 0 as ProjectId, campaign_id: 0 as CampaignId }

/**
 * Deletes one chunk for each blast that is over. Returns the number of addresses. Looks at all blasts that hold addresses, because those that are
 * not over may be many. One that fails does not hold up the others.
 */
export async function forgetAddressesOfOver(
  ctx: Ctx,
  chunkAddresses = CHUNK_ADDRESSES,
  campaignsAtOnce = CAMPAIGNS_AT_ONCE,
): Promise<number> {
  let done = 0
  let after = FIRST
  for (;;) {
    const held = await campaignsWithAddresses(ctx, after, campaignsAtOnce)
    const over = await findOver(ctx, held)
    done += await eachAlone(ctx, FORGET_ADDRESSES, over.map(onItsOwn), (ctx, { id }) => forgetAddresses(ctx, id, chunkAddresses))
    const last = held.at(-1)
    if (!last || held.length < campaignsAtOnce) return done
    after = last
  }
}

/** The campaigns among these that are over, without those that failed a short time ago. */
async function findOver(ctx: Ctx, held: CampaignKey[]): Promise<{ project_id: ProjectId; id: CampaignId }[]> {
  const failed = new Set(failedIn<CampaignId>(ctx, FORGET_ADDRESSES))
  const over: { project_id: ProjectId; id: CampaignId }[] = []
  for (const [project_id, campaigns] of Map.groupBy(held, ({ project_id }) => project_id)) {
    const ids = campaigns.map(({ campaign_id }) => campaign_id).filter((id) => !failed.has(id))
    const found = await inProject(ctx, project_id, (ctx) => queries.findOver(ctx, ids))
    over.push(...found.map(({ id }) => ({ project_id, id })))
  }
  return over
}
