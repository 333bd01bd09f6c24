/**
 * Rules: conditions on users and events, combined with `all`, `any`, `none` and `not`. Pure: this module checks, compiles, describes and
 * explains rules, evaluates them in memory and writes them as SQL. One endpoint describes their parts. Owns no table. Lists, trigger
 * campaigns and journeys use it.
 */
export { checkRule } from './check.ts'
export { type CompiledRule, compileRule, matchesTracker, referencesOf, type Tracker, type UserFacts } from './compile.ts'
export { ruleComponents } from './components.ts'
export type { JourneyFacts, Names, RuleTables } from './conditions/condition.ts'
export { countFuture } from './conditions/counted.ts'
export { describeRule } from './describe.ts'
export { compileEventRule, EventRule, eventRuleFaults } from './event-rule.ts'
export { Explanation, explainRule } from './explain.ts'
export { REGEL, RULE } from './german.ts'
export { describeDuration, duration, durationMs, durationProblem } from './operators/duration.ts'
export { campaignIdsIn } from './referenced-campaigns.ts'
export { referencesWithin } from './references-within.ts'
export { ruleRoutes } from './routes.ts'
export { type EventTest, LIST_ENTERED, LIST_LEFT, MEMBERSHIP_EVENTS, type Rule, RuleSchema, TESTS_DOCUMENTED } from './rule.ts'
export { matchesEventSql, type RuleSql, ruleSql } from './sql.ts'
