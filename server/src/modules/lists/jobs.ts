import { job } from '../../infra/queue/jobs.ts'
import { SECOND_MS } from '../../lib/times.ts'
import { createListBuilder, deleteRetired } from './building/build.ts'
import { checkClock, followEventRemoval } from './building/versions.ts'

/** The jobs of lists that need no other module. */
export const listJobs = () => [
  job({ name: 'lists.check-clock', idleMs: 5 * SECOND_MS, run: checkClock }),
  job({ name: 'lists.build', idleMs: SECOND_MS / 10, run: createListBuilder() }),
  job({ name: 'lists.delete-retired', idleMs: 10 * SECOND_MS, run: deleteRetired }),
  job({ name: 'lists.after-retention', idleMs: 10 * SECOND_MS, run: followEventRemoval }),
]
