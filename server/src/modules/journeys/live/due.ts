/** Timers that are due. */
import type { Ctx, InTx } from '../../../infra/runtime/ctx.ts'
import type { ProjectId } from '../../../lib/ids.ts'
import { dueTimers, nextTimers, type TimerRow } from '../../positions/index.ts'
import { publishedGraphs } from './graphs.ts'
import * as queries from './queries.ts'

/** Each journey gets at least so many in a batch, however many others there are. */
const QUANTUM_MIN = 50

/** When the next timer is due, over all projects except those `without`, plus the time by which clocks may differ. */
export async function nextTimerAt(ctx: Ctx, without: ReadonlySet<ProjectId> = new Set()): Promise<Date | null> {
  const first = (await nextTimers(ctx, await queries.heldJourneys(ctx))).find(({ project_id }) => !without.has(project_id))
  return first?.due_at ? new Date(first.due_at.getTime() + ctx.clock.skewMs) : null
}

/** The projects with timers that are due. */
export async function projectsWithDueTimers(ctx: Ctx): Promise<ProjectId[]> {
  const now = ctx.clock.now().getTime() - ctx.clock.skewMs
  const isDue = ({ due_at }: { due_at: Date | null }) => due_at !== null && due_at.getTime() <= now
  // Which journeys are held is asked only if a timer is due, because events wait for the answer.
  if (!(await nextTimers(ctx, [])).some(isDue)) return []
  return (await nextTimers(ctx, await queries.heldJourneys(ctx))).filter(isDue).map(({ project_id }) => project_id)
}

/** The oldest timers that are due in a project. Journeys share a batch, so that a long queue of one does not delay another. */
export async function findDueTimers(ctx: InTx, upTo: () => Promise<Date>, max: number): Promise<TimerRow[]> {
  const published = await publishedGraphs(ctx)
  const journeyIds = [...(published?.journeyIds ?? [])]
  if (journeyIds.length === 0) return []
  const to = await upTo()
  const each = Math.max(QUANTUM_MIN, Math.floor(max / journeyIds.length))
  const timers = await dueTimers(ctx, { journeyIds, to, each })
  if (timers.length >= max || journeyIds.length === 1) return timers.slice(0, max)
  return timers.length < each ? timers : fill(ctx, timers, journeyIds, to, max)
}

/** Gives the places that other journeys left free to those with more timers. */
async function fill(ctx: InTx, timers: TimerRow[], ids: TimerRow['journey_id'][], to: Date, max: number): Promise<TimerRow[]> {
  const counts = Map.groupBy(timers, ({ journey_id }) => journey_id)
  const busiest = ids.filter((id) => (counts.get(id)?.length ?? 0) >= Math.max(QUANTUM_MIN, Math.floor(max / ids.length)))
  if (busiest.length === 0) return timers
  const each = Math.floor((max - timers.length) / busiest.length) + Math.max(QUANTUM_MIN, Math.floor(max / ids.length))
  const more = await dueTimers(ctx, { journeyIds: busiest, to, each })
  const others = timers.filter(({ journey_id }) => !busiest.includes(journey_id))
  return [...others, ...more].sort((a, b) => a.due_at.getTime() - b.due_at.getTime()).slice(0, max)
}
