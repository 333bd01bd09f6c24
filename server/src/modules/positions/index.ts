/**
 * Where users are in journeys. Owns `journey_entrances`, `journey_timers`, `journey_users`, `journey_past` and `journey_steps`. Promises: an entrance that
 * has not ended has one row, with a timer or parked; an entrance that ended is kept for `JOURNEY_HISTORY_DAYS`; what a user did in a
 * journey is counted until the user is erased; the key of a step keeps its id.
 */
export { countInsideAt, entrancesSince, type RecordedEntrance, usersEnteredSince } from './history.queries.ts'
export {
  countWaiting,
  type EntranceFilter,
  entrancesAfter,
  hasUsersInside,
  usersAtSteps,
  type WaitingRow,
  waitingAt,
} from './inside.queries.ts'
export { positionJobs } from './jobs.ts'
export { erasePositions, movePositions } from './merging.queries.ts'
export {
  copyPast,
  deleteEntrances,
  deleteTimers,
  type EntranceChange,
  endedAmong,
  entrancesOf,
  entriesBetween,
  insertEntrances,
  insertTimers,
  insideAmong,
  journeysOfUsers,
  journeyUsersOf,
  saveJourneyUsers,
  setBackJourneyUsers,
  updateEntrances,
} from './queries.ts'
export { journeyFactsOf, journeysWithSteps } from './rule-facts.queries.ts'
export { EntranceRow, type JourneyUserRow, type PastEntrance, type TimerRow, type TrailVisit } from './schema.ts'
export { registeredSteps, registerSteps, stepsOfJourneys } from './steps.queries.ts'
export { dueTimers, nextTimers } from './timers.queries.ts'
export { type StoredTrail, trailOf } from './trail.ts'
export { positionStores } from './user-data.queries.ts'
export {
  type InsideRow,
  insideListing,
  insideOf,
  journeyUserOf,
  type KnownRow,
  listEnded,
  listInside,
  type PastRow,
  pastOf,
  placesOf,
  type TrailRow,
} from './users.queries.ts'
