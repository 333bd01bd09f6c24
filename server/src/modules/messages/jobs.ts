import { job } from '../../infra/jobs.ts'
import { BULK, TRANSACTIONAL } from './schema.ts'
import { createSender, releaseLeases, sendDue } from './sending/sender.ts'
import type { Sources } from './sending/sources.ts'
import { foldAway } from './tallies/tallies.ts'

const SEND_IDLE_MS = 100
const RELEASE_IDLE_MS = 5000
const FOLD_IDLE_MS = 5000

/** `sources` are the modules that messages come from. Each lane has a job of its own, so that what goes to many holds up nobody. */
export function messageJobs(sources: Sources) {
  const [one, many] = [createSender(sources, TRANSACTIONAL), createSender(sources, BULK)]
  return [
    job({ name: 'messages.release', idleMs: RELEASE_IDLE_MS, run: releaseLeases }),
    job({ name: 'messages.send', idleMs: SEND_IDLE_MS, run: (ctx) => sendDue(ctx, one) }),
    job({ name: 'messages.send-bulk', idleMs: SEND_IDLE_MS, run: (ctx) => sendDue(ctx, many) }),
    job({ name: 'messages.tally', idleMs: FOLD_IDLE_MS, run: foldAway }),
  ]
}
