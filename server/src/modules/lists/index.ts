/**
 * Lists of people. Owns `lists`, `list_versions`, `list_people`, `list_counts`, `list_clocks` and `event_times`. A static list has those who were put
 * into it, a dynamic one those for whom its rule holds. Promises: who is in a list is what a fresh look at everything would say, at any
 * instant; the members of a list stay until those of a new rule are complete; lists never lead back to themselves; and
 * an archived list, or one of another project, is no list to anybody.
 */
export { createBuilder, removeRetired } from './building/build.ts'
export { keepTime, rebuildListsMentioning, rebuildListsReaching } from './building/versions.ts'
export { lapse } from './live/due.ts'
export { type Move, reevaluate } from './live/evaluate.ts'
export { loadFacts } from './live/load-facts.ts'
export { addMembers } from './live/members.ts'
export { erasePeople, mergePeople } from './live/merges.ts'
export { lockLists, lockListsShared, projectsDue } from './live/queries.ts'
export { loadRegistry, type Registry } from './live/registry.ts'
export { audienceAfter, membersAmong, sizeOf, standingsIn } from './members/audience.queries.ts'
export { findList, findListIds } from './queries.ts'
export { segmentRoutes } from './routes.ts'
