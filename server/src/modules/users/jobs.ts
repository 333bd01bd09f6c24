import { job } from '../../infra/queue/jobs.ts'
import { profileAttributes } from './attribute-profiles/attributes-in-use.ts'

const LOOK_MS = 10_000

export const userJobs = [job({ name: 'users.profile-attributes', idleMs: LOOK_MS, run: profileAttributes })]
