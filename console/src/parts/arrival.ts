import type { UseQueryResult } from '@tanstack/react-query'
import { useState } from 'react'

/** Fields wait for reads, and come whole; or early, where a read cannot begin without a network, or has failed. */
type Arrival = 'waiting' | 'whole' | 'early'

type Read = Pick<UseQueryResult, 'isLoading' | 'isPending' | 'isPaused' | 'isLoadingError'>

/**
 * Whether fields are drawn that depend on reads. They wait for them, because what came later would move them away from the pointer. Once
 * drawn they stay, with what is typed and the focus, also while what was not there is read again: `early` remains, so that what
 * depends on a read can keep its place from the beginning.
 */
export function useArrival(...reads: Read[]): Arrival {
  const [drawn, setDrawn] = useState<Arrival>('waiting')
  if (drawn !== 'waiting') return drawn
  const now = arrivalOf(reads)
  if (now !== 'waiting') setDrawn(now)
  return now
}

function arrivalOf(reads: Read[]): Arrival {
  if (reads.some(({ isPending, isPaused, isLoadingError }) => isLoadingError || (isPending && isPaused))) return 'early'
  return reads.some(({ isLoading }) => isLoading) ? 'waiting' : 'whole'
}
