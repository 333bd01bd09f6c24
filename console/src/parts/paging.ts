/** A page of a list, as the API returns it. */
export type Paged<T> = { results: T[]; nextCursor: string | null; prevCursor: string | null }

/** Which page is open; members of the address and of the request. */
export type Paging = { cursor?: string; page?: 'prev' }

/** Reads the paging of an address. */
export const pagingOf = ({ cursor, page }: Record<string, unknown>): Paging => ({
  ...(typeof cursor === 'string' && { cursor }),
  ...(page === 'prev' && { page }),
})
