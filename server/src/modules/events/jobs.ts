import { type Job, job } from '../../infra/queue/jobs.ts'
import { removeExpired, type WhenDropped } from './retention.ts'
import { createEventMonths, purgeEventIds } from './service.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

export const eventJobs = [
  job({ name: 'events.partitions', idleMs: HOUR_MS, run: createEventMonths }),
  job({ name: 'events.forget-ids', idleMs: HOUR_MS, run: purgeEventIds }),
]

/** Removes events whose time is over; `whenDropped` tells those who reckon with events. */
export const retentionJob = (whenDropped: WhenDropped): Job =>
  job({ name: 'events.retention', idleMs: 10 * MINUTE_MS, run: (ctx) => removeExpired(ctx, whenDropped) })
