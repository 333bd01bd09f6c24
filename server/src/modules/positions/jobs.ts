import { job } from '../../infra/queue/jobs.ts'
import { HOUR_MS } from '../../lib/times.ts'
import { createPastMonths, dropPastMonths } from './past.ts'

export const positionJobs = [
  job({ name: 'journeys.create-months', idleMs: HOUR_MS, run: createPastMonths }),
  job({ name: 'journeys.drop-months', idleMs: HOUR_MS, run: dropPastMonths }),
]
