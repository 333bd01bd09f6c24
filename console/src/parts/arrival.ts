import type { UseQueryResult } from '@tanstack/react-query'
import { useState } from 'react'

/** Fields wait for reads, and come whole; or early, where a read cannot begin without a network, or has failed. */
type Arrival = 'waiting' | 'whole' | 'early'

type Read = Pick<UseQueryResult, 'isLoading' | 'isPending' | 'isPaused' | 'isLoadingError'>

/**
 * Whether fields that depend on reads are drawn. They wait for the reads, because content that comes later would move the fields away from
 * the pointer. Once drawn, they stay, with their text and the focus, even while a failed read is repeated. The result stays `early` then,
 * so that content that depends on the read keeps its place.
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
