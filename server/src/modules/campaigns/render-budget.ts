/** Pauses campaigns whose templates exceed their budget again and again: each such message holds a worker thread for up to a second. */
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { CampaignId } from '../../lib/ids.ts'
import { PENDING_ACTIONS } from './job-names.ts'
import { countOverBudget } from './queries.ts'

const OVER_BUDGET_MAX = 10
const HOUR_MS = 3_600_000

/** Counts messages that exceeded their budget. A campaign with ten within an hour is paused. */
export async function recordOverBudget(ctx: ProjectCtx, messages: ReadonlyMap<CampaignId, number>): Promise<void> {
  if (messages.size === 0) return
  const since = new Date(ctx.clock.now().getTime() - HOUR_MS)
  const paused = await countOverBudget(
    ctx,
    [...messages].map(([id, count]) => ({ id, count })),
    { since, max: OVER_BUDGET_MAX },
  )
  if (paused.length === 0) return
  ctx.log.warn(
    { project_id: ctx.projectId, campaign_ids: paused.map(({ id }) => id) },
    'campaigns paused: their templates exceed the budget',
  )
  ctx.wake(PENDING_ACTIONS)
}
