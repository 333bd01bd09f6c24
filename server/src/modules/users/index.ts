/**
 * Contacts. Owns `users`, `user_anonymous_ids`, `user_search`, `devices` and `attributes`.
 * A person is known by one external id and any number of anonymous ids; which ids mean whom is decided in `identity.ts`.
 * Promises: the same ids lead to the same person whatever road they come by and however many come at once,
 * merging loses nothing, and an erased person is gone from every read at once.
 */
export { checkForLater, checkItem, phoneOf, toProfile } from './batch.ts'
export { identify } from './identify.ts'
export type { Profile } from './identity.ts'
export { eraseUser, findErasable, findSurvivors, findUsers, type Merge } from './queries.ts'
export { userRoutes } from './routes.ts'
export { Identifier, profile, type UserRow } from './schema.ts'
export { requireUser } from './service.ts'
export type { Arrival } from './upsert-people.ts'
