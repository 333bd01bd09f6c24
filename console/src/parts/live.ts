import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useProject } from '../session/project.tsx'
import { keyOf } from './data.ts'

/** How often what changes by itself is read again while the page is seen. TanStack Query stops while it is hidden. */
export const LIVE_MS = 2000

export type LiveState = 'connecting' | 'live' | 'polling'

/**
 * Reads these paths again whenever the server says that something changed. Where the stream cannot be had they are polled:
 * give `refetchInterval` of the reading the interval that this returns.
 */
export function useLive(stream: string | null, paths: string[]): { state: LiveState; refetchInterval: number | false } {
  const client = useQueryClient()
  const { id } = useProject()
  const [state, setState] = useState<LiveState>(stream === null ? 'polling' : 'connecting')
  const watched = paths.join(' ')
  useEffect(() => {
    if (stream === null) return
    const source = new EventSource(stream, { withCredentials: true })
    const again = () => {
      for (const path of watched.split(' ')) void client.invalidateQueries({ queryKey: keyOf(id, path) })
    }
    source.onopen = () => setState('live')
    source.onmessage = again
    source.onerror = () => setState('polling')
    return () => source.close()
  }, [stream, watched, client, id])
  return { state, refetchInterval: state === 'live' ? false : LIVE_MS }
}
