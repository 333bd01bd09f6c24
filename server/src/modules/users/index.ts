/**
 * Users. Owns `users`, `user_anonymous_ids`, `user_search`, `devices`, `identity_epochs`, `erasures`, `erased_ids`, `attributes`, `attribute_profiling` and
 * `attribute_profiles`. A user has at most one external id and any number of anonymous ids; `identity.ts` decides which user ids belong to.
 * Promises: the same ids lead to the same user, by every endpoint and under any load; a merge loses nothing; and an erased user is in no
 * reply from the moment of the request.
 */

export { attributesInUse } from './attribute-profiles/attributes-in-use.ts'
export { dataKeys } from './attribute-profiles/data-keys.ts'
export { countUsers, samplesOf, usedAttributes } from './attribute-profiles/queries.ts'
export { Coverage, Samples } from './attribute-profiles/schema.ts'
export { withoutKeys } from './attributes.ts'
export { checkBatch, checkDeferredItem, checkItem, pathFaults, phoneOf, toProfile } from './batch.ts'
export {
  appendSavedChanges,
  appendUserChanges,
  joinChanges,
  ownChanges,
  type QueuedUserChange,
  type SystemEvent,
  type UserChange,
  type UserChanges,
} from './changes.ts'
export { contactsOf, newestWithPhone, ownersOfEmails, ownersOfPhones } from './contact-details.queries.ts'
export { clearDeviceTokens } from './devices/clear-tokens.ts'
export { devicesOf, pushDevicesOf } from './devices/queries.ts'
export { namesOfUser } from './erased-ids.queries.ts'
export { type ErasedIds, erasedAddresses, erasedSince, forgetErasedIds, requireSameErasures, withoutErased } from './erased-ids.ts'
export {
  addToReceipt,
  contactsWithMerged,
  contactsWithoutOwner,
  eraseUsers,
  findErasable,
  finishErasure,
  idsToErase,
  idsWithMerged,
  lockLiveUsers,
  namesWithMerged,
  usersWithMerges,
} from './erasure.queries.ts'
export { deleteUser, holdLiveUsers, unlinkRemoved } from './erasure.ts'
export { EXPORTED } from './export.ts'
export {
  addressPositions,
  type IdentifiedUser,
  identifyUsers,
  isAlwaysApplied,
  type KnownIds,
  keysOfUpdate,
  knownIds,
  knownIdsAhead,
} from './identify-users.ts'
export { mergeData, type Profile, sameJson, type UserRecord, type UserUpdate, withValuesAtPaths } from './identity.ts'
export { ERASE } from './job-names.ts'
export { userJobs } from './jobs.ts'
export { MERGE_DELAY_MAX_MS, mergesAfter, mergesInto, mergesSince } from './merges.queries.ts'
export { namedUser } from './named-user.ts'
export { userListing } from './pages.queries.ts'
export {
  findIdsOf,
  findMergedInto,
  findUsers,
  isLive as isLiveUser,
  isLiveRow as isLiveUserRow,
  resolveIds,
  type UserMerge,
} from './queries.ts'
export { keysOfChange, type MergedInto, mergedIntoOf, type ResolvedChanges, resolveQueuedChanges } from './queued-changes.ts'
export { userRoutes } from './routes.ts'
export { type BatchResult, Identifier, profile, profilePaths, User, UserBatch, type UserRow, UserUpsert } from './schema.ts'
export { matchesQuery, matchesRecentQuery, type SearchPlan } from './search.queries.ts'
export {
  findLiveUsers,
  hiddenKeysOf,
  listUsers,
  presentBatch,
  requireUser,
  searchPlan,
  userByIds,
  usersForCaller,
} from './service.ts'
export { type KeyedSystemEvent, systemEventsOf } from './system-events.ts'
export { type UpsertOutcome, upsertUsers } from './upsert-users.ts'
export { userStores } from './user-data.queries.ts'
