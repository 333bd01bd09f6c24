import { job } from '../../infra/queue/jobs.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../lib/times.ts'
import { createListBuilder, deleteRetired } from './building/build.ts'
import { nextChunkAt } from './building/queries.ts'
import { checkClock, followEventRemoval } from './building/versions.ts'
import { AFTER_RETENTION, BUILD, CHECK_CLOCK, DELETE_RETIRED, NOTE_SIZES } from './job-names.ts'
import { noteSizes } from './sizes/sizes.ts'

/** The wait of a build that makes way for accepted requests. */
const BUILD_RETRY_MS = 100

/** The jobs of lists that need no other module. */
export const listJobs = () => [
  job({ ...CHECK_CLOCK, idleMs: 5 * SECOND_MS, run: checkClock }),
  job({ ...BUILD, nextAt: nextChunkAt, retryMs: BUILD_RETRY_MS, run: createListBuilder() }),
  job({ ...DELETE_RETIRED, idleMs: MINUTE_MS, run: deleteRetired }),
  job({ ...NOTE_SIZES, idleMs: HOUR_MS, run: noteSizes }),
  job({ ...AFTER_RETENTION, idleMs: MINUTE_MS, run: followEventRemoval }),
]
