import { job } from '../../infra/queue/jobs.ts'
import { profileAttributes } from './attribute-profiles/attributes-in-use.ts'
import { nextProfilingAt } from './attribute-profiles/queries.ts'
import { PROFILE } from './job-names.ts'

export const userJobs = [job({ ...PROFILE, nextAt: nextProfilingAt, run: profileAttributes })]
