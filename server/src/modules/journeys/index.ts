/**
 * Journeys and their steps. Owns `journeys`, `journey_versions`, `journey_keys`, `journey_counts`, `journey_calls`, `journey_sweeps`, `journey_backtests`, `journey_rates` and `journey_clocks`. A journey is a graph of steps that users move through, starting at an
 * entrance. Promises: a stored graph has no broken edges and no loop without a delay, and refers to nothing that the project does not have; all steps of a journey are replaced together.
 */
export { backtestStore } from './backtests/retention.ts'
export { countCalls, deleteCalls } from './calls/queries.ts'
export { journeyJobs } from './jobs.ts'
export { type Applied, applyOccasions, applyTimers, applyTimersBefore, type Place, parkTimer } from './live/apply.ts'
export { findDueTimers, nextTimerAt, projectsWithDueTimers } from './live/due.ts'
export { type Published, publishedGraphs, publishedGraphsAhead } from './live/graphs.ts'
export { appendListChanges } from './live/list-changes.ts'
export { eraseJourneys, mergeJourneys } from './live/merges.ts'
export { occasionsOf, type UserItem } from './live/occasions.ts'
export { keyRows } from './live/retention.ts'
export { archiveJourneys, countJourneys, findJourneyIds, journeyListing, journeyNames, journeysTagged } from './queries.ts'
export { journeyRoutes } from './routes.ts'
export { stepComponents } from './schema.ts'
export { listJourneys } from './service.ts'
export { moveSchedules } from './sweeps/time-zones.ts'
export { journeyStores } from './user-data.queries.ts'
export { journeysSending, journeysUsing } from './uses.ts'
export type { FindReferenceFaults } from './versions/readiness.ts'
