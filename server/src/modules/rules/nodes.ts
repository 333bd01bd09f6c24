/** Reads a rule as a tree of groups, with conditions as leaves. */
import type { ConditionKind } from './conditions/condition.ts'
import * as registry from './conditions/index.ts'
import type { Condition, Rule } from './rule.ts'

const kinds: Record<string, ConditionKind> = registry

export const KIND_NAMES = Object.keys(kinds)

/** The names of groups. `not` contains one rule, the others several. */
export const GROUPS = ['all', 'any', 'none', 'not'] as const

export type Group = { is: (typeof GROUPS)[number]; of: readonly Rule[] }

/** Reads a rule as a group; undefined if it is a condition. */
export function groupOf(rule: Rule): Group | undefined {
  const is = GROUPS.find((name) => Object.hasOwn(rule, name))
  if (!is) return undefined
  const inside = (rule as Record<string, Rule | Rule[]>)[is]
  return { is, of: [inside].flat() as Rule[] }
}

/** The path of a rule in a group. */
export const pathIn = (path: string, is: Group['is'], index: number): string =>
  `${path}${path === '' ? '' : '.'}${is}${is === 'not' ? '' : `[${index}]`}`

/** The name of the kind of a condition. */
export function kindNameOf(condition: object): keyof typeof registry {
  const name = KIND_NAMES.find((one) => Object.hasOwn(condition, one))
  if (name === undefined) throw new Error('A checked condition has no kind.')
  return name as keyof typeof registry
}

/** The kind of a condition. */
export const kindOf = (condition: object): ConditionKind => kinds[kindNameOf(condition)] as ConditionKind

/** The conditions of a rule in the order of the rule, each with its path. */
export function conditionsOf(rule: Rule, path = ''): { path: string; condition: Condition }[] {
  const group = groupOf(rule)
  if (!group) return [{ path, condition: rule as Condition }]
  return group.of.flatMap((child, index) => conditionsOf(child, pathIn(path, group.is, index)))
}
