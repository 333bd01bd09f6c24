import { job } from '../../infra/queue/jobs.ts'
import type { Ctx } from '../../infra/runtime/ctx.ts'
import { MINUTE_MS } from '../../lib/times.ts'
import { nextBacktestAt } from './backtests/queries.ts'
import { backtestDue } from './backtests/run.ts'
import { callDue } from './calls/call.ts'
import { nextCallAt } from './calls/queries.ts'
import { foldCounts } from './insight/counts.queries.ts'
import { BACKTEST, CALL, SWEEP } from './job-names.ts'
import { checkClock } from './sweeps/clock.ts'
import { nextSweepAt } from './sweeps/queries.ts'
import { REST_MS, sweepDue } from './sweeps/sweep.ts'

const CALL_RETRY_MS = 200
/** Counts are added up when that spares more rows than this. */
const SPARED_MIN = 100
const JOURNEYS_AT_ONCE = 20

export const journeyJobs = [
  job({ ...SWEEP, nextAt: nextSweepAt, retryMs: REST_MS, run: sweepDue }),
  job({ ...CALL, nextAt: nextCallAt, retryMs: CALL_RETRY_MS, run: callDue }),
  job({ ...BACKTEST, nextAt: nextBacktestAt, run: backtestDue }),
  job({ name: 'journeys.check-clock', idleMs: MINUTE_MS, run: checkClock }),
  job({ name: 'journeys.fold', idleMs: MINUTE_MS, run: (ctx: Ctx) => foldCounts(ctx, SPARED_MIN, JOURNEYS_AT_ONCE) }),
]
