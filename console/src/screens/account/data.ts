/** Reading and writing of the account. */
import type { CarillonError } from '@carillon/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../session/api.ts'

/** Reads an endpoint of the console. */
export const useAccountRead = <T>(path: string) =>
  useQuery<T, CarillonError>({ queryKey: ['account', path], queryFn: () => call<T>('GET', path) })

/** Writes to the console, and reads everything of the account again. */
export function useAccountWrite<A, T = unknown>(write: (args: A) => Promise<T>, onDone?: (result: T) => void) {
  const client = useQueryClient()
  return useMutation<T, CarillonError, A>({
    mutationFn: write,
    onSuccess: async (result) => {
      await client.invalidateQueries({ queryKey: ['account'] })
      onDone?.(result)
    },
  })
}
