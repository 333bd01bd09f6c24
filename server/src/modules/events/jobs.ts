import { job } from '../../infra/queue/jobs.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../lib/times.ts'
import { TOTAL_NAMES, totalNames } from './frequent-names.ts'
import { removeExpired } from './retention.ts'
import { createEventMonths, purgeEventIds } from './service.ts'

export const eventJobs = [
  job({ name: 'events.create-months', idleMs: HOUR_MS, run: createEventMonths }),
  job({ name: 'events.purge-ids', idleMs: HOUR_MS, run: purgeEventIds }),
  job({ name: 'events.retention', idleMs: 10 * MINUTE_MS, run: removeExpired }),
  job({ ...TOTAL_NAMES, idleMs: 10 * MINUTE_MS, gatherMs: 5 * SECOND_MS, run: totalNames }),
]
