/** Counts of what happens in journeys, added up until they are stored. Pure. */
import type { JourneyId } from '../../../lib/ids.ts'

export type CountOf = 'entered' | 'completed' | 'exited' | 'arrived' | 'left' | 'held_out' | 'refused' | 'goal' | 'arm' | 'stale'

export type Count = {
  journey_id: JourneyId
  what: CountOf
  version: number | null
  step_id: number | null
  path: string | null
  reason: string | null
  arm: string | null
  /** The type of the step, for metrics. It is not stored. */
  kind?: string
}

export type Counts = Map<string, Count & { users: number }>

type Counted = Pick<Count, 'journey_id' | 'what'> & Partial<Count>

export function add(counts: Counts, counted: Counted): void {
  const count: Count = { version: null, step_id: null, path: null, reason: null, arm: null, ...counted }
  const { journey_id, what, version, step_id, path, reason, arm } = count
  const key = JSON.stringify([journey_id, what, version, step_id, path, reason, arm])
  const known = counts.get(key)
  if (known) known.users++
  else counts.set(key, { ...count, users: 1 })
}
