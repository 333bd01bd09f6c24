import type { ListSearch } from '../../parts/paging.ts'

/** The views of a list. */
export const VIEWS = ['users', 'rule'] as const
export type View = (typeof VIEWS)[number]

/** The address of a list: its view, and the page and search of its users. */
export type OneListSearch = ListSearch & { view?: View }
