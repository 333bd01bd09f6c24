/**
 * Where users are in journeys. Owns `journey_entrances`, `journey_timers`, `journey_users` and `journey_past`. Promises: an entrance that
 * has not ended has one row, with a timer or parked; an entrance that ended is kept for `JOURNEY_HISTORY_DAYS`; what a user did in a
 * journey is counted until the user is erased.
 */
