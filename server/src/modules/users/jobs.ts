import { job } from '../../infra/queue/jobs.ts'
import { SECOND_MS } from '../../lib/times.ts'
import { profileAttributes } from './attribute-profiles/attributes-in-use.ts'
import { nextProfilingAt } from './attribute-profiles/queries.ts'
import { PROFILE } from './job-names.ts'

/** The wait for projects that cannot be profiled. */
const RETRY_MS = 5 * SECOND_MS

export const userJobs = [job({ ...PROFILE, nextAt: nextProfilingAt, retryMs: RETRY_MS, run: profileAttributes })]
