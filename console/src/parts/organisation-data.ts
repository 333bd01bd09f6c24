/** Reading and writing of what belongs to the organisation: the client names no project. */
import type { CarillonError, Client, Options, PathOf, Reply } from '@carillon/sdk'
import { type UseQueryResult, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { openClient } from '../session/client.ts'
import { refreshSession } from '../session/index.ts'
import { keepingLastWrite, lastWrite, saying } from '../session/last-write.ts'
import { keyOf } from './data.ts'

const api = keepingLastWrite(openClient())
/** In the place of a project in the keys of what was read. */
const NO_PROJECT = 0

/** Reads from the API as a member of the organisation. */
export const useOrganisationRead = <P extends PathOf<'get'>>(
  path: P,
  options: Options<P, 'get'>,
): UseQueryResult<Reply<P, 'get'>, CarillonError> =>
  useQuery<Reply<P, 'get'>, CarillonError>({
    queryKey: keyOf(NO_PROJECT, path, options),
    queryFn: ({ signal }) => (api.get as (path: string, options: object) => Promise<Reply<P, 'get'>>)(path, { ...options, signal }),
  })

/**
 * Writes to the API as a member of the organisation, and reads its objects and the session again. A toast that `onDone` shows at once
 * offers the request as code.
 */
export function useOrganisationWrite<A, T>(write: (api: Client, args: A) => Promise<T>, onDone?: (result: T, args: A) => unknown) {
  const client = useQueryClient()
  return useMutation<T, CarillonError, A>({
    mutationFn: (args) => write(api, args),
    meta: { isOfMember: true },
    onSuccess: async (result, args) => {
      const sent = lastWrite()
      await client.invalidateQueries({ queryKey: ['api', NO_PROJECT] })
      // The frame opens only projects that the session has.
      await refreshSession()
      await saying(sent, () => onDone?.(result, args))
    },
  })
}
