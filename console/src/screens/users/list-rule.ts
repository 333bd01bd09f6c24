import type { Draft } from '../../parts/rules/rule.ts'

const SEARCHED = ['external_id', 'email', 'phone'] as const

/** The search and the rule that the list of users is filtered by, as one rule. */
export function listRuleOf(q: string | undefined, rule: Draft | undefined): Draft {
  const found: Draft[] = q === undefined ? [] : [{ any: SEARCHED.map((attribute) => ({ attribute, contains: q })) }]
  const [only, other] = [...found, ...(rule === undefined ? [] : [rule])]
  if (only === undefined || other === undefined) return only ?? { all: [] }
  // Beside the search in one group, so that the rule does not get a level deeper.
  return { all: [only, ...(Array.isArray(other.all) ? (other.all as Draft[]) : [other])] }
}
