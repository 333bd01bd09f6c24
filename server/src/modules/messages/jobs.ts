import { job } from '../../infra/jobs.ts'
import { releaseLeases, type Sources, sendDue } from './sender.ts'

const SEND_IDLE_MS = 100
const RELEASE_IDLE_MS = 5000

/** `sources` are the modules that messages come from. */
export const messageJobs = (sources: Sources) => [
  job({ name: 'messages.release', idleMs: RELEASE_IDLE_MS, run: releaseLeases }),
  job({ name: 'messages.send', idleMs: SEND_IDLE_MS, run: (ctx) => sendDue(ctx, sources) }),
]
