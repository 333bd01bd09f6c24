/** What a rule saw of a user, for the trail. Pure. */
import { pathOf } from '../../../lib/attribute-paths.ts'
import type { CompiledRule, UserFacts } from '../../rules/index.ts'
import type { RuleResult } from '../steps/step.ts'

const CONDITIONS_SHOWN_MAX = 5

/** The result of a rule for a user at an instant. */
export function resultOf(rule: CompiledRule, facts: UserFacts, nowMs: number): RuleResult {
  const next = rule.nextChangeAt(facts, nowMs)
  const seen: Record<string, unknown> = {}
  for (const { path, condition, compiled } of rule.conditions.slice(0, CONDITIONS_SHOWN_MAX)) {
    seen[nameOf(condition as Record<string, unknown>, path)] = compiled.evidence(facts, nowMs) ?? null
  }
  return { holds: rule.holds(facts, nowMs), nextChangeAt: next === null ? null : new Date(next), seen }
}

/** The attribute, event or other thing that a condition is about. */
function nameOf(condition: Record<string, unknown>, path: string): string {
  if (typeof condition.attribute === 'string') return condition.attribute
  for (const kind of ['event', 'list', 'subscription', 'campaign', 'journey'])
    if (typeof condition[kind] === 'string' || typeof condition[kind] === 'number') return `${kind}:${condition[kind]}`
  return path
}

/** What was seen, without attributes of these top-level keys of `data` (D-ATTR-1). */
export const withoutAttributes = (seen: Record<string, unknown>, keys: ReadonlySet<string>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(seen).filter(([name]) => !keys.has(pathOf(name)?.[0] ?? '')))
