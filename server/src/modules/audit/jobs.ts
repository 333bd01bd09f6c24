import { job } from '../../infra/queue/jobs.ts'
import { HOUR_MS } from '../../lib/times.ts'
import { purgeEntries } from './service.ts'

export const auditJobs = [job({ name: 'audit.purge', idleMs: HOUR_MS, run: purgeEntries })]
