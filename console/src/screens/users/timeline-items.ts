import type { CarillonError, Client, components } from '@carillon/sdk'
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { keyOf } from '../../parts/data.ts'
import { LIVE_MS } from '../../parts/live/interval.ts'
import { useApi, useProject } from '../../session/project.tsx'
import type { Shown } from './search.ts'

export type Item = components['schemas']['UserTimelineItem']

/** What was read, and the time from which on it is complete; null if that is all. */
type Items = { rows: Item[]; since: string | null }

export const SHOWN_MAX = 100
export const READ_AGAIN = { refetchInterval: 5 * LIVE_MS }

const PATH = '/api/client/users/{userId}/timeline'
const PAGES_MAX = 10

/** The events of a user and what journeys did with them: pages until there are as many as are shown, because not all of them may be. */
export function useItems(userId: string, show: Shown): UseQueryResult<Items, CarillonError> {
  const api = useApi()
  const { id } = useProject()
  return useQuery<Items, CarillonError>({
    queryKey: keyOf(id, PATH, { path: { userId }, show }),
    queryFn: ({ signal }) => (show === 'messages' ? { rows: [], since: null } : readItems(api, { userId, show, signal })),
    placeholderData: keepPreviousData,
    ...READ_AGAIN,
  })
}

async function readItems(api: Client, { userId, show, signal }: { userId: string; show: Shown; signal: AbortSignal }): Promise<Items> {
  const rows: Item[] = []
  let cursor: string | null = null
  let pages = 0
  do {
    const query: { limit: number; cursor?: string } = { limit: SHOWN_MAX, ...(cursor !== null && { cursor }) }
    const page: { results: Item[]; nextCursor: string | null } = await api.get(PATH, { path: { userId }, query, signal })
    rows.push(...page.results)
    cursor = page.nextCursor
    pages++
  } while (cursor !== null && pages < PAGES_MAX && rows.filter((item) => shows(show, item)).length < SHOWN_MAX)
  return { rows, since: cursor === null ? null : (rows.at(-1)?.created_at ?? null) }
}

/** The events that Carillon writes about a message say what the message says, so that they are among the events only. */
export function shows(show: Shown, { kind, source, data }: Item): boolean {
  if (show === 'messages') return false
  if (show === 'events') return kind !== 'journey'
  return show === 'journeys' ? kind === 'journey' : source !== 'system' || !('message_id' in data)
}
