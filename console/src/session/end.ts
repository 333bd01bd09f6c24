/** When the session ends. The server is asked, because other tabs use the session too; the question is no use of it. */
import { CarillonError } from '@carillon/sdk'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { call, type SessionEnd } from './api.ts'
import { useSessionEnded } from './ended.ts'

/** So long before the end a member is warned. */
const WARNED_SECONDS = 300
/** While the warning is shown, another tab may use the session. */
const WATCHED_SECONDS = 20
/** Timers of browsers are late where the machine slept. */
const LOOKED_SECONDS = 3600

/** The time until the server is asked again: when the warning is due, and while it is shown, when the session may have ended. */
const nextLookMs = (remaining: number): number =>
  1000 * (remaining > WARNED_SECONDS ? Math.min(remaining - WARNED_SECONDS, LOOKED_SECONDS) : Math.min(remaining + 1, WATCHED_SECONDS))

const endQuery = queryOptions({
  queryKey: ['console', 'session/end'],
  queryFn: () => call<SessionEnd>('GET', 'session/end'),
  staleTime: 0,
  refetchInterval: ({ state: { data } }) => nextLookMs(data?.remaining_seconds ?? WARNED_SECONDS),
  refetchIntervalInBackground: true,
})

/** What was read before a session ended says nothing about the next one. */
const isOfEnded = (error: unknown) => error instanceof CarillonError && error.status === 401

/** The end of the session while it is near, else null. */
export function useNearEnd(): SessionEnd | null {
  const isEnded = useSessionEnded()
  const { data, error } = useQuery({ ...endQuery, enabled: !isEnded })
  if (isEnded || data === undefined || isOfEnded(error)) return null
  return data.remaining_seconds <= WARNED_SECONDS ? data : null
}

/** Uses the session, which postpones its end, at most to its limit. */
export const keepSession = (): Promise<unknown> => call('GET', 'session')
