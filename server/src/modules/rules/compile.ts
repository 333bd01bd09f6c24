/** Compiles a rule for evaluation on many users. */
import type { CompiledCondition, Dependency, Need, Reference, Tracker, UserFacts } from './conditions/condition.ts'
import { passesWhere } from './conditions/event-data.ts'
import { conditionsOf, groupOf, kindOf } from './nodes.ts'
import type { Condition, Rule } from './rule.ts'

export type { Dependency, Tracker, UserFacts } from './conditions/condition.ts'

export type CompiledRule = {
  rule: Rule
  dependencies: ReadonlySet<Dependency>
  /** One for each condition on events, in the order of the conditions. */
  trackers: readonly Tracker[]
  references: { lists: number[]; subscriptions: number[]; campaigns: number[]; journeys: number[] }
  needs: Record<Need, boolean>
  /** The conditions in the order of the rule; `path` is relative to the rule. */
  conditions: readonly { path: string; condition: Condition; compiled: CompiledCondition }[]
  holds(facts: UserFacts, nowMs: number): boolean
  /** The earliest instant after now at which a condition can change because time passes; null if none can. */
  nextChangeAt(facts: UserFacts, nowMs: number): number | null
}

/** Compiles a checked rule. */
export function compileRule(rule: Rule): CompiledRule {
  const trackers: Tracker[] = []
  const conditions = conditionsOf(rule).map(({ path, condition }) => {
    const compiled = kindOf(condition).compile(condition, trackers.length)
    if (compiled.tracker) trackers.push(compiled.tracker)
    return { path, condition, compiled }
  })
  const compiled = new Map(conditions.map((entry) => [entry.condition, entry.compiled]))
  const references = referencesOf(rule)
  const idsOf = (kind: Reference['kind']) => [...new Set(references.filter((one) => one.kind === kind).map(({ id }) => id))]
  const hasNeed = (need: Need) => conditions.some((entry) => entry.compiled.needs === need)
  return {
    rule,
    dependencies: new Set(conditions.flatMap((entry) => entry.compiled.dependencies)),
    trackers,
    references: { lists: idsOf('list'), subscriptions: idsOf('subscription'), campaigns: idsOf('campaign'), journeys: idsOf('journey') },
    needs: {
      user: hasNeed('user'),
      subscriptions: hasNeed('subscriptions'),
      devices: hasNeed('devices'),
      lists: hasNeed('lists'),
      journeys: hasNeed('journeys'),
    },
    conditions,
    holds: holdsOf(rule, compiled),
    nextChangeAt: nextChangeOf([...compiled.values()]),
  }
}

type Holds = CompiledRule['holds']

function holdsOf(rule: Rule, compiled: ReadonlyMap<Condition, CompiledCondition>): Holds {
  const group = groupOf(rule)
  if (!group) return (compiled.get(rule as Condition) as CompiledCondition).holds
  const rules = group.of.map((child) => holdsOf(child, compiled))
  const [only] = rules
  switch (group.is) {
    case 'all':
      return (facts, nowMs) => {
        for (const holds of rules) if (!holds(facts, nowMs)) return false
        return true
      }
    case 'any':
      return (facts, nowMs) => {
        for (const holds of rules) if (holds(facts, nowMs)) return true
        return false
      }
    case 'none':
      return (facts, nowMs) => {
        for (const holds of rules) if (holds(facts, nowMs)) return false
        return true
      }
    case 'not':
      return (facts, nowMs) => !(only as Holds)(facts, nowMs)
    default:
      return group.is satisfies never
  }
}

function nextChangeOf(conditions: CompiledCondition[]): CompiledRule['nextChangeAt'] {
  const functions = conditions.flatMap(({ nextChangeAt }) => nextChangeAt ?? [])
  return (facts, nowMs) => {
    let next = Number.POSITIVE_INFINITY
    for (const nextChangeAt of functions) next = Math.min(next, nextChangeAt(facts, nowMs))
    return next === Number.POSITIVE_INFINITY ? null : next
  }
}

/** The references of a rule; `param` is relative to the rule. */
export const referencesOf = (rule: Rule): Reference[] =>
  conditionsOf(rule).flatMap(({ path, condition }) =>
    (kindOf(condition).references?.(condition) ?? []).map((found) => ({
      ...found,
      param: path === '' ? found.param : `${path}.${found.param}`,
    })),
  )

/** Whether a tracker counts this event. The window of the tracker is checked later, when its times are read. */
export const matchesTracker = (
  tracker: Tracker,
  event: { name: string; source: 'api' | 'system'; data: Record<string, unknown>; createdAtMs: number },
  nowMs: number,
): boolean =>
  tracker.names.includes(event.name) &&
  (!tracker.systemOnly || event.source === 'system') &&
  (tracker.sinceMs === null || event.createdAtMs >= tracker.sinceMs) &&
  (tracker.untilMs === null || event.createdAtMs < tracker.untilMs) &&
  passesWhere(tracker, event.data, nowMs)
