import { job } from '../../infra/queue/jobs.ts'
import { launchDue, loadAudiences } from './audience/load.ts'
import { nextLaunchAt, unfinishedSince } from './audience/queries.ts'
import { FINISH, FORGET_ADDRESSES, LAUNCH, LOAD, PENDING_ACTIONS, PREFLIGHT, WINNER } from './job-names.ts'
import { preflightSince } from './preflight/queries.ts'
import { preflightNext } from './preflight/service.ts'
import { chooseWinners, finishDone } from './progress/finish.ts'
import { forgetAddressesOfOver } from './progress/forget-addresses.ts'
import { runPendingActions } from './progress/pending-actions.ts'
import { nextChoiceAt, pendingActionSince, runningSince } from './progress/queries.ts'

const RETRY_MS = 500
/** How often the progress of running blasts is looked at. */
const PROGRESS_MS = 1000
const FORGET_IDLE_MS = 60_000

export const campaignJobs = [
  job({ ...LAUNCH, nextAt: nextLaunchAt, retryMs: RETRY_MS, run: launchDue }),
  job({ ...LOAD, nextAt: unfinishedSince, retryMs: RETRY_MS, run: (ctx) => loadAudiences(ctx) }),
  job({ ...PENDING_ACTIONS, nextAt: pendingActionSince, retryMs: RETRY_MS, run: (ctx) => runPendingActions(ctx) }),
  job({ ...FINISH, nextAt: runningSince, retryMs: PROGRESS_MS, run: finishDone }),
  job({ ...FORGET_ADDRESSES, idleMs: FORGET_IDLE_MS, run: (ctx) => forgetAddressesOfOver(ctx) }),
  job({ ...PREFLIGHT, nextAt: preflightSince, retryMs: RETRY_MS, run: (ctx) => preflightNext(ctx) }),
  job({ ...WINNER, nextAt: nextChoiceAt, retryMs: PROGRESS_MS, run: chooseWinners }),
]
