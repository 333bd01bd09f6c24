import type { CarillonError, Client, components } from '@carillon/sdk'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { keyOf } from '../../parts/data.ts'
import { readAll } from '../../parts/paging.ts'
import { useApi, useProject } from '../../session/project.tsx'

/** A subscription type with the state of a user. */
export type Subscription = components['schemas']['UserSubscription']

/** The states as the API numbers them. */
export const STATES = ['unsubscribed', 'subscribed', 'confirmed'] as const

/** What reaches the user depends on the subscriptions. */
export const REACHABILITY = '/api/client/users/{userId}/reachability'

export const SUBSCRIPTIONS = '/api/client/users/{userId}/subscriptions'
const PAGE_MAX = 100

/**
 * Reads every subscription type with the state of a user. Pages are read, because the API answers few requests for everything in a minute.
 * Throws what the requests throw.
 */
export async function readSubscriptions(api: Client, userId: string, signal?: AbortSignal): Promise<Subscription[]> {
  const { rows } = await readAll((cursor) =>
    api.get(SUBSCRIPTIONS, {
      path: { userId },
      query: { limit: PAGE_MAX, ...(cursor !== undefined && { cursor }) },
      ...(signal && { signal }),
    }),
  )
  return rows
}

/** Every subscription type with the state of a user. */
export function useSubscriptions(userId: string): UseQueryResult<Subscription[], CarillonError> {
  const api = useApi()
  const { id } = useProject()
  return useQuery<Subscription[], CarillonError>({
    queryKey: keyOf(id, SUBSCRIPTIONS, { all: true, path: { userId } }),
    queryFn: ({ signal }) => readSubscriptions(api, userId, signal),
  })
}
