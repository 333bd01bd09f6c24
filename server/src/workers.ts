/** All jobs, one line for each module. */

import { applyAcceptedRequests, nextWorkAt } from './batches.ts'
import { createEraser, forgetErased } from './erasures.ts'
import { importUsers, undoImports } from './import-batches.ts'
import { purgeIdempotencyRecords } from './infra/http/idempotency-records.ts'
import { type Job, job } from './infra/queue/jobs.ts'
import { moveJob } from './infra/queue/log/move.ts'
import { APPLY } from './infra/queue/queue.ts'
import { purgeTraced } from './infra/queue/traced-messages.ts'
import type { Ctx } from './infra/runtime/ctx.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from './lib/times.ts'
import { activityJobs } from './modules/activity/index.ts'
import { auditJobs } from './modules/audit/index.ts'
import { campaignJobs, findCampaignSubscriptions, findSendingCampaigns, recordOverBudget, reportBlasts } from './modules/campaigns/index.ts'
import { domainJobs } from './modules/domains/index.ts'
import { eventJobs } from './modules/events/index.ts'
import { IMPORT, importJobs, nextImportAt, nextUndoAt, UNDO_IMPORT } from './modules/imports/index.ts'
import { type InboxStreams, inboxJobs } from './modules/inbox/index.ts'
import { countCalls, journeyJobs, nextTimerAt } from './modules/journeys/index.ts'
import { CHECK_DUE, listJobs, nextMembershipDueAt } from './modules/lists/index.ts'
import { memberJobs } from './modules/members/index.ts'
import { messageJobs } from './modules/messages/index.ts'
import { tlsJobs } from './modules/mta/index.ts'
import { countWaiting, positionJobs } from './modules/positions/index.ts'
import { ERASE_PROJECTS, nextErasureAt } from './modules/projects/index.ts'
import { ERASE, userJobs } from './modules/users/index.ts'
import { countEndpoints, webhookJobs } from './modules/webhooks/index.ts'
import { applyDueTimers } from './pipeline.ts'
import { eraseProjects } from './project-deletion.ts'
import { queueDepthsOf } from './queue-depths.ts'
import { removeOld } from './retention.ts'

/** The longest delay of memberships that change because time passes. */
const DUE_GATHER_MS = 250
/** The wait for a project whose requests another process applies. */
const APPLY_RETRY_MS = 25
/** The wait for projects that cannot be erased. */
const ERASE_RETRY_MS = 5 * SECOND_MS

/** `inboxStreams` are the open streams of this process, which new in-app messages wake; `acceptedLog` is where accepted requests wait, if not in the queue. */
export const allJobs = (inboxStreams: Pick<InboxStreams, 'wake'>, { acceptedLog }: Pick<Ctx, 'acceptedLog'> = {}): Job[] => [
  ...(acceptedLog ? [moveJob(acceptedLog)] : []),
  job({ ...APPLY, nextAt: nextWorkAt, retryMs: APPLY_RETRY_MS, run: applyAcceptedRequests }),
  job({ ...CHECK_DUE, nextAt: nextMembershipDueAt, gatherMs: DUE_GATHER_MS, run: applyDueTimers }),
  job({ ...ERASE, ...createEraser() }),
  job({ name: 'users.forget-erased', idleMs: HOUR_MS, run: forgetErased }),
  ...userJobs,
  job({ ...IMPORT, nextAt: nextImportAt, run: importUsers }),
  job({ ...UNDO_IMPORT, nextAt: nextUndoAt, run: undoImports }),
  ...importJobs,
  ...eventJobs,
  ...positionJobs,
  ...listJobs(),
  ...campaignJobs,
  ...journeyJobs,
  ...messageJobs({ findCampaignSubscriptions, findSendingCampaigns, recordOverBudget, inboxStreams }),
  ...inboxJobs,
  ...memberJobs,
  ...activityJobs,
  ...auditJobs,
  ...domainJobs(),
  ...tlsJobs,
  ...webhookJobs,
  job({ ...ERASE_PROJECTS, idleMs: MINUTE_MS, nextAt: nextErasureAt, retryMs: ERASE_RETRY_MS, run: (ctx) => eraseProjects(ctx) }),
  job({ name: 'retention', idleMs: HOUR_MS, run: removeOld }),
  job({ name: 'traces.purge', idleMs: HOUR_MS, run: purgeTraced }),
  job({ name: 'idempotency.purge', idleMs: HOUR_MS, run: purgeIdempotencyRecords }),
]

/** Reports the size and the age of each queue, and how far sends are, for `/metrics`. */
export async function queueDepths(ctx: Ctx): Promise<void> {
  const now = ctx.clock.now().getTime()
  const { queues, parked } = await queueDepthsOf(ctx)
  for (const { name, waiting, oldest_at } of queues)
    ctx.metrics.queue(name, waiting, oldest_at ? Math.max(0, now - oldest_at.getTime()) / SECOND_MS : 0)
  ctx.metrics.parked('ingest', parked)
  ctx.metrics.webhookEndpoints(await countEndpoints(ctx))
  await reportBlasts(ctx)
  ctx.metrics.journeysWaiting({ ...(await countWaiting(ctx)), calls: await countCalls(ctx) })
  const timerAt = await nextTimerAt(ctx)
  ctx.metrics.journeyTimerLag(timerAt ? Math.max(0, now - timerAt.getTime()) / SECOND_MS : 0)
}
