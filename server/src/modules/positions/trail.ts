/** The trail of an entrance as it is stored: arrays instead of objects, because a million users wait. Pure. */
import type { TrailVisit } from './schema.ts'

/** Step, visit, arrival and departure in milliseconds, path, reason, and values seen. What is empty at the end is left out. */
export type StoredVisit = [string, number, number, (number | null)?, (string | null)?, (string | null)?, Record<string, unknown>?]

export const storedTrail = (trail: readonly TrailVisit[]): StoredVisit[] => trail.map(storedVisit)

function storedVisit({ step, visit, arrived_at, left_at, path, reason, seen }: TrailVisit): StoredVisit {
  const start: [string, number, number] = [step, visit, Date.parse(arrived_at)]
  const leftMs = left_at === null ? null : Date.parse(left_at)
  if (Object.keys(seen).length > 0) return [...start, leftMs, path, reason, seen]
  return leftMs === null ? start : [...start, leftMs, path, reason]
}

/** The visits of a stored trail. Entrances of earlier releases have objects instead of arrays, which are returned as they are. */
export const trailOf = (stored: readonly (StoredVisit | TrailVisit)[]): TrailVisit[] =>
  stored.map((one) => {
    if (!Array.isArray(one)) return one
    const [step, visit, startMs, leftMs = null, path = null, reason = null, seen = {}] = one
    const left_at = leftMs === null ? null : new Date(leftMs).toISOString()
    return { step, visit, arrived_at: new Date(startMs).toISOString(), left_at, path, reason, seen }
  })

/** A row as it is read, with its trail. */
export const withTrail = <R extends { trail: StoredTrail }>(row: R): Omit<R, 'trail'> & { trail: TrailVisit[] } => ({
  ...row,
  trail: trailOf(row.trail),
})

export type StoredTrail = (StoredVisit | TrailVisit)[]
