import type { Paging } from '../../parts/paging.ts'

/** The views of a captured message. */
export const TABS = ['preview', 'text', 'html', 'problems', 'links', 'headers', 'source'] as const
export type Tab = (typeof TABS)[number]

/** The message that was shown first in a view of the inbox, such as the results of a search. */
export type First = { view: string; id: number }

/** The message that is shown as long as none is chosen: the newest when the view was opened, which stays while others arrive. */
export const firstIn = (view: string, [newest]: number[], first: First | undefined): First | undefined =>
  newest === undefined ? undefined : first?.view === view ? first : { view, id: newest }

/** The address of the inbox. */
export type InboxSearch = Paging & { q?: string; message?: number; tab?: Tab }
