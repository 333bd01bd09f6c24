import { type ListSearch, listSearchOf } from './paging.ts'

/** The address of a list whose archived objects can be shown instead of the others. */
export type ArchivedSearch = ListSearch & { show?: 'archived' }

export const archivedSearchOf = (search: Record<string, unknown>): ArchivedSearch => ({
  ...listSearchOf(search),
  ...(search.show === 'archived' && { show: 'archived' }),
})

/** The query of the API for the search parameters of a page. */
export const archivedQueryOf = ({ show, ...search }: ArchivedSearch) => ({ ...search, ...(show && { archived: 'true' as const }) })
