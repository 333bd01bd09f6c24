/** Randomness that can be repeated. The gate uses one seed; an environment variable gives another. */

const GATE_SEED = 20_261_121

export const seedFrom = (variable: string): number => Number(process.env[variable] ?? GATE_SEED)

/** Whole numbers from 0 up to `end`, the same for the same seed. */
export function belowOf(seed: number): (end: number) => number {
  let state = seed >>> 0
  return (end) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * end)
  }
}
