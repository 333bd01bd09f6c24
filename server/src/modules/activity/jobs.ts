import { job } from '../../infra/queue/jobs.ts'
import type { Ctx } from '../../infra/runtime/ctx.ts'
import { HOUR_MS } from '../../lib/times.ts'
import { purgeActivity } from './queries.ts'

const PURGED_AT_ONCE = 5000

export const activityJobs = [job({ name: 'activity.purge', idleMs: HOUR_MS, run: (ctx: Ctx) => purgeActivity(ctx, PURGED_AT_ONCE) })]
