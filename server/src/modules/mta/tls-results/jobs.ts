import { job } from '../../../infra/queue/jobs.ts'
import type { Ctx } from '../../../infra/runtime/ctx.ts'
import { HOUR_MS } from '../../../lib/times.ts'
import { purgeTlsCounts } from './queries.ts'
import { purgeTlsReports } from './reports.queries.ts'

const PURGED_AT_ONCE = 5000

const purge = async (ctx: Ctx) => (await purgeTlsCounts(ctx, PURGED_AT_ONCE)) + (await purgeTlsReports(ctx, PURGED_AT_ONCE))

export const tlsJobs = [job({ name: 'tls-results.purge', idleMs: HOUR_MS, run: purge })]
