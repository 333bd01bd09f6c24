/** Rows about the same person, one after the other. */
import type { Profile } from '../users/index.ts'

/** The ids of a profile, told apart by their kind. */
export const keysOf = ({ external_id, anonymous_id }: Profile): string[] => [
  ...(external_id === undefined ? [] : [`e${external_id}`]),
  ...(anonymous_id === undefined ? [] : [`a${anonymous_id}`]),
]

/**
 * Cuts rows into waves in which no id comes twice. Rows that share an id keep their order, so that what each of them
 * does to its person can be told.
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

/** Only the id that somebody is known by: it finds and holds the person, and changes nothing. */
export const nameOf = ({ external_id, anonymous_id }: Profile): Profile =>
  external_id === undefined ? { ...(anonymous_id !== undefined && { anonymous_id }) } : { external_id }
