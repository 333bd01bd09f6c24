import type { Ctx } from '../../../infra/runtime/ctx.ts'
import { messageProgressOf } from '../../messages/index.ts'
import { findUnpaused } from './queries.ts'

/** Each has time series of its own, which Prometheus keeps for long. */
const BLASTS_MAX = 100

/** How far the running blasts are, for `/metrics`: all are counted, and the newest are described. */
export async function reportBlasts(ctx: Ctx): Promise<void> {
  const { blasts, count } = await findUnpaused(ctx, BLASTS_MAX)
  ctx.metrics.campaignsRunning(count, blasts.length > 0 ? await messageProgressOf(ctx, blasts) : [])
}
