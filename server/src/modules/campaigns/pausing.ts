import { inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import { faultsError } from '../../lib/errors.ts'
import type { CampaignId } from '../../lib/ids.ts'
import { LAUNCH, LOAD, PENDING_ACTIONS, WINNER } from './job-names.ts'
import { savePause } from './queries.ts'
import type { CampaignRow } from './schema.ts'
import { lockEditable } from './service.ts'
import { pauseFault } from './states.ts'

/**
 * Once this returns, no more messages of the campaign are given to a provider until it is resumed; one that is scheduled is not launched.
 * Throws 403, 404, 422.
 */
export const pauseCampaign = (ctx: ProjectCtx, id: CampaignId): Promise<CampaignRow> => setPause(ctx, id, true)

/** Continues sending at the planned times; an overdue blast is launched, and overdue messages are sent, now. Throws 403, 404, 422. */
export const resumeCampaign = (ctx: ProjectCtx, id: CampaignId): Promise<CampaignRow> => setPause(ctx, id, false)

async function setPause(ctx: ProjectCtx, id: CampaignId, pause: boolean): Promise<CampaignRow> {
  const row = await inTx(ctx, async (ctx) => {
    const before = await lockEditable(ctx, id)
    const found = pauseFault(before.state)
    if (found) throw faultsError([found])
    if ((before.paused_at !== null) === pause) return before
    return savePause(ctx, id, pause ? ctx.clock.now() : null, pause ? 'hold' : 'release')
  })
  for (const job of [PENDING_ACTIONS, LAUNCH, LOAD, WINNER]) ctx.wake(job)
  return row
}
