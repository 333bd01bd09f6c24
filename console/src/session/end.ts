/** When the session ends. The server is asked, because other tabs use the session too; the question is no use of it. */
import { CarillonError } from '@carillon/sdk'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import { call, type SessionEnd } from './api.ts'
import { useSessionEnded } from './ended.ts'
import { queryClient } from './query-client.ts'

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
  queryFn: async () => {
    const end = await call<SessionEnd>('GET', 'session/end')
    return { ...end, ahead_ms: Date.parse(end.expires_at) - end.remaining_seconds * 1000 - Date.now() }
  },
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

/** What the clock of the server says, by this browser’s, which may be minutes off. Up to a second ahead, because the server counts whole ones. */
export function useServerClock(): () => number {
  const isEnded = useSessionEnded()
  const { data } = useQuery({ ...endQuery, enabled: !isEnded })
  const ahead = data?.ahead_ms ?? 0
  return useCallback(() => Date.now() + ahead, [ahead])
}

/** Asks the server what its clock says. */
export async function readServerClock(): Promise<number> {
  const { ahead_ms } = await queryClient.fetchQuery(endQuery)
  return Date.now() + ahead_ms
}

/** Uses the session, which postpones its end, at most to its limit. */
export const keepSession = (): Promise<unknown> => call('GET', 'session')
