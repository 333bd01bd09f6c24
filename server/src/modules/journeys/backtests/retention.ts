/** How long the results of backtests are kept. */
import { type Store, store } from '../../../infra/queue/retention.ts'
import * as queries from './queries.ts'

const KEPT_DAYS = 90

/** Backtests that are over. */
export const backtestStore: Store = store({
  name: 'journey_backtests',
  days: () => KEPT_DAYS,
  nextRows: queries.nextBacktests,
  remove: async (ctx, backtests) => {
    const removed = await queries.deleteBacktests(
      ctx,
      backtests.map(({ id }) => id),
    )
    return removed.map(({ id }) => id)
  },
})
