import { type ArchivedSearch, archivedSearchOf } from '../../parts/archived-search.ts'
import { type ListSearch, ruleOf, textOf } from '../../parts/paging.ts'
import type { Draft } from '../../parts/rules/rule.ts'

/** The views of a list. */
export const VIEWS = ['users', 'rule'] as const
export type View = (typeof VIEWS)[number]

/** The address of the lists: which of them are shown. */
export type ListsSearch = ArchivedSearch & { tag?: string }

export function listsSearchOf(search: Record<string, unknown>): ListsSearch {
  const tag = textOf(search.tag)
  return { ...archivedSearchOf(search), ...(tag !== undefined && { tag }) }
}

/** The address of a list: its view, and the page and search of its users. */
export type OneListSearch = ListSearch & { view?: View }

/** The address of a new list: the rule that it begins with. */
export type NewListSearch = { rule?: Draft }

export function newListSearchOf(search: Record<string, unknown>): NewListSearch {
  const rule = ruleOf(search.rule)
  return rule === undefined ? {} : { rule }
}
