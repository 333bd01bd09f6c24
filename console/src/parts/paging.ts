import type { Draft } from './rules/rule.ts'

/** A page of a list, as the API returns it. */
export type Paged<T> = { results: T[]; nextCursor: string | null; prevCursor: string | null }

/** Whether a list has no rows. A page of it may have none while others do: rows may be left out of a page, or be deleted meanwhile. */
export const isNothing = ({ results, nextCursor, prevCursor }: Paged<unknown>): boolean =>
  results.length === 0 && nextCursor === null && prevCursor === null

/** Which page is open; members of the address and of the request. */
export type Paging = { cursor?: string; page?: 'prev' }

/** What a list is searched for, and which page is open; members of the address and of the request. */
export type ListSearch = Paging & { q?: string }

/** Reads the paging from a URL. */
export const pagingOf = ({ cursor, page }: Record<string, unknown>): Paging => ({
  ...(typeof cursor === 'string' && { cursor }),
  ...(page === 'prev' && { page }),
})

/** A text in the search parameters of a URL. The router reads a phone number or an id as a number. */
export function textOf(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && text !== '' ? text : undefined
}

/** The rule in a URL. It may be anything that was typed there: the API checks it. */
export const ruleOf = (value: unknown): Draft | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Draft) : undefined

/** Reads the search and the paging of an address. */
export function listSearchOf(search: Record<string, unknown>): ListSearch {
  const q = textOf(search.q)
  return { ...pagingOf(search), ...(q !== undefined && { q }) }
}

type Query = Record<string, string | number | boolean | undefined>

/**
 * The query by which all pages of a list are read. By the latest change, a row that changes meanwhile would move to a page that was read
 * already, and be in none: such a list is read by `id`.
 */
export const queryOfAll = ({ cursor: _, page: __, ...query }: Query): Query => ({
  ...query,
  ...(query.sort === 'updated_at' && { sort: 'id' }),
})

export const ROWS_MAX = 10_000

/** So many options of a field are drawn at a time. The others are found by typing. */
export const OPTIONS_MAX = 100

/** Reads pages one after another, up to a number of rows. Says whether there are more. */
export async function readAll<T>(
  read: (cursor: string | undefined) => Promise<Pick<Paged<T>, 'results' | 'nextCursor'>>,
  most: number = ROWS_MAX,
): Promise<{ rows: T[]; isCut: boolean }> {
  const rows: T[] = []
  let cursor: string | undefined
  do {
    const { results, nextCursor } = await read(cursor)
    rows.push(...results)
    cursor = nextCursor ?? undefined
  } while (cursor !== undefined && rows.length < most)
  return { rows: rows.slice(0, most), isCut: cursor !== undefined || rows.length > most }
}
