/**
 * The activity of users: opens, clicks, opt-ins, opt-outs, replies and changes of lists, for programs that poll. Owns `activity` and
 * `activity_feeds`. Promises: from the first request of a project on, a program that asks from its last cursor gets everything once, in
 * an order that does not change; and nothing of a user who was erased.
 */
export { activityJobs } from './jobs.ts'
export { eraseActivity } from './queries.ts'
export { activityRoutes } from './routes.ts'
export { recordActivity } from './service.ts'
export { activityStores } from './user-data.queries.ts'
