import { type Job, job } from '../../infra/queue/jobs.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { MessageId } from '../../lib/ids.ts'
import { DELIVER_JOBS, nextMailAt } from '../mta/index.ts'
import { foldCounts } from './counts/counts.ts'
import { deliverDue, nextReleaseAt, releaseMail } from './delivery/deliver.ts'
import { createMailer } from './delivery/mailer.ts'
import { applyComplaints } from './reports/reports.ts'
import { BULK, type Priority, SEND_JOBS, TIMED, TRANSACTIONAL } from './schema.ts'
import { purgeSendAttempts } from './sending/attempts.queries.ts'
import type { FindCampaignSubscriptions } from './sending/find-sending-campaigns.ts'
import { nextDueAt, nextLeaseEnd } from './sending/queries.ts'
import { createSender, releaseLeases, type SenderParts, sendDueMessages } from './sending/sender.ts'
import { tlsReportJob } from './tls-reports/send.ts'

/** The wait for messages that are due and over a rate, or locked. */
const SEND_RETRY_MS = 100
const RELEASE_IDLE_MS = 5000
const FOLD_IDLE_MS = 20_000
const PURGE_IDLE_MS = 60_000

type Parts = SenderParts & { findCampaignSubscriptions: FindCampaignSubscriptions }

function sendJob(parts: Parts, priority: Priority): Job {
  const complain = (ctx: ProjectCtx, ids: MessageId[]) => applyComplaints(ctx, parts.findCampaignSubscriptions, ids)
  const sender = createSender({ ...parts, complain }, priority)
  return job({
    ...SEND_JOBS[priority],
    nextAt: (ctx) => nextDueAt(ctx, priority),
    retryMs: SEND_RETRY_MS,
    run: (ctx, stop) => sendDueMessages(ctx, { ...sender, stop }),
  })
}

function deliverJobs({ findSendingCampaigns }: SenderParts): Job[] {
  const mailer = createMailer(findSendingCampaigns)
  return [TRANSACTIONAL, TIMED, BULK].map((priority) =>
    job({
      ...DELIVER_JOBS[priority],
      nextAt: (ctx) => nextMailAt(ctx, priority),
      retryMs: SEND_RETRY_MS,
      run: (ctx, stop) => deliverDue(ctx, mailer, priority, stop),
    }),
  )
}

/** Each priority has a job of its own, so that messages of a lower one never delay those of a higher one. */
export function messageJobs(parts: Parts) {
  return [
    job({ name: 'messages.release', idleMs: RELEASE_IDLE_MS, nextAt: nextLeaseEnd, run: releaseLeases }),
    sendJob(parts, TRANSACTIONAL),
    sendJob(parts, TIMED),
    sendJob(parts, BULK),
    job({ name: 'mail.release', idleMs: RELEASE_IDLE_MS, nextAt: nextReleaseAt, run: releaseMail }),
    ...deliverJobs(parts),
    job({ name: 'messages.purge-attempts', idleMs: PURGE_IDLE_MS, run: purgeSendAttempts }),
    tlsReportJob,
    job({ name: 'messages.fold-counts', idleMs: FOLD_IDLE_MS, run: foldCounts }),
  ]
}
