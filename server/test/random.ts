/** Repeatable random numbers. CI uses one seed; an environment variable sets another one. */

const CI_SEED = 20_261_121

export const seedFrom = (variable: string): number => Number(process.env[variable] ?? CI_SEED)

/** A generator of integers from 0 up to but not including `end`, the same for the same seed. */
export function belowOf(seed: number): (end: number) => number {
  let state = seed >>> 0
  return (end) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * end)
  }
}
