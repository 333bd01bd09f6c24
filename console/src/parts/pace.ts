import { useRef } from 'react'

/** How much was done at an instant, in milliseconds of any clock. */
export type Mark = { done: number; atMs: number }

/** What is done in a second since the first mark. Null until something was. */
export const paceOf = (first: Mark, now: Mark): number | null =>
  now.done <= first.done || now.atMs <= first.atMs ? null : (now.done - first.done) / ((now.atMs - first.atMs) / 1000)

/** The minutes that the rest takes at a pace, at least one. */
export const minutesLeft = (left: number, pace: number): number => Math.max(1, Math.ceil(left / pace / 60))

/** What is done in a second since the page was opened. Null until one knows. */
export function usePace(done: number): number | null {
  const first = useRef<Mark | null>(null)
  const now = { done, atMs: performance.now() }
  if (first.current === null && done > 0) first.current = now
  return first.current && paceOf(first.current, now)
}
