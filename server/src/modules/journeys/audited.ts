import { audits } from '../../infra/http/audited.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { JourneyId } from '../../lib/ids.ts'
import type { Journey, Steps } from './schema.ts'
import { getJourney } from './service.ts'
import { getSteps } from './versions/drafts.ts'

/** A journey with its steps and without its counts. */
async function stateOf(ctx: ProjectCtx, id: JourneyId): Promise<object> {
  const { stats: _, stats_at: __, ...journey } = await getJourney(ctx, id)
  const steps = Object.entries(await getSteps(ctx, id)).map(([key, { stats: _, stats_at: __, ...step }]) => [key, step])
  return { ...journey, steps: Object.fromEntries(steps) }
}

/** How writes of journeys are recorded in the audit log. */
export const journeyAudit = audits('journey', { id: 'journeyId', read: stateOf })

type State = Omit<Journey, 'stats' | 'stats_at'> & { steps: Steps }

/** The version of a journey is that of its members; its steps have one of their own. */
export const versionedJourney = {
  of: ({ stats: _, stats_at: __, updated_at: ___, ...journey }: Journey) => journey,
  ofState: ({ steps: _, updated_at: __, ...journey }: State) => journey,
}

const withoutCounts = (steps: Steps) =>
  Object.entries(steps).map(([key, { type, name, x, y, data, children }]) => [key, { type, name, x, y, data, children }])

/** Of writes that reply with something else, and take effect only on the steps that the caller has read. */
export const checkedSteps = { ofState: ({ steps }: State) => withoutCounts(steps) }

export const versionedSteps = { of: withoutCounts, ...checkedSteps }
