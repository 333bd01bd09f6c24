/**
 * Lists of people. Owns `lists`, `list_versions`, `list_people`, `list_counts`, `list_clocks` and `event_times`. A static list has those who were put
 * into it, a dynamic one those for whom its rule holds. Promises: who is in a list is what a fresh look at everything would say, at any
 * instant; the members of a list stay until those of a new rule are complete; lists never lead back to themselves; and
 * an archived list, or one of another project, is no list to anybody.
 */
export { createBuilder, removeRetired } from './building/build.ts'
export { loadFacts } from './live/facts.ts'
export { lapse } from './live/lapse.ts'
export { addMembers } from './live/members.ts'
export { erasePeople, mergePeople } from './live/people.ts'
export { lockLists, lockListsShared, projectsDue } from './live/queries.ts'
export { type Move, reevaluate } from './live/reevaluate.ts'
export { loadRegistry, type Registry } from './live/registry.ts'
export { keepTime, rebuildListsMentioning, rebuildListsReaching } from './live/versions.ts'
export { audienceAfter, membersAmong, sizeOf, standingsIn } from './members/audience/queries.ts'
export { findList, findListIds } from './queries.ts'
export { segmentRoutes } from './routes.ts'
export { checkRule } from './rules/check.ts'
export { type CompiledRule, compileRule, matchesTracker, references } from './rules/compile.ts'
export { type EventTest, type Rule, RuleSchema } from './rules/rule.ts'
