import { job } from '../../infra/queue/jobs.ts'
import { foldCounts } from './counts/counts.ts'
import { BULK, TRANSACTIONAL } from './schema.ts'
import type { FindSendingCampaigns } from './sending/find-sending-campaigns.ts'
import { createSender, releaseLeases, sendDueMessages } from './sending/sender.ts'

const SEND_IDLE_MS = 100
const RELEASE_IDLE_MS = 5000
const FOLD_IDLE_MS = 5000

/** Each priority has a job of its own, so that bulk messages never delay transactional ones. */
export function messageJobs(findSendingCampaigns: FindSendingCampaigns) {
  const [one, many] = [createSender(findSendingCampaigns, TRANSACTIONAL), createSender(findSendingCampaigns, BULK)]
  return [
    job({ name: 'messages.release', idleMs: RELEASE_IDLE_MS, run: releaseLeases }),
    job({ name: 'messages.send', idleMs: SEND_IDLE_MS, run: (ctx) => sendDueMessages(ctx, one) }),
    job({ name: 'messages.send-bulk', idleMs: SEND_IDLE_MS, run: (ctx) => sendDueMessages(ctx, many) }),
    job({ name: 'messages.tally', idleMs: FOLD_IDLE_MS, run: foldCounts }),
  ]
}
