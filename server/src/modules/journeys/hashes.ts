/** Numbers that follow from what they are for, so that nothing has to be stored or drawn. Pure. */
import { hash } from 'node:crypto'
import type { JourneyId } from '../../lib/ids.ts'

/** A safe integer: 13 hexadecimal digits have 52 bits. */
const DIGITS = 13
const END = 2 ** 52

/** The first 52 bits of SHA-256 over the parts. Written as JSON, so that no two lists of parts are one text. */
export const bits = (...parts: (string | number)[]): number => Number.parseInt(hash('sha256', JSON.stringify(parts)).slice(0, DIGITS), 16)

/** A number above 0 and below 1 that is the same for the same parts. */
export const share = (...parts: (string | number)[]): number => (bits(...parts) + 0.5) / END

type Branch = { path: string; weight: number }

/**
 * The path of an experiment for a user, by weighted rendezvous hashing: the highest of `weight / -ln(share)` wins. It stays the same over
 * re-entries and versions. A changed weight moves only the users that it has to; a weight of 0 gets none. Undefined if no path has a weight.
 */
export function armOf(journeyId: JourneyId, step: string, userId: number, branches: readonly Branch[]): string | undefined {
  let best: { path: string; score: number } | undefined
  for (const { path, weight } of branches) {
    if (weight <= 0) continue
    const score = weight / -Math.log(share('experiment', journeyId, step, userId, path))
    if (best === undefined || score > best.score) best = { path, score }
  }
  return best?.path
}
