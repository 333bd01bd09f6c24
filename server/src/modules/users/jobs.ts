import { job } from '../../infra/queue/jobs.ts'
import { HOUR_MS } from '../../lib/times.ts'
import { profileAttributes } from './attribute-profiles/attributes-in-use.ts'
import { nextProfilingAt } from './attribute-profiles/queries.ts'
import { forgetErasedIds } from './erased-ids.ts'
import { PROFILE } from './job-names.ts'

export const userJobs = [
  job({ ...PROFILE, nextAt: nextProfilingAt, run: profileAttributes }),
  job({ name: 'users.forget-erased', idleMs: HOUR_MS, run: forgetErasedIds }),
]
