/** Deletes the addresses of blasts that are over and will send no more messages. */
import type { Ctx } from '../../../infra/runtime/ctx.ts'
import { campaignsWithAddresses, forgetAddresses } from '../../messages/index.ts'
import { inProject } from '../../projects/index.ts'
import * as queries from './queries.ts'

const CAMPAIGNS_AT_ONCE = 1000
const CHUNK_ADDRESSES = 5000

/** Deletes one chunk for each blast that is over. Returns the number of addresses. */
export async function forgetAddressesOfOver(ctx: Ctx, chunkAddresses: number = CHUNK_ADDRESSES): Promise<number> {
  let done = 0
  const held = await campaignsWithAddresses(ctx, CAMPAIGNS_AT_ONCE)
  for (const [projectId, campaigns] of Map.groupBy(held, ({ project_id }) => project_id)) {
    done += await inProject(ctx, projectId, async (ctx) => {
      let deleted = 0
      const ids = campaigns.map(({ campaign_id }) => campaign_id)
      for (const { id } of await queries.findOver(ctx, ids)) deleted += await forgetAddresses(ctx, id, chunkAddresses)
      return deleted
    })
  }
  return done
}
