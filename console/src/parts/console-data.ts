/** Reading and writing of what belongs to members: the account and the team. */
import type { CarillonError } from '@carillon/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../session/api.ts'

const KEY = 'console'

/** The key under which a reading of the console is kept. */
export const consoleKey = (path: string) => [KEY, path]

/** Reads an endpoint of the console; with `everyMs`, repeatedly. */
export const useConsoleRead = <T>(path: string, everyMs?: number) =>
  useQuery<T, CarillonError>({
    queryKey: consoleKey(path),
    queryFn: () => call<T>('GET', path),
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
  })

/** Writes to an endpoint of the console, and reads again everything that was read from such endpoints. */
export function useConsoleWrite<A, T = unknown>(write: (args: A) => Promise<T>, onDone?: (result: T, args: A) => void) {
  const client = useQueryClient()
  return useMutation<T, CarillonError, A>({
    mutationFn: write,
    meta: { isOfMember: true },
    onSuccess: async (result, args) => {
      await client.invalidateQueries({ queryKey: [KEY] })
      onDone?.(result, args)
    },
  })
}
