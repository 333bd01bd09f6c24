/**
 * Lists of users. Owns `lists`, `list_versions`, `list_memberships`, `list_build_parts`, `list_counts`, `list_days`, `list_clocks` and
 * `tracked_times`. A static list has
 * the users that were added to it, a dynamic list those for whom its rule holds. Promises: the members of a dynamic list are always the
 * users that a query over all data would find; the members of a list stay until those of a new rule are complete; no list depends on
 * itself; and an archived list, or a list of another project, is not found.
 */
export { releaseVersions } from './building/release.ts'
export { rebuildListsDependingOn } from './building/versions.ts'
export { loadNames, unknownReferences } from './check-references.ts'
export { CHECK_DUE } from './job-names.ts'
export { listJobs } from './jobs.ts'
export { dependenciesThrough, namesInRules } from './live/dependencies.ts'
export { evaluateDueMemberships } from './live/due.ts'
export { evaluateMemberships, evaluateMerges } from './live/evaluate.ts'
export { loadFactsFor } from './live/facts-for.ts'
export { type ListWithRule, listsOfUsers, listsThrough } from './live/lists-through.ts'
export { loadFacts } from './live/load-facts.ts'
export { addMembers, changeMembers, removeMembersSince } from './live/members.ts'
export { type MembershipChange, membershipEventsOf } from './live/membership-changes.ts'
export { membersElsewhere } from './live/merges.queries.ts'
export { eraseMemberships, mergeMemberships } from './live/merges.ts'
export { lockLists, lockListsShared, nextMembershipDueAt, projectsWithDueMemberships, tryLockListsShared } from './live/queries.ts'
export { registryOf as listsAhead } from './live/registry.ts'
export {
  audienceAfter,
  audienceSize,
  countMemberships,
  listsOfMembers,
  membersAfter,
  membersAmong,
  membershipsIn,
  membersInZones,
} from './members/audience.queries.ts'
export { explainForUser } from './members/explain.ts'
export { countLists, findList, listListing, listNames, lockUnarchived, staticListsAmong } from './queries.ts'
export { listRoutes } from './routes.ts'
export { archiveUnused, listLists, lockForArchiving } from './service.ts'
export { sizeRows } from './sizes/sizes.ts'
export { listStores } from './user-data.queries.ts'
