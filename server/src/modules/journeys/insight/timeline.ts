/** What happened to a user in a journey, visit by visit. */
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { missing } from '../../../lib/errors.ts'
import type { JourneyId } from '../../../lib/ids.ts'
import { insideOf, journeyUserOf, type PastRow, pastOf, type TrailRow, type TrailVisit } from '../../positions/index.ts'
import { hiddenKeysOf, requireUser } from '../../users/index.ts'
import { withoutAttributes } from '../live/seen.ts'
import { findJourney } from '../queries.ts'
import type { Step } from '../schema.ts'
import * as kinds from '../steps/index.ts'
import type { StepKind } from '../steps/step.ts'
import { stepsOfVersions } from '../versions/queries.ts'
import type { Timeline, TimelineEntrance } from './schema.ts'

const PAST_MAX = 50

const types: Record<string, StepKind> = kinds

/** The entrances of a user, the newest first. A user who never entered has none. Throws 404. */
export async function getTimeline(ctx: ProjectCtx, id: JourneyId, name: string): Promise<Timeline> {
  if (!(await findJourney(ctx, id))) throw missing('journey')
  const user = await requireUser(ctx, name)
  const known = await journeyUserOf(ctx, id, user.id)
  const [active, past] = [await insideOf(ctx, id, user.id), await pastOf(ctx, id, user.id, PAST_MAX)]
  const versions = [...new Set([...active, ...past].map(({ version }) => version))]
  const graphs = new Map((await stepsOfVersions(ctx, id, versions)).map(({ version, steps }) => [version, steps]))
  const hidden = new Set(await hiddenKeysOf(ctx))
  const tell = (row: TrailRow | PastRow) => visitsOf(row, graphs.get(row.version) ?? [], hidden)
  return {
    entered: known?.entered ?? 0,
    completed: known?.completed ?? 0,
    exited: known?.exited ?? 0,
    active: known?.active ?? 0,
    ...(known?.held_out_at != null && { held_out_at: known.held_out_at }),
    ...(known?.arm != null && { arm: known.arm }),
    entrances: [...active.map((row) => present(row, tell(row))), ...past.map((row) => present(row, tell(row)))],
  }
}

function present(row: TrailRow | PastRow, visits: TimelineEntrance['visits']): TimelineEntrance {
  const { entrance_id, version, key, entered_at } = row
  const shared = { entrance_id, version, cause: causeOf(row), ...(key !== null && { key }), entered_at, visits }
  if ('outcome' in row) return { ...shared, ended_at: row.ended_at, outcome: row.outcome as 'completed' | 'exited', reason: row.reason }
  const { external_id: step, due_at, is_held, parked } = row
  return {
    ...shared,
    outcome: null,
    step,
    ...(due_at !== null && { due_at }),
    ...(is_held && { held: true }),
    ...(parked !== null && { parked }),
  }
}

/** A cause is `<kind>:<what>`; of an event, the name is in the event. */
function causeOf({ cause, event }: TrailRow | PastRow): TimelineEntrance['cause'] {
  const [is = '', name = ''] = cause.split(':')
  if (is === 'event') return { is, ...(event && { name: event.name }) }
  return { is, ...(name !== '' && { name }) }
}

function visitsOf(row: TrailRow | PastRow, steps: Step[], hidden: ReadonlySet<string>): TimelineEntrance['visits'] {
  const { trail, visit, external_id: step, arrived_at } = row
  const isNoted = trail.some((one) => one.visit === visit)
  const present: TrailVisit = { step, visit, arrived_at: arrived_at.toISOString(), left_at: null, path: null, reason: null, seen: {} }
  return [...trail, ...(isNoted ? [] : [present])].map((stored) => {
    const shown = { ...stored, seen: withoutAttributes(stored.seen, hidden) }
    return {
      ...shown,
      arrived_at: new Date(stored.arrived_at),
      left_at: stored.left_at === null ? null : new Date(stored.left_at),
      sentence: sentenceOf(shown, steps),
    }
  })
}

function sentenceOf(visit: TrailVisit, steps: Step[]): string {
  const step = steps.find(({ external_id }) => external_id === visit.step)
  const kind = step && types[step.type]
  return step && kind ? kind.tell(step.data, visit) : `Was at \`${visit.step}\`.`
}
