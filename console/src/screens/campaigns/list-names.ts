import { useQueries } from '@tanstack/react-query'
import { keyOf } from '../../parts/data.ts'
import { useApi, useProject } from '../../session/project.tsx'

const LIST = '/api/client/lists/{listId}'
const KEPT_MS = 300_000

/** The names of these lists, as far as they were read, by their ids. */
export function useListNames(ids: number[]): ReadonlyMap<number, string> {
  const api = useApi()
  const project = useProject()
  return useQueries({
    queries: [...new Set(ids)].map((listId) => {
      const options = { path: { listId } }
      return {
        queryKey: keyOf(project.id, LIST, options),
        queryFn: ({ signal }: { signal: AbortSignal }) => api.get(LIST, { ...options, signal }),
        staleTime: KEPT_MS,
      }
    }),
    combine: (results) => new Map(results.flatMap(({ data }): [number, string][] => (data ? [[data.id, data.name]] : []))),
  })
}
