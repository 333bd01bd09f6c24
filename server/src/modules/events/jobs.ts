import { job } from '../../infra/jobs.ts'
import { forgetEventIds, preparePartitions } from './service.ts'

const HOUR_MS = 3_600_000

export const eventJobs = [
  job({ name: 'events.partitions', idleMs: HOUR_MS, run: preparePartitions }),
  job({ name: 'events.forget-ids', idleMs: HOUR_MS, run: forgetEventIds }),
]
