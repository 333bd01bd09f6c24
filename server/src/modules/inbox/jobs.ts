import { job } from '../../infra/queue/jobs.ts'
import { type Ctx, inTx } from '../../infra/runtime/ctx.ts'
import { distinct } from '../../lib/shapes.ts'
import { PURGE } from './job-names.ts'
import * as queries from './queries.ts'

/** The longest time for which an expired message is still there. */
const GATHER_MS = 5000
const EXPIRED_AT_ONCE = 1000

/** Deletes expired messages. Returns the number of inboxes changed. */
async function purgeExpired(ctx: Ctx): Promise<number> {
  const expired = await queries.findExpired(ctx, EXPIRED_AT_ONCE)
  if (expired.length === 0) return 0
  return inTx(ctx, async (ctx) => {
    const projectIds = distinct(expired.map(({ project_id }) => project_id))
    const userIds = distinct(expired.map(({ user_id }) => user_id))
    const locked = await queries.lockAnyCounters(ctx, projectIds, userIds)
    return queries.removeExpired(
      ctx,
      projectIds,
      expired.map(({ id }) => id),
      locked.map(({ user_id }) => user_id),
    )
  })
}

export const inboxJobs = [job({ ...PURGE, nextAt: queries.nextExpiryAt, gatherMs: GATHER_MS, run: purgeExpired })]
