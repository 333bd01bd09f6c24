/** A rule as an English sentence. */
import type { Names } from './conditions/condition.ts'
import { type Group, groupOf, kindOf } from './nodes.ts'
import type { Rule } from './rule.ts'

/** Says who is in the list, such as `plan is “pro” and not in the list “VIP”`. What has no name any more is called by its id. */
export function describeRule(rule: Rule, names: Names): string {
  const group = groupOf(rule)
  return group ? sayGroup(group, names) : kindOf(rule).says(rule, names)
}

function sayGroup({ is, of }: Group, names: Names): string {
  const [first, ...others] = of
  switch (is) {
    case 'all':
      return joined(of, 'and', names)
    case 'any':
      return joined(of, 'or', names)
    case 'none':
      return others.length === 0 ? sayNot(first as Rule, names) : `not (${joined(of, 'or', names)})`
    case 'not':
      return sayNot(first as Rule, names)
    default:
      return is satisfies never
  }
}

/** Groups inside stand in parentheses; a comma ends a part that would otherwise run into the next. */
function joined(rules: readonly Rule[], word: 'and' | 'or', names: Names): string {
  const parts = rules.map((rule) => (isSimple(rule) || rules.length === 1 ? describeRule(rule, names) : `(${describeRule(rule, names)})`))
  return parts.map((part, index) => (index === parts.length - 1 ? part : `${part}${part.includes(' where ') ? ',' : ''} ${word} `)).join('')
}

/** Does it say one thing? */
function isSimple(rule: Rule): boolean {
  const group = groupOf(rule)
  return !group || group.is === 'none' || group.is === 'not' || (group.of.length === 1 && isSimple(group.of[0] as Rule))
}

const sayNot = (rule: Rule, names: Names) => {
  const said = describeRule(rule, names)
  return /^(in|subscribed|unsubscribed|confirmed) /.test(said) && !groupOf(rule) ? `not ${said}` : `not (${said})`
}
