/** Which campaigns and lists use a list. Pure. */
import type { components } from '@carillon/sdk'

type Campaign = Pick<components['schemas']['Campaign'], 'id' | 'name' | 'list_ids' | 'exclusion_list_ids' | 'event_rule'>
type List = Pick<components['schemas']['List'], 'id' | 'name' | 'rule'>

export type Use = { key: string; name: string; how: 'campaign' | 'exclusion' | 'event' | 'list' }

/** Whether a rule refers to a list. */
function refersTo(rule: unknown, listId: number): boolean {
  if (typeof rule !== 'object' || rule === null) return false
  if (Array.isArray(rule)) return rule.some((part) => refersTo(part, listId))
  return Object.entries(rule).some(([name, value]) => (name === 'list' ? value === listId : refersTo(value, listId)))
}

export const usesIn = (listId: number, campaigns: Campaign[], lists: List[]): Use[] => [
  ...campaigns.flatMap(({ id, name, list_ids, exclusion_list_ids, event_rule }) => [
    ...(list_ids.includes(listId) ? [{ key: `to-${id}`, name, how: 'campaign' as const }] : []),
    ...(exclusion_list_ids.includes(listId) ? [{ key: `not-${id}`, name, how: 'exclusion' as const }] : []),
    ...(refersTo(event_rule?.user, listId) ? [{ key: `on-${id}`, name, how: 'event' as const }] : []),
  ]),
  ...lists.filter(({ rule }) => refersTo(rule, listId)).map(({ id, name }) => ({ key: `list-${id}`, name, how: 'list' as const })),
]
