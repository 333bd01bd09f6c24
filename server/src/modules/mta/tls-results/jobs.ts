import { job } from '../../../infra/queue/jobs.ts'
import type { Ctx } from '../../../infra/runtime/ctx.ts'
import { HOUR_MS } from '../../../lib/times.ts'
import { purgeTlsCounts } from './queries.ts'

const PURGED_AT_ONCE = 5000

export const tlsJobs = [job({ name: 'tls-results.purge', idleMs: HOUR_MS, run: (ctx: Ctx) => purgeTlsCounts(ctx, PURGED_AT_ONCE) })]
