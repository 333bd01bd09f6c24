/**
 * Behavioural events. Owns `events` (a partition a month) and `event_ids`.
 * A request is checked, appended to the log as it came, and answered; what the log holds is read again, resolved to
 * people and stored. Promises: an acknowledged event is stored exactly once, in the order it was sent for each person.
 */
export { eventJobs } from './jobs.ts'
export { eraseEvents } from './queries.ts'
export { eventRoutes } from './routes.ts'
export { acceptUpserts, type Fact, preparePartitions, type ReadItem, readRequest, record } from './service.ts'
