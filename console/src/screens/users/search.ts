import { type ListSearch, listSearchOf, ruleOf } from '../../parts/paging.ts'
import type { Draft } from '../../parts/rules/rule.ts'

/** What the timeline of a user shows. */
export const SHOWN = ['all', 'events', 'messages', 'journeys'] as const
export type Shown = (typeof SHOWN)[number]

/** What the list of users is filtered by, and its page. */
export type UsersSearch = ListSearch & { rule?: Draft }

/** The address of the list: what it shows, and whether the rule is open beside it. */
export type UsersAddress = UsersSearch & { panel?: 'rule' }

export function usersAddressOf(search: Record<string, unknown>): UsersAddress {
  const rule = ruleOf(search.rule)
  return { ...listSearchOf(search), ...(rule !== undefined && { rule }), ...(search.panel === 'rule' && { panel: 'rule' }) }
}
