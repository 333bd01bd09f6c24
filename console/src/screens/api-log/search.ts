import { type Paging, pagingOf, textOf } from '../../parts/paging.ts'

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export const RESULTS = ['2xx', '4xx', '5xx'] as const
export const ACTORS = ['key', 'member'] as const

/** The filters, which are members of the address. */
export type Filters = {
  q?: string
  status?: (typeof RESULTS)[number]
  method?: (typeof METHODS)[number]
  actor_type?: (typeof ACTORS)[number]
  actor_id?: string
  is_replay?: 'true'
}

/** The address of the log: the filters, the page, and the request that is open beside it. */
export type LogSearch = Filters & Paging & { request?: number }

/** Reads the search parameters of the URL. An id without its kind is left out, because the API would refuse it. */
export function logSearchOf(search: Record<string, unknown>): LogSearch {
  const status = RESULTS.find((name) => name === search.status)
  const method = METHODS.find((name) => name === search.method)
  const actor_type = ACTORS.find((name) => name === search.actor_type)
  const actor_id = actor_type && textOf(search.actor_id)
  const q = textOf(search.q)
  return {
    ...pagingOf(search),
    ...(q && { q }),
    ...(status && { status }),
    ...(method && { method }),
    ...(actor_type && { actor_type }),
    ...(actor_id && { actor_id }),
    ...(String(search.is_replay) === 'true' && { is_replay: 'true' as const }),
    ...(typeof search.request === 'number' && { request: search.request }),
  }
}
