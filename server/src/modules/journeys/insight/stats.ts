/** The statistics of journeys and of their steps. */
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { JourneyId } from '../../../lib/ids.ts'
import { own } from '../../../lib/own.ts'
import type { JourneyStats, StepStats } from '../schema.ts'
import { type CountRow, countsOf, countsOfJourneys } from './counts.queries.ts'

type Shown<S> = { stats: S; stats_at?: Date }

/** The statistics of these journeys, for replies. Those of a journey that no user has entered are empty. */
export async function statsOfJourneys(ctx: ProjectCtx, ids: JourneyId[]): Promise<(id: JourneyId) => Shown<JourneyStats>> {
  if (ids.length === 0) return () => ({ stats: {} })
  const rows = await countsOfJourneys(ctx, ids)
  const known = new Map(
    rows.map(({ journey_id, entered, completed, exited, at }): [JourneyId, Shown<JourneyStats>] => [
      journey_id,
      { stats: { entered, active: entered - completed - exited, completed, exited }, stats_at: at },
    ]),
  )
  return (id) => known.get(id) ?? { stats: {} }
}

/** The statistics of the steps of a journey by key. */
export async function statsOfSteps(ctx: ProjectCtx, journeyId: JourneyId): Promise<(key: string) => Shown<StepStats>> {
  const [journey] = await countsOfJourneys(ctx, [journeyId])
  if (!journey) return () => ({ stats: {} })
  const stats = stepStats(await countsOf(ctx, journeyId))
  return (key) => ({ stats: stats.get(key) ?? NO_USERS, stats_at: journey.at })
}

const NO_USERS: StepStats = { entered: 0, active: 0, left: 0, paths: {} }

type StepCounts = { entered: number; active: number; left: number; paths: Record<string, number> }

/**
 * The statistics of steps by key. `entered` is the number of arrivals. `left` is the number of departures, to another step or out of the
 * journey.
 */
export function stepStats(counts: readonly CountRow[]): Map<string, StepCounts> {
  const stats = new Map<string, StepCounts>()
  for (const { what, external_id, path, users } of counts) {
    if (external_id === null) continue
    const step = stats.get(external_id) ?? { entered: 0, active: 0, left: 0, paths: {} }
    stats.set(external_id, step)
    if (what === 'arrived') {
      step.entered += users
      step.active += users
    } else if (what === 'left') {
      step.left += users
      step.active -= users
      // An author may name a path as a member that all objects have.
      if (path !== null) step.paths = { ...step.paths, [path]: (own(step.paths, path) ?? 0) + users }
    }
  }
  return stats
}
