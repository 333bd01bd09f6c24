import { ApiError } from '../../lib/errors.ts'
import type { Ctx } from '../runtime/ctx.ts'
import type { EventLoopLag } from '../runtime/event-loop-lag.ts'

const RETRY_AFTER_S = 2

/**
 * Refuses a request while the event loop lags more than EVENT_LOOP_LAG_MAX_MS, so that what is essential stays fast (D-HTTP-9). Costs less than
 * looking up the key, which comes after it. Throws 503.
 */
export function refuseUnderOverload({ config, metrics }: Ctx, lag: EventLoopLag, { essential }: { essential?: true }): void {
  const max = config.EVENT_LOOP_LAG_MAX_MS
  if (essential || max === 0 || lag() <= max) return
  metrics.overloadRefused()
  throw new ApiError('internal_error', `The server is overloaded. Retry after ${RETRY_AFTER_S} seconds.`, {
    status: 503,
    reason: 'overloaded',
    headers: { 'retry-after': String(RETRY_AFTER_S) },
  })
}
