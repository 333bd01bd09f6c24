/** How much was done at an instant, in milliseconds of any clock. */
export type Mark = { done: number; atMs: number }

/** The number of items done per second since the first mark; null until one has been done. */
export const paceOf = (first: Mark, now: Mark): number | null =>
  now.done <= first.done || now.atMs <= first.atMs ? null : (now.done - first.done) / ((now.atMs - first.atMs) / 1000)

/** The minutes that the rest takes at a pace, at least one. */
export const minutesLeft = (left: number, pace: number): number => Math.max(1, Math.ceil(left / pace / 60))
