/** The jobs of journeys. Wake them after each insert of work. */
import type { JobName } from '../../infra/runtime/ctx.ts'

/** Works through many users of a journey. */
export const SWEEP: JobName = { name: 'journeys.sweep' }

/** Computes backtests. */
export const BACKTEST: JobName = { name: 'journeys.backtest' }

/** Makes the calls of webhook steps. */
export const CALL: JobName = { name: 'journeys.call' }

/** Sets what is dated in the future back to now. */
export const CHECK_CLOCK: JobName = { name: 'journeys.check-clock' }
