/** Every background job, one line a module. */
import type { Ctx } from './infra/ctx.ts'
import { purgeIdempotencyRecords } from './infra/idempotency.ts'
import { type Job, job } from './infra/jobs.ts'
import { backlog } from './infra/stream.ts'
import { chooseTemplate, findCampaigns, renderContent, templatesOf } from './modules/campaigns/index.ts'
import { eventJobs } from './modules/events/index.ts'
import { messageJobs } from './modules/messages/index.ts'
import { webhookJobs } from './modules/webhooks/index.ts'
import { whenForgotten, whenPeopleAct } from './pipeline.ts'

const SECOND_MS = 1000
const HOUR_MS = 3_600_000

export const allJobs = (): Job[] => [
  job({ name: 'people', idleMs: 100, run: whenPeopleAct }),
  job({ name: 'users.erase', idleMs: SECOND_MS, run: whenForgotten }),
  ...eventJobs,
  ...messageJobs({ campaignsOf: findCampaigns, templatesOf, chooseTemplate, renderContent }),
  ...webhookJobs,
  job({ name: 'idempotency.purge', idleMs: HOUR_MS, run: purgeIdempotencyRecords }),
]

/** How much waits and how old it is, for `/metrics`. */
export async function queueDepths(ctx: Ctx): Promise<void> {
  const now = ctx.clock.now().getTime()
  const accepted = await backlog(ctx)
  if (!accepted) return
  ctx.metrics.queue('people', accepted.waiting, accepted.oldest ? Math.max(0, now - accepted.oldest.getTime()) / SECOND_MS : 0)
  ctx.metrics.parked('people', accepted.parked)
}
