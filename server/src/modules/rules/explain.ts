/** Explains why a rule holds for a user or does not. */
import { type Static, Type } from 'typebox'
import { Exact, OneOf } from '../../lib/shapes.ts'
import type { CompiledRule } from './compile.ts'
import type { UserFacts } from './conditions/condition.ts'
import { GROUPS, groupOf, pathIn } from './nodes.ts'
import type { Rule } from './rule.ts'

export const Explanation = Exact(
  {
    path: Type.String({ description: 'The path in the rule; empty for the whole rule.' }),
    is: OneOf([...GROUPS, 'condition']),
    passes: Type.Boolean({ description: 'Whether this part of the rule holds for the user.' }),
    condition: Type.Optional(Type.Unsafe<object>({ type: 'object', description: 'The condition as written. Conditions only.' })),
    seen: Type.Optional(
      Type.Unsafe<unknown>({
        description:
          'The evidence for the result. Conditions only. It depends on the kind of condition: the value of the attribute or null; the `count` and `times` of the ' +
          'matching events, as many as the condition needs; the `time` of the first or last event; whether the user is in the ' +
          'list; the `state` of the subscription; the user’s entrances into the journey; the value of each device; or the number of the bucket.',
      }),
    ),
    of: Type.Optional(
      Type.Array(Type.Unsafe<object>({ type: 'object' }), { description: 'The explanations of the rules in the group. Groups only.' }),
    ),
  },
  { title: 'Explanation' },
)
export type Explanation = Static<typeof Explanation>

/** The tree of a rule with the result and the evidence of each part for a user now. */
export function explainRule({ rule, conditions }: CompiledRule, facts: UserFacts, nowMs: number): Explanation {
  const leaves = new Map(
    conditions.map(({ path, condition, compiled }) => [
      path,
      { path, is: 'condition' as const, passes: compiled.holds(facts, nowMs), condition, seen: compiled.evidence(facts, nowMs) },
    ]),
  )
  return explain(rule, '', leaves)
}

function explain(rule: Rule, path: string, leaves: ReadonlyMap<string, Explanation>): Explanation {
  const group = groupOf(rule)
  if (!group) return leaves.get(path) as Explanation
  const { is } = group
  const of = group.of.map((child, index) => explain(child, pathIn(path, is, index), leaves))
  return { path, is, passes: PASSES[is](of), of }
}

const PASSES: Record<Exclude<Explanation['is'], 'condition'>, (of: Explanation[]) => boolean> = {
  all: (of) => of.every(({ passes }) => passes),
  any: (of) => of.some(({ passes }) => passes),
  none: (of) => !of.some(({ passes }) => passes),
  not: ([only]) => !only?.passes,
}
