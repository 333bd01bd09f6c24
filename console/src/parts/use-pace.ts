import { useRef } from 'react'
import { type Mark, paceOf } from './pace.ts'

/** The number of items done per second since the page was opened; null until it is known. */
export function usePace(done: number): number | null {
  const first = useRef<Mark | null>(null)
  const now = { done, atMs: performance.now() }
  if (first.current === null && done > 0) first.current = now
  return first.current && paceOf(first.current, now)
}
