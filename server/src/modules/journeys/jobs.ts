import { job } from '../../infra/queue/jobs.ts'
import { type Ctx, quickly } from '../../infra/runtime/ctx.ts'
import { MINUTE_MS } from '../../lib/times.ts'
import { nextBacktestAt } from './backtests/queries.ts'
import { backtestDue } from './backtests/run.ts'
import { callDue } from './calls/call.ts'
import { deleteOldCalls, nextCallAt } from './calls/queries.ts'
import { foldCounts } from './insight/counts.queries.ts'
import { BACKTEST, CALL, CHECK_CLOCK, SWEEP } from './job-names.ts'
import { checkClock } from './sweeps/clock.ts'
import { nextSweepAt } from './sweeps/queries.ts'
import { REST_MS } from './sweeps/resting.ts'
import { sweepDue } from './sweeps/sweep.ts'

const CALL_RETRY_MS = 200
const CALLS_DELETED_AT_ONCE = 1000
/** Counts are added up when that spares more rows than this. */
const SPARED_MIN = 100
const JOURNEYS_AT_ONCE = 20

export const journeyJobs = [
  job({ ...SWEEP, nextAt: nextSweepAt, retryMs: REST_MS, run: sweepDue }),
  job({ ...CALL, nextAt: nextCallAt, retryMs: CALL_RETRY_MS, run: callDue }),
  job({ name: 'journeys.delete-calls', idleMs: MINUTE_MS, run: (ctx: Ctx) => deleteOldCalls(quickly(ctx), CALLS_DELETED_AT_ONCE) }),
  job({ ...BACKTEST, nextAt: nextBacktestAt, run: backtestDue }),
  job({ ...CHECK_CLOCK, idleMs: MINUTE_MS, run: checkClock }),
  job({ name: 'journeys.fold', idleMs: MINUTE_MS, run: (ctx: Ctx) => foldCounts(ctx, SPARED_MIN, JOURNEYS_AT_ONCE) }),
]
