import type { Draft } from '../../parts/rules/rule.ts'

const SEARCHED = ['external_id', 'email', 'phone'] as const

type Searched = { [A in (typeof SEARCHED)[number]]?: string | null }

/** So many spellings of a search become conditions of an attribute. A rule has at most 100 conditions. */
const SPELLINGS_MAX = 8

/**
 * The search and the rule that the list of users is filtered by, as one rule. The search finds letters in either case, and rules do not: they
 * get the spellings of the users who are shown.
 */
export function listRuleOf(q: string | undefined, rule: Draft | undefined, shown: Searched[]): Draft {
  const found: Draft[] = q === undefined ? [] : [{ any: SEARCHED.flatMap((attribute) => conditionsOf(attribute, q, shown)) }]
  const [only, other] = [...found, ...(rule === undefined ? [] : [rule])]
  if (only === undefined || other === undefined) return only ?? { all: [] }
  // Beside the search in one group, so that the rule does not get a level deeper.
  return { all: [only, ...(Array.isArray(other.all) ? (other.all as Draft[]) : [other])] }
}

function conditionsOf(attribute: (typeof SEARCHED)[number], q: string, shown: Searched[]): Draft[] {
  // Phone numbers have no letters.
  const usual = attribute === 'phone' ? [q] : [q, q.toLowerCase(), q.toUpperCase()]
  const spellings = new Set([...usual, ...shown.flatMap((user) => spellingsIn(user[attribute] ?? '', q))])
  return [...spellings].slice(0, SPELLINGS_MAX).map((contains) => ({ attribute, contains }))
}

const spellingsIn = (text: string, q: string): string[] => text.match(new RegExp(q.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'giu')) ?? []
