import { job } from '../../infra/queue/jobs.ts'
import type { JobName } from '../../infra/runtime/ctx.ts'
import type { InboxStreams } from '../inbox/index.ts'
import { foldCounts } from './counts/counts.ts'
import { BULK, type Priority, TRANSACTIONAL } from './schema.ts'
import type { FindSendingCampaigns } from './sending/find-sending-campaigns.ts'
import { createSender, releaseLeases, sendDueMessages } from './sending/sender.ts'

const SEND_IDLE_MS = 100
const RELEASE_IDLE_MS = 5000
const FOLD_IDLE_MS = 5000

/** The job that sends transactional messages, for those who have just enqueued one. */
export const SEND_TRANSACTIONAL: JobName = { name: 'messages.send' }

/** Each priority has a job of its own, so that bulk messages never delay transactional ones. */
export function messageJobs(findSendingCampaigns: FindSendingCampaigns, inboxStreams: Pick<InboxStreams, 'wake'>) {
  const sender = (priority: Priority) => createSender({ findSendingCampaigns, inboxStreams }, priority)
  const [transactional, bulk] = [sender(TRANSACTIONAL), sender(BULK)]
  return [
    job({ name: 'messages.release', idleMs: RELEASE_IDLE_MS, run: releaseLeases }),
    job({ ...SEND_TRANSACTIONAL, idleMs: SEND_IDLE_MS, run: (ctx) => sendDueMessages(ctx, transactional) }),
    job({ name: 'messages.send-bulk', idleMs: SEND_IDLE_MS, run: (ctx) => sendDueMessages(ctx, bulk) }),
    job({ name: 'messages.fold-counts', idleMs: FOLD_IDLE_MS, run: foldCounts }),
  ]
}
