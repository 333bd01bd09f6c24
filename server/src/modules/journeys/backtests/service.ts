/** Starting, reading and cancelling backtests. */
import { inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { ApiError, fault, missing } from '../../../lib/errors.ts'
import type { BacktestId, JourneyId, UserId } from '../../../lib/ids.ts'
import { DAY_MS, parseTime } from '../../../lib/times.ts'
import { findLiveUsers } from '../../users/index.ts'
import { BACKTEST } from '../job-names.ts'
import { findJourney } from '../queries.ts'
import { graphFor } from '../simulation/graphs.ts'
import { withoutSecrets } from '../versions/secrets.ts'
import * as queries from './queries.ts'
import type { Backtest, BacktestInput, BacktestResult, BacktestRow } from './schema.ts'

const DAYS_MAX = 90
const PER_DAY = 10

/** Starts a backtest. Throws 404, 422 for a graph or a window that cannot be tested or while another one runs, and 429. */
export async function startBacktest(ctx: ProjectCtx, id: JourneyId, input: BacktestInput): Promise<Backtest> {
  if (!(await findJourney(ctx, id))) throw missing('journey')
  const graph = await graphFor(ctx, id, input)
  const { steps, limit } = input
  const { since, until } = windowOf(input, ctx.clock.now())
  const params = {
    // A backtest makes no calls.
    ...(steps === undefined ? { version: graph.version } : { steps: withoutSecrets(steps) }),
    since: since.toISOString(),
    until: until.toISOString(),
    ...(limit !== undefined && { limit }),
  }
  const row = await inTx(ctx, async (ctx) => {
    await queries.lockBacktests(ctx)
    if ((await queries.countRunning(ctx)) > 0)
      throw new ApiError('validation_failed', 'Another backtest of the project is running. Wait until it is finished, or cancel it.')
    const dayAgo = new Date(ctx.clock.now().getTime() - DAY_MS)
    if ((await queries.countSince(ctx, dayAgo)) >= PER_DAY)
      throw new ApiError('quota_exceeded', `A project may start at most ${PER_DAY} backtests in 24 hours.`)
    return queries.insertBacktest(ctx, id, params)
  })
  ctx.wake(BACKTEST)
  return present(row)
}

function windowOf({ since: start, until: end }: BacktestInput, now: Date): { since: Date; until: Date } {
  const since = parseTime(start) as Date
  const until = end === undefined ? now : (parseTime(end) as Date)
  if (since.getTime() < now.getTime() - DAYS_MAX * DAY_MS)
    throw fault('validation_failed', 'since', `The time in \`since\` is more than ${DAYS_MAX} days ago.`)
  if (until <= since) throw fault('validation_failed', 'until', '`until` must be later than `since`.')
  if (until > now) throw fault('validation_failed', 'until', '`until` must not be in the future.')
  return { since, until }
}

/** Throws 404. */
export async function getBacktest(ctx: ProjectCtx, journeyId: JourneyId, id: BacktestId): Promise<Backtest> {
  const row = await queries.findBacktest(ctx, journeyId, id)
  if (!row) throw missing('backtest')
  return present({ ...row, result: row.result && (await withoutErased(ctx, row.result)) })
}

/** A result without examples of users who are being erased. */
async function withoutErased(ctx: ProjectCtx, result: BacktestResult): Promise<BacktestResult> {
  const users = await findLiveUsers(
    ctx,
    result.examples.map(({ user_id }) => user_id as UserId),
  )
  return { ...result, examples: result.examples.filter(({ user_id }) => users.has(user_id as UserId)) }
}

/** Cancels a running backtest, or deletes the result of a finished one. Throws 404. */
export async function cancelBacktest(ctx: ProjectCtx, journeyId: JourneyId, id: BacktestId): Promise<void> {
  if (!(await queries.cancelBacktest(ctx, journeyId, id))) throw missing('backtest')
}

const present = ({ id, state, params, users_done, users_total, result, created_at, finished_at }: BacktestRow): Backtest => ({
  id,
  state,
  since: new Date(params.since),
  until: new Date(params.until),
  ...(params.version !== undefined && { version: params.version }),
  progress: { users_done, users_total },
  ...(result !== null && { result }),
  created_at,
  ...(finished_at !== null && { finished_at }),
})
