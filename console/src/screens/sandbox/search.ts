import type { Paging } from '../../parts/paging.ts'

/** The views of a captured message. */
export const TABS = ['preview', 'text', 'html', 'problems', 'links', 'headers', 'source'] as const
export type Tab = (typeof TABS)[number]

/** The message that was shown first in a view of the inbox, such as the results of a search. */
export type First = { view: string; id: number }

/** The messages of a page, newest first. `isWhole`: no page has older ones. */
type Page = { ids: number[]; isWhole: boolean }

/**
 * The message that is shown as long as none is chosen: the newest when the view was opened, which stays while others arrive. Once it was
 * deleted, it is the newest by then.
 */
export function firstIn(view: string, page: Page, first: First | undefined): First | undefined {
  const [newest] = page.ids
  if (newest === undefined) return undefined
  return first?.view === view && !isDeleted(page, first.id) ? first : { view, id: newest }
}

/** A message that is not on the page may be on one with older messages. */
const isDeleted = ({ ids, isWhole }: Page, id: number): boolean => !ids.includes(id) && (isWhole || ids.some((other) => other < id))

/** The address of the inbox. */
export type InboxSearch = Paging & { q?: string; message?: number; tab?: Tab }
