/** Why a rule holds for somebody, or does not. */
import { type Static, Type } from 'typebox'
import { Exact, OneOf } from '../../lib/shapes.ts'
import type { CompiledRule } from './compile.ts'
import type { UserFacts } from './conditions/condition.ts'
import { GROUPS, groupOf, pathIn } from './nodes.ts'
import type { Rule } from './rule.ts'

export const Explanation = Exact(
  {
    path: Type.String({ description: 'Where in the rule; empty for the whole.' }),
    is: OneOf([...GROUPS, 'condition']),
    passes: Type.Boolean({ description: 'Does it hold for the user?' }),
    condition: Type.Optional(Type.Unsafe<object>({ type: 'object', description: 'Of a condition: as it is written.' })),
    seen: Type.Optional(
      Type.Unsafe<unknown>({
        description:
          'Of a condition: what it was decided on. The value of an attribute, or null; `count` and `times` of the events that count, ' +
          'no more than the condition needs; the `time` of the first or the last; membership; `state` of a subscription; ' +
          'the value of each device; the number of the bucket.',
      }),
    ),
    of: Type.Optional(Type.Array(Type.Unsafe<object>({ type: 'object' }), { description: 'Of a group: the same for each rule in it.' })),
  },
  { title: 'Explanation' },
)
export type Explanation = Static<typeof Explanation>

/** The tree of the rule with what each part of it comes to for a person now. */
export function explainRule({ rule, conditions }: CompiledRule, facts: UserFacts, nowMs: number): Explanation {
  const leaves = new Map(
    conditions.map(({ path, condition, compiled }) => [
      path,
      { path, is: 'condition' as const, passes: compiled.holds(facts, nowMs), condition, seen: compiled.seen(facts, nowMs) },
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
