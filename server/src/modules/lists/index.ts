/**
 * Lists of people. Owns `lists`, `list_versions`, `list_memberships`, `list_counts`, `list_clocks` and `tracked_times`. A static list has those who were put
 * into it, a dynamic one those for whom its rule holds. Promises: who is in a list is what a fresh look at everything would say, at any
 * instant; the members of a list stay until those of a new rule are complete; lists never lead back to themselves; and
 * an archived list, or one of another project, is no list to anybody.
 */
export { rebuildListsDependingOn } from './building/versions.ts'
export { listJobs } from './jobs.ts'
export { evaluateDueMemberships } from './live/due.ts'
export { evaluateMemberships } from './live/evaluate.ts'
export { loadFacts } from './live/load-facts.ts'
export { addMembers } from './live/members.ts'
export { type MembershipChange, membershipEventsOf } from './live/membership-changes.ts'
export { eraseMemberships, mergeMemberships } from './live/merges.ts'
export { lockLists, lockListsShared, projectsWithDueMemberships, tryLockListsShared } from './live/queries.ts'
export { audienceAfter, audienceSize, membersAmong, membershipsIn } from './members/audience.queries.ts'
export { findList, findListIds } from './queries.ts'
export { listRoutes } from './routes.ts'
export { archiveUnused, lockForArchiving } from './service.ts'
