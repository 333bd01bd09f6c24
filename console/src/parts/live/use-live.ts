import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useSyncExternalStore } from 'react'
import { ask } from '../../session/asking.ts'
import { onSessionContinued } from '../../session/ended.ts'
import { useProject } from '../../session/project.tsx'
import { type Connection, createConnection } from './connection.ts'

const connections = new Map<number, Connection>()

/** The connection of a project, which all screens of this page share. */
function connectionOf(projectId: number): Connection {
  const known = connections.get(projectId)
  if (known) return known
  const connection = createConnection({
    async open(topics, signal) {
      const reply = await ask(`/api/client/stream?${new URLSearchParams({ topics: topics.join() })}`, {
        headers: { accept: 'text/event-stream', 'carillon-project': String(projectId) },
        signal,
      })
      return { status: reply.status, text: textOf(reply) }
    },
    wait: (ms, signal) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, ms)
        signal.addEventListener('abort', () => {
          clearTimeout(timer)
          resolve()
        })
      }),
    isSeen: () => document.visibilityState === 'visible',
  })
  connections.set(projectId, connection)
  document.addEventListener('visibilitychange', connection.refresh)
  onSessionContinued(connection.reopen)
  return connection
}

async function* textOf({ body }: Response): AsyncGenerator<string> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) yield part.value
}

/**
 * Watches a topic of the project, if there is one. Returns whether its changes arrive. While it returns false, the caller reads again every
 * few seconds.
 */
export function useLive<T>(topic: string | null, onState: (state: T) => void): boolean {
  const { id } = useProject()
  const connection = connectionOf(id)
  const latest = useRef(onState)
  useEffect(() => {
    latest.current = onState
  })
  useEffect(() => (topic === null ? undefined : connection.watch(topic, (state) => latest.current(state as T))), [connection, topic])
  return useSyncExternalStore(connection.onChange, () => topic !== null && connection.isLive(topic))
}

/** When a topic changes, reads again everything whose path begins with this one. Returns whether its changes arrive. */
export function useLiveReads(topic: string | null, path: string): boolean {
  const { id } = useProject()
  const client = useQueryClient()
  return useLive(topic, () => {
    void client.invalidateQueries({
      predicate: ({ queryKey: [kind, project, read] }) => kind === 'api' && project === id && String(read).startsWith(path),
    })
  })
}
