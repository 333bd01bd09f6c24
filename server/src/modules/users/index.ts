/**
 * Contacts. Owns `users`, `user_anonymous_ids`, `user_search`, `devices`, `identity_epochs`, `attributes`,
 * `attribute_surveys` and `attribute_profiles`.
 * A person is known by one external id and any number of anonymous ids; which ids mean whom is decided in `identity.ts`.
 * Promises: the same ids lead to the same person whatever road they come by and however many come at once,
 * merging loses nothing, and an erased person is gone from every read at once.
 */
export { checkForLater, checkItem, phoneOf, toProfile } from './batch.ts'
export { attributesInUse } from './catalogue/attributes-in-use.ts'
export { samplesOf } from './catalogue/queries.ts'
export { Coverage, nameInRules, Samples } from './catalogue/schema.ts'
export { type LoggedChange, logChanges, logNews, type News, type PersonChange, type SystemEvent, type WhenChanged } from './changes.ts'
export { contactsOf } from './contacts/queries.ts'
export { identify, type KnownIds, keysOfPeople, knownIds } from './identify.ts'
export type { Profile } from './identity.ts'
export { userJobs } from './jobs.ts'
export { forgetTokens } from './push-targets/forget-tokens.ts'
export { pushTargetsOf } from './push-targets/queries.ts'
export { devicesOf, eraseUser, findErasable, findIdsOf, findSurvivors, findUsers, type Merge, resolveIds } from './queries.ts'
export { userRoutes } from './routes.ts'
export { Identifier, profile, User, type UserRow } from './schema.ts'
export { searchedBy, searchedInPassing } from './search/queries.ts'
export { findPresent, presentUsers, requireUser } from './service.ts'
export { type Arrival, upsertPeople } from './upsert-people.ts'
