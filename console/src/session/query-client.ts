import { CarillonError } from '@carillon/sdk'
import { MutationCache, onlineManager, QueryCache, QueryClient } from '@tanstack/react-query'
import { sessionEnded } from './ended.ts'

const FRESH_MS = 10_000
const RETRIES = 2

/** Whether to ask again: the server could not be reached, or failed by itself. Without a network, that is done when it is back. */
const isPassing = (error: unknown) =>
  error instanceof CarillonError && (error.status === 0 ? onlineManager.isOnline() : error.status >= 500)

/** A wrong password is a 401 too; only requests of a signed-in member say that a session has ended. */
const noticeEnd = (error: unknown, isOfMember: boolean) => {
  if (isOfMember && error instanceof CarillonError && error.status === 401) sessionEnded()
}

/** What was read from the server. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: (error, { queryKey: [kind] }) => noticeEnd(error, kind === 'api' || kind === 'console') }),
  mutationCache: new MutationCache({ onError: (error, _, __, { options }) => noticeEnd(error, options.meta?.isOfMember === true) }),
  // Everything is asked at once, also where the browser says that there is no network: the server may be on this machine. A write that waited
  // for one would be made after its member has cancelled it.
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      retry: (count, error) => count < RETRIES && isPassing(error),
      networkMode: 'always',
      refetchOnReconnect: true,
    },
    mutations: { networkMode: 'always' },
  },
})
