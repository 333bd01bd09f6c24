import { route } from '../../../infra/http/route.ts'
import type { BacktestId, JourneyId } from '../../../lib/ids.ts'
import { pathId } from '../../../lib/path-params.ts'
import { Backtest, BacktestInput } from './schema.ts'
import { cancelBacktest, getBacktest, startBacktest } from './service.ts'

const params = { journeyId: pathId<JourneyId>() }
const one = { ...params, backtestId: pathId<BacktestId>() }

/** Endpoints that show what would have happened. */
export const backtestRoutes = [
  route({
    method: 'POST',
    path: '/api/client/journeys/{journeyId}/backtest',
    summary: 'Start a backtest of a journey.',
    description:
      'Runs a version, or steps that are not stored, against the activity of users in a past window of at most 90 days. Nothing is written to users, sent or called. ' +
      'A project runs one backtest at a time; a request while another backtest is running gets 422. A project can start 10 backtests in 24 hours; further requests get 429.',
    access: { secret: 'editor' },
    audit: { none: 'it only computes' },
    params,
    body: BacktestInput,
    reply: Backtest,
    status: 202,
    errors: ['validation_failed', 'quota_exceeded'],
    run: (ctx, { params, body }) => startBacktest(ctx, params.journeyId, body),
  }),
  route({
    method: 'GET',
    path: '/api/client/journeys/{journeyId}/backtests/{backtestId}',
    summary: 'Read a backtest of a journey.',
    description: 'The reply has the progress and, once the backtest has finished, the result.',
    access: { secret: 'editor' },
    params: one,
    reply: Backtest,
    run: (ctx, { params }) => getBacktest(ctx, params.journeyId, params.backtestId),
  }),
  route({
    method: 'DELETE',
    path: '/api/client/journeys/{journeyId}/backtests/{backtestId}',
    summary: 'Cancel a backtest of a journey.',
    description: 'Cancelling a finished backtest discards its result.',
    access: { secret: 'editor' },
    audit: { none: 'it ends a computation' },
    params: one,
    status: 204,
    run: (ctx, { params }) => cancelBacktest(ctx, params.journeyId, params.backtestId),
  }),
]
