/** Reading from the API and writing to it. */
import type { CarillonError, Client, Options, PathOf, Reply } from '@carillon/sdk'
import { keepPreviousData, type UseQueryOptions, type UseQueryResult, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { lastWrite, saying } from '../session/last-write.ts'
import { useApi, useProject } from '../session/project.tsx'
import { type Paged, readAll } from './paging.ts'

type ReadOptions<T> = Pick<UseQueryOptions<T, CarillonError>, 'enabled' | 'refetchInterval' | 'staleTime' | 'structuralSharing'> & {
  /** Shows what was read before while other parameters are read: for filters and pages. */
  keepsPrevious?: boolean
}

type Given<P extends PathOf<'get'>> = Record<never, never> extends Options<P, 'get'> ? Options<P, 'get'> | undefined : Options<P, 'get'>

/** The key under which a reading is kept: the project, the path as the API names it, its parameters. */
export const keyOf = (projectId: number, path: string, options?: object) => ['api', projectId, path, ...(options ? [options] : [])]

/**
 * Without what was read before, once the server says that it does not exist: an erased user, or a list that another member has archived, must
 * not look alive. After other errors what was read stays.
 */
function withoutGone<T>(read: UseQueryResult<T, CarillonError>): UseQueryResult<T, CarillonError> {
  return read.error?.status === 404 && read.data !== undefined ? ({ ...read, data: undefined } as UseQueryResult<T, CarillonError>) : read
}

/** Reads from the API. Reads with the same path and parameters share one request. */
export function useRead<P extends PathOf<'get'>>(
  path: P,
  options: Given<P>,
  { keepsPrevious, ...query }: ReadOptions<Reply<P, 'get'>> = {},
): UseQueryResult<Reply<P, 'get'>, CarillonError> {
  const api = useApi()
  const { id } = useProject()
  const read = useQuery<Reply<P, 'get'>, CarillonError>({
    queryKey: keyOf(id, path, options),
    queryFn: ({ signal }) => (api.get as (path: string, options: object) => Promise<Reply<P, 'get'>>)(path, { ...options, signal }),
    ...(keepsPrevious && { placeholderData: keepPreviousData }),
    ...query,
  })
  return withoutGone(read)
}

/** The paths that are read page by page, without other parameters than those of a query. */
type PagedPath = { [P in PathOf<'get'>]: Reply<P, 'get'> extends Paged<unknown> ? P : never }[PathOf<'get'>]
type Row<P extends PagedPath> = Reply<P, 'get'> extends Paged<infer T> ? T : never

const PAGE_MAX = 100

/**
 * Reads everything under a path, one page after another, for what is chosen or looked up by its name: the API searches a page, and not
 * what was read of it. Reads up to 10,000 rows.
 */
export function useReadAll<P extends PagedPath>(
  path: P,
  query: Record<string, string> = {},
  options: ReadOptions<Row<P>[]> = {},
): UseQueryResult<Row<P>[], CarillonError> {
  const api = useApi()
  const { id } = useProject()
  const read = (cursor: string | undefined, signal: AbortSignal) =>
    (api.get as (path: string, options: object) => Promise<Paged<Row<P>>>)(path, {
      query: { ...query, limit: PAGE_MAX, ...(cursor !== undefined && { cursor }) },
      signal,
    })
  return useQuery<Row<P>[], CarillonError>({
    queryKey: keyOf(id, path, { all: true, query }),
    queryFn: async ({ signal }) => (await readAll((cursor) => read(cursor, signal))).rows,
    ...options,
  })
}

/**
 * Writes to the API. Afterwards, everything that was read from paths that begin with one of `changes` is read again. A toast that `onDone`
 * shows offers the request as code.
 */
export function useWrite<A, T>(write: (api: Client, args: A) => Promise<T>, changes: string[], onDone?: (result: T, args: A) => void) {
  const api = useApi()
  const { id } = useProject()
  const client = useQueryClient()
  return useMutation<T, CarillonError, A>({
    mutationFn: (args) => write(api, args),
    meta: { isOfMember: true },
    onSuccess: async (result, args) => {
      // Nothing was awaited since its reply that another could have come with.
      const sent = lastWrite()
      await client.invalidateQueries({
        predicate: ({ queryKey: [kind, project, path] }) =>
          kind === 'api' && project === id && changes.some((changed) => String(path).startsWith(changed)),
      })
      saying(sent, () => onDone?.(result, args))
    },
  })
}
