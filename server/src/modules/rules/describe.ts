/** Describes a rule in English. */
import type { Names } from './conditions/condition.ts'
import { type Group, groupOf, kindOf } from './nodes.ts'
import type { Rule } from './rule.ts'

/** Describes a rule, such as `plan is “pro” and not in the list “VIP”`. A reference without a name is described by its id. */
export function describeRule(rule: Rule, names: Names): string {
  const group = groupOf(rule)
  return group ? describeGroup(group, names) : kindOf(rule).describe(rule, names)
}

function describeGroup({ is, of }: Group, names: Names): string {
  const [first, ...others] = of
  switch (is) {
    case 'all':
      return joined(of, 'and', names)
    case 'any':
      return joined(of, 'or', names)
    case 'none':
      return others.length === 0 ? describeNot(first as Rule, names) : `not (${joined(of, 'or', names)})`
    case 'not':
      return describeNot(first as Rule, names)
    default:
      return is satisfies never
  }
}

/** Puts nested groups in parentheses, and a comma after a part with `where`, so that the parts stay distinct. */
function joined(rules: readonly Rule[], word: 'and' | 'or', names: Names): string {
  const parts = rules.map((rule) => (isSimple(rule) || rules.length === 1 ? describeRule(rule, names) : `(${describeRule(rule, names)})`))
  return parts.map((part, index) => (index === parts.length - 1 ? part : `${part}${part.includes(' where ') ? ',' : ''} ${word} `)).join('')
}

/** Whether a rule needs no parentheses. */
function isSimple(rule: Rule): boolean {
  const group = groupOf(rule)
  return !group || group.is === 'none' || group.is === 'not' || (group.of.length === 1 && isSimple(group.of[0] as Rule))
}

const describeNot = (rule: Rule, names: Names) => {
  const description = describeRule(rule, names)
  return /^(in|subscribed|unsubscribed|confirmed) /.test(description) && !groupOf(rule) ? `not ${description}` : `not (${description})`
}
