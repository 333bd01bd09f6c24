/** Divides rows into waves, so that rows about the same user are saved one after the other. */
import type { Profile } from '../users/index.ts'

/** The ids of a profile as keys, with a prefix for the kind of id. */
export const keysOf = ({ external_id, anonymous_id }: Profile): string[] => [
  ...(external_id === undefined ? [] : [`e${external_id}`]),
  ...(anonymous_id === undefined ? [] : [`a${anonymous_id}`]),
]

/**
 * Divides rows into waves in which no id occurs twice. Rows that share an id keep their order, so that the effect of each row on its user
 * can be reported.
 */
export function wavesOf<T extends { profile: Profile }>(rows: T[]): T[][] {
  const waves: T[][] = []
  const reached = new Map<string, number>()
  for (const row of rows) {
    const keys = keysOf(row.profile)
    const wave = Math.max(0, ...keys.map((key) => reached.get(key) ?? 0))
    waves[wave] ??= []
    waves[wave].push(row)
    for (const key of keys) reached.set(key, wave + 1)
  }
  return waves
}
