/**
 * Behavioural events. Owns `events` (a partition a month), `event_ids`, `event_days`, `event_names` and `event_removals`.
 * A request is checked, appended to the log as it came, and answered; what the log holds is read again, resolved to
 * people and stored. Promises: an acknowledged event is stored exactly once, in the order it was sent for each person,
 * and counted in the same transaction.
 */
export { eventJobs, retentionJob } from './jobs.ts'
export { eraseEvents } from './queries.ts'
export { eventRoutes } from './routes.ts'
export { type Arrived, acceptUpserts, type Fact, preparePartitions, type ReadItem, readRequest, record, toSystemEvent } from './service.ts'
