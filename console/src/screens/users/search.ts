import type { Paging } from '../../parts/paging.ts'

/** The address of the list. */
export type UsersSearch = Paging & { q?: string }

/** What the timeline of a user shows. */
export const SHOWN = ['all', 'events', 'messages'] as const
export type Shown = (typeof SHOWN)[number]
