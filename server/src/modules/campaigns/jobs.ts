import { job } from '../../infra/queue/jobs.ts'
import { launchDue, loadAudiences } from './audience/load.ts'
import { LAUNCH, LOAD, PENDING_ACTIONS, PREFLIGHT } from './job-names.ts'
import { preflightNext } from './preflight/service.ts'
import { chooseWinners, finishDone } from './progress/finish.ts'
import { runPendingActions } from './progress/pending-actions.ts'

const IDLE_MS = 500
const FINISH_IDLE_MS = 1000

export const campaignJobs = [
  job({ ...LAUNCH, idleMs: IDLE_MS, run: launchDue }),
  job({ ...LOAD, idleMs: IDLE_MS, run: (ctx) => loadAudiences(ctx) }),
  job({ ...PENDING_ACTIONS, idleMs: IDLE_MS, run: (ctx) => runPendingActions(ctx) }),
  job({ name: 'campaigns.finish', idleMs: FINISH_IDLE_MS, run: finishDone }),
  job({ ...PREFLIGHT, idleMs: IDLE_MS, run: (ctx) => preflightNext(ctx) }),
  job({ name: 'campaigns.winner', idleMs: FINISH_IDLE_MS, run: chooseWinners }),
]
