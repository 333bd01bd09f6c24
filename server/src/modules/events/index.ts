/**
 * Behavioural events. Owns `events` (with a partition for each month), `event_ids`, `event_days`, `event_day_totals`,
 * `event_names`, `event_name_totals` and `event_removals`.
 * Promises: an accepted event is stored exactly once, in the order of sending for each user, and counted in the same transaction.
 */
export { dayOf } from './counts.ts'
export { type AcceptedEvent, type NewEvent, newSystemEvent, type StoredEvent } from './event.ts'
export { type PastEvent, pastEventsOf, usersWithPastEvents } from './history.queries.ts'
export { eventJobs } from './jobs.ts'
export { type LatestEvent, latestEvents } from './latest.queries.ts'
export { ERASED_AT_ONCE, eraseEvents, eraseSomeEvents, usersWithEvents } from './queries.ts'
export { range } from './range.ts'
export { timelineListing, usedDataKeys, usedEventNames } from './reading.queries.ts'
export { eventRemovalToFollow, noteRemovalFollowed } from './retention.ts'
export { eventRoutes } from './routes.ts'
export { claimEventIds, createEventMonths, isNewEventId, releaseEventIds, requireEventMonths, storeEvents } from './service.ts'
export { daysOf } from './stats.ts'
export { listTimeline } from './timeline.ts'
export { eventStores } from './user-data.queries.ts'
