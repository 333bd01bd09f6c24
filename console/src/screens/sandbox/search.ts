import type { Paging } from '../../parts/paging.ts'

/** The views of a captured message. */
export const TABS = ['preview', 'text', 'html', 'problems', 'links', 'headers', 'source'] as const
export type Tab = (typeof TABS)[number]

/** The address of the inbox. */
export type InboxSearch = Paging & { q?: string; message?: number; tab?: Tab }
